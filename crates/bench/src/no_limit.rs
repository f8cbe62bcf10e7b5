//! Metrics that nothing on the way bounds: times, and what the ends spend.

use seatrial_model::{About, Limit, Limits};

/// The limit of a metric of which no card, no switch and no protocol states anything.
pub fn no_limit() -> Limit {
    let reason = "no part of the way states it: compare with other pairs, or with the loopback";
    Limit::unknown(reason)
}

/// The limits of a benchmark none of whose metrics has one.
pub fn no_limits(about: &About) -> Limits {
    about.limits(|_| no_limit())
}
