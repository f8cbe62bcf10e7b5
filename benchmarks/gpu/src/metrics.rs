//! Metrics as the benchmarks of this family declare them.

use seatrial_model::{MetricSpec, Unit};

pub const fn rate(name: &'static str, doc: &'static str) -> MetricSpec {
    MetricSpec::higher_is_better(name, Unit::GigabytesPerSecond).doc(doc)
}

pub const fn latency(name: &'static str, doc: &'static str) -> MetricSpec {
    MetricSpec::lower_is_better(name, Unit::Nanosecond).doc(doc)
}
