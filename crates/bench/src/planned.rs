//! Benchmarks still to come. Profiles may name them already; they judge as unknown until they are here.

use seatrial_model::{Better, MetricSpec, Planned, Unit};

const fn rate(name: &'static str, unit: Unit, doc: &'static str) -> MetricSpec {
    MetricSpec { name, doc, unit, better: Better::Higher }
}

/// Benchmarks still to come, with the metrics that criteria may name.
pub const PLANNED: &[Planned] = &[Planned {
    id: "rdma.write_bw",
    metrics: &[rate("throughput", Unit::GigabitsPerSecond, "Bytes written to remote memory over time.")],
}];
