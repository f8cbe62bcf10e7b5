//! Benchmarks still to come. Profiles may name them already; they judge as unknown until they are here.

use seatrial_model::{MetricSpec, Planned, Unit};

/// Benchmarks still to come, with the metrics that criteria may name.
pub const PLANNED: &[Planned] = &[Planned {
    id: "mpi.startup",
    metrics: &[MetricSpec::lower_is_better("init", Unit::Second)
        .doc("Time of MPI_Init, of the rank that takes longest.")],
}];
