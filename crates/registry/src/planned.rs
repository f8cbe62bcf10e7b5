//! Benchmarks still to come. Profiles may name them already; they judge as unknown until they are here.

use seatrial_model::{MetricSpec, Planned, Unit};

/// Benchmarks still to come, with the metrics that criteria may name.
pub const PLANNED: &[Planned] = &[Planned {
    id: "mpi.one_sided",
    metrics: &[MetricSpec::lower_is_better("latency", Unit::Microsecond)
        .doc("Time of one put, get or atomic operation in the memory of another rank.")],
}];
