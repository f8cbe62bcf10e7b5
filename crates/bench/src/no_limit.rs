//! Metrics without a limit: times and CPU cost.

use seatrial_model::{About, Limit, Limits};

/// The limit of a metric that no hardware or protocol bounds.
pub fn no_limit() -> Limit {
    let reason = "no hardware on the path reports a limit; compare with other pairs or with the loopback";
    Limit::unknown(reason)
}

/// The limits of a benchmark without any bounded metric.
pub fn no_limits(about: &About) -> Limits {
    about.limits(|_| no_limit())
}
