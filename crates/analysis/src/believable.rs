//! Whether a result is believable, given the limit of its hardware.

use seatrial_model::Better;

/// A result beyond this share of its limit, in percent, means that the limit or the measurement is wrong.
pub const BELIEVABLE_PERCENT: f64 = 101.0;

/// Whether `value` lies beyond `limit`: below it for latencies, never where neither direction is better.
pub(crate) fn is_beyond(value: f64, limit: f64, better: Better) -> bool {
    let slack = BELIEVABLE_PERCENT / 100.0;
    match better {
        Better::Higher => value > limit * slack,
        Better::Lower => value < limit / slack,
        Better::None => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_percent_beyond_is_believed_and_no_more() {
        assert!(!is_beyond(101.0, 100.0, Better::Higher));
        assert!(is_beyond(101.01, 100.0, Better::Higher));
        assert!(!is_beyond(100.0, 101.0, Better::Lower));
        assert!(is_beyond(99.0, 101.0, Better::Lower));
        assert!(!is_beyond(500.0, 100.0, Better::None));
    }
}
