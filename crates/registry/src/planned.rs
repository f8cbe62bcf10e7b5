//! Benchmarks still to come. Profiles may name them already; they judge as unknown until they are here.

use seatrial_model::{MetricSpec, Planned, Unit};

/// Benchmarks still to come, with the metrics that criteria may name.
pub const PLANNED: &[Planned] = &[Planned {
    id: "cpu.noise",
    metrics: &[MetricSpec::lower_is_better("lost", Unit::Percent).doc(
        "Share of the time that the system takes from a program that computes, of the core that loses most.",
    )],
}];
