//! A finite number with its unit.

use std::fmt;
use std::str::FromStr;

use super::{Dimension, Nanos, Unit};

/// A finite number with its unit, for example `9.00 Gbit/s`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Quantity {
    value: f64,
    unit: Unit,
}

/// Why a text or number is not a quantity.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum QuantityError {
    /// The number does not parse.
    #[error("'{text}' is not a number with a unit, such as '9 Gbit/s' or '64 KiB'")]
    NotANumber {
        /// The text that could not be read.
        text: String,
    },
    /// NaN and infinity are not measurements.
    #[error("the number must be finite, not {value}")]
    NotFinite {
        /// The number that is not finite.
        value: f64,
    },
    /// The unit is unknown.
    #[error("unknown unit '{text}'{}", crate::name::did_you_mean(.nearest))]
    UnknownUnit {
        /// The unknown symbol.
        text: String,
        /// The nearest known symbol.
        nearest: Option<String>,
    },
    /// Two units of different dimensions.
    #[error("'{from}' does not convert to '{to}': one is {}, the other {}", from.dimension(), to.dimension())]
    WrongKind {
        /// The unit of the quantity.
        from: Unit,
        /// The wanted unit.
        to: Unit,
    },
    /// A duration without a unit.
    #[error("'{text}' has no unit: write '{text} ms' or '{text} s'")]
    NoUnit {
        /// The number without a unit.
        text: String,
    },
    /// A negative size, or one beyond 2^64 bytes.
    #[error("'{text}' is out of range: {why}")]
    OutOfRange {
        /// The size.
        text: String,
        /// The bound that it exceeds.
        why: String,
    },
}

impl Quantity {
    /// A quantity of `value` in `unit`; [`QuantityError::NotFinite`] for NaN and infinity.
    pub fn new(value: f64, unit: Unit) -> Result<Self, QuantityError> {
        if value.is_finite() { Ok(Self { value, unit }) } else { Err(QuantityError::NotFinite { value }) }
    }

    /// This many bytes.
    pub const fn bytes(bytes: u64) -> Self {
        Self { value: bytes as f64, unit: Unit::Byte }
    }

    /// A count.
    pub const fn count(count: u64) -> Self {
        Self { value: count as f64, unit: Unit::Count }
    }

    /// A time, in nanoseconds.
    pub const fn time(time: Nanos) -> Self {
        Self { value: time.0 as f64, unit: Unit::Nanosecond }
    }

    /// The number, in [`Self::unit`].
    pub fn value(self) -> f64 {
        self.value
    }

    /// The unit of the number.
    pub fn unit(self) -> Unit {
        self.unit
    }

    /// The number in the base unit of the dimension: bytes per second, seconds, bytes.
    pub fn base(self) -> f64 {
        self.value * self.unit.factor()
    }

    /// The same quantity in another unit; [`QuantityError::WrongKind`] when the unit has another dimension.
    pub fn to(self, unit: Unit) -> Result<Self, QuantityError> {
        if self.unit.dimension() != unit.dimension() {
            return Err(QuantityError::WrongKind { from: self.unit, to: unit });
        }
        if self.unit == unit {
            return Ok(self);
        }
        Self::new(self.value * self.unit.factor() / unit.factor(), unit)
    }
}

impl fmt::Display for Dimension {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Dimension::DataRate => "a data rate",
            Dimension::Size => "a size",
            Dimension::Time => "a time",
            Dimension::Share => "a share",
            Dimension::Count => "a count",
            Dimension::Frequency => "a frequency",
            Dimension::OperationRate => "operations per second",
            Dimension::Power => "a power",
            Dimension::Temperature => "a temperature",
            Dimension::Efficiency => "operations per second and watt",
            Dimension::Price => "a price of a data rate",
        })
    }
}

impl fmt::Display for Quantity {
    /// Prints number and unit; a precision (`{:.2}`) applies to the number.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.value, f)?;
        if self.unit == Unit::Count { Ok(()) } else { write!(f, " {}", self.unit) }
    }
}

impl FromStr for Quantity {
    type Err = QuantityError;

    /// Parses a number, optional blanks and a unit; without a unit it is a count.
    fn from_str(text: &str) -> Result<Self, QuantityError> {
        let text = text.trim();
        let end = number_length(text);
        let (number, unit) = text.split_at(end);
        let value: f64 = number.parse().map_err(|_| QuantityError::NotANumber { text: text.to_owned() })?;
        let unit = match unit.trim_start() {
            "" => Unit::Count,
            symbol => symbol.parse()?,
        };
        Self::new(value, unit)
    }
}

/// Length of the leading decimal number; `1e9` is a number, `1 e` is `1`.
fn number_length(text: &str) -> usize {
    let bytes = text.as_bytes();
    let mut end = 0;
    while end < bytes.len() {
        let next = bytes.get(end + 1);
        let exponent = matches!(bytes[end], b'e' | b'E')
            && end > 0
            && next.is_some_and(|b| b.is_ascii_digit() || matches!(b, b'-' | b'+'));
        let sign = matches!(bytes[end], b'-' | b'+') && (end == 0 || matches!(bytes[end - 1], b'e' | b'E'));
        if !(bytes[end].is_ascii_digit() || bytes[end] == b'.' || exponent || sign) {
            break;
        }
        end += 1;
    }
    end
}

crate::text_serde!(Quantity, "A number with its unit, for example '9.00 Gbit/s'.");

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn reads_a_rate_and_converts_bits_to_bytes() {
        let rate: Quantity = "9.00 Gbit/s".parse().unwrap();
        assert_eq!(rate.to(Unit::MegabytesPerSecond).unwrap().value(), 1125.0);
    }

    #[test]
    fn refuses_a_unit_of_the_wrong_kind() {
        let error = "3 ns".parse::<Quantity>().unwrap().to(Unit::GigabytesPerSecond).unwrap_err();
        assert_eq!(
            error.to_string(),
            "'ns' does not convert to 'GB/s': one is a time, the other a data rate"
        );
    }

    #[test]
    fn refuses_words_and_what_is_not_finite() {
        for text in ["NaN", "inf GB/s", "", "GB/s", "--3 ns", "1e999 GB/s"] {
            assert!(text.parse::<Quantity>().is_err(), "{text}");
        }
    }

    proptest! {
        #[test]
        fn prints_and_reads_back(value in -1e15..1e15f64, index in 0..Unit::ALL.len()) {
            let quantity = Quantity::new(value, Unit::ALL[index]).unwrap();
            prop_assert_eq!(quantity.to_string().parse::<Quantity>().unwrap(), quantity);
        }

        #[test]
        fn converting_there_and_back_keeps_the_number(value in 1e-3..1e12f64) {
            let there = Quantity::new(value, Unit::GigabitsPerSecond).unwrap().to(Unit::MebibytesPerSecond).unwrap();
            let back = there.to(Unit::GigabitsPerSecond).unwrap().value();
            prop_assert!((back / value - 1.0).abs() < 1e-12);
        }
    }
}
