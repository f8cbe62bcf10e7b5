//! Benchmarks still to come. Profiles may name them already; they judge as unknown until they are here.

use seatrial_model::{Better, MetricSpec, Planned, Unit};

/// Benchmarks still to come, with the metrics that criteria may name.
pub const PLANNED: &[Planned] = &[Planned {
    id: "mpi.collective",
    metrics: &[MetricSpec {
        name: "latency",
        doc: "Time of one collective operation over all ranks.",
        unit: Unit::Microsecond,
        better: Better::Lower,
    }],
}];
