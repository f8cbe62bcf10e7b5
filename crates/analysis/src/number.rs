//! Derived numbers as verdicts and findings show them.

use seatrial_model::{Quantity, Unit};

/// `value` with four significant digits: a percentage of a limit is no more exact.
pub(crate) fn significant(value: f64) -> String {
    with_digits(value, 4)
}

/// A ratio, with three significant digits.
pub(crate) fn ratio(value: f64) -> String {
    with_digits(value, 3)
}

fn with_digits(value: f64, digits: i32) -> String {
    if value == 0.0 || !value.is_finite() {
        return format!("{value}");
    }
    // The magnitude of a finite f64 lies within -324 to 308.
    let magnitude = value.abs().log10().floor() as i32;
    let decimals = usize::try_from(digits - 1 - magnitude).unwrap_or(0);
    let text = format!("{value:.decimals$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

pub(crate) fn in_unit(value: f64, unit: Unit) -> String {
    match unit {
        Unit::Count => significant(value),
        _ => format!("{} {unit}", significant(value)),
    }
}

/// The same without rounding, for records.
pub(crate) fn quantity(value: f64, unit: Unit) -> Option<Quantity> {
    Quantity::new(value, unit).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn four_digits_are_kept_and_zeros_dropped() {
        for (value, text) in [
            (143.36, "143.4"),
            (0.001_234_56, "0.001235"),
            (9.0, "9"),
            (123_456.0, "123456"),
            (-2.5, "-2.5"),
            (0.0, "0"),
        ] {
            assert_eq!(significant(value), text);
        }
        assert_eq!([7.993, 12.345, 0.25].map(ratio), ["7.99", "12.3", "0.25"]);
        assert_eq!(in_unit(3.0, Unit::Count), "3");
        assert_eq!(in_unit(0.5, Unit::GigabytesPerSecond), "0.5 GB/s");
    }
}
