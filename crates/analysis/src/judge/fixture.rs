//! Records made by hand, for tests.

use seatrial_model::record::{CaseRecord, MetricRecord, Summary};
use seatrial_model::{
    About, Better, Bound, Budget, Case, Limit, LimitRecord, Params, Quantity, Subject, Unit, Value,
};

const ABOUT: About = About { id: "mem.bandwidth", ..About::WORKER };

/// A measured case of test `memory` without any metric.
pub(crate) fn case(node: &str, subject: &str) -> CaseRecord {
    let subject: Subject = subject.parse().unwrap_or_else(|_| Subject::node());
    let case = Case::new(&ABOUT, node, subject, &Params::default(), Budget::NOTHING);
    CaseRecord::measured(&case.in_group(&ABOUT, "memory"))
}

/// Ten values in three trials around `median`, with their interval.
pub(crate) fn summary(median: f64, ci95: Option<(f64, f64)>) -> Summary {
    let (low, high) = ci95.unwrap_or((median, median));
    Summary {
        n: 10,
        trials: 3,
        median,
        mad: 0.5,
        min: low - 1.0,
        max: high + 1.0,
        mean: median,
        p99: None,
        ci95,
    }
}

pub(crate) fn metric(median: f64, ci95: (f64, f64), limit: LimitRecord) -> MetricRecord {
    let summary = summary(median, Some(ci95));
    let record = MetricRecord::new(Unit::GigabytesPerSecond, Better::Higher, &summary, limit);
    MetricRecord { converged: true, ..record }
}

pub(crate) fn limit(value: f64) -> LimitRecord {
    let bound = Bound {
        value: Quantity::new(value, Unit::GigabytesPerSecond).unwrap(),
        formula: "8 channels x 25.6 GB/s".to_owned(),
        provenance: "dmi".to_owned(),
        nominal: None,
    };
    Limit::Chain(vec![bound]).record(Better::Higher, Unit::GigabytesPerSecond).unwrap()
}

pub(crate) fn no_limit() -> LimitRecord {
    LimitRecord::unknown("the DIMMs are not readable: permission denied; run as root")
}

/// A case of test `memory` on `node` that measured `bandwidth` 90 +- 1 GB/s of 100.
pub(crate) fn measured(node: &str) -> CaseRecord {
    let mut case = case(node, "node");
    case.metrics.insert("bandwidth".to_owned(), metric(90.0, (89.0, 91.0), limit(100.0)));
    case
}

pub(crate) fn params(pairs: &[(&str, &str)]) -> Params {
    pairs.iter().map(|(name, value)| ((*name).to_owned(), Value::from(*value))).collect()
}
