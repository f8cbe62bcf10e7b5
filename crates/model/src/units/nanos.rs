//! Durations, and instants of one node's monotonic clock.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use super::{Dimension, Quantity, QuantityError, Unit};

/// Whole nanoseconds: a duration, or an instant since an origin that the context defines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Nanos(pub u64);

impl Nanos {
    /// `n` milliseconds.
    pub const fn millis(n: u64) -> Self {
        Self(n * 1_000_000)
    }

    /// `n` seconds.
    pub const fn secs(n: u64) -> Self {
        Self(n * 1_000_000_000)
    }

    /// The number of nanoseconds.
    pub const fn get(self) -> u64 {
        self.0
    }

    /// Seconds as a fraction.
    pub fn as_secs(self) -> f64 {
        self.0 as f64 * 1e-9
    }

    /// The time from `earlier` to `self`; zero when `earlier` is later.
    pub const fn since(self, earlier: Nanos) -> Nanos {
        Nanos(self.0.saturating_sub(earlier.0))
    }

    /// `self` plus `span`, saturating.
    pub const fn plus(self, span: Nanos) -> Nanos {
        Nanos(self.0.saturating_add(span.0))
    }
}

impl From<Nanos> for Duration {
    fn from(nanos: Nanos) -> Self {
        Duration::from_nanos(nanos.0)
    }
}

impl From<Duration> for Nanos {
    fn from(duration: Duration) -> Self {
        Nanos(u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX))
    }
}

impl fmt::Display for Nanos {
    /// Prints the largest exact unit: `2 s`, `250 ms`, `1500 ns`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (unit, size) in
            [(Unit::Second, 1_000_000_000), (Unit::Millisecond, 1_000_000), (Unit::Microsecond, 1000)]
        {
            if self.0 != 0 && self.0.is_multiple_of(size) {
                return write!(f, "{} {unit}", self.0 / size);
            }
        }
        write!(f, "{} ns", self.0)
    }
}

impl FromStr for Nanos {
    type Err = QuantityError;

    /// Parses `200 ms` or `1.5 s`; a number without a unit is refused.
    fn from_str(text: &str) -> Result<Self, QuantityError> {
        let quantity: Quantity = text.parse()?;
        let unit = quantity.unit();
        if unit == Unit::Count {
            return Err(QuantityError::NoUnit { text: text.trim().to_owned() });
        }
        if unit.dimension() != Dimension::Time {
            return Err(QuantityError::WrongKind { from: unit, to: Unit::Second });
        }
        let nanos = (quantity.value() * unit.factor()).round();
        if !(0.0..9e18).contains(&nanos) {
            let why = "a duration is between 0 and 285 years".to_owned();
            return Err(QuantityError::OutOfRange { text: text.to_owned(), why });
        }
        Ok(Self(nanos as u64))
    }
}

crate::text_serde!(Nanos, "A duration such as '200 ms' or '2 s'.");

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_bare_number_is_no_duration() {
        let error = "5".parse::<Nanos>().unwrap_err();
        assert_eq!(error.to_string(), "'5' has no unit: write '5 ms' or '5 s'");
        assert_eq!("1.5 s".parse::<Nanos>().unwrap(), Nanos::millis(1500));
        assert_eq!("24h".parse::<Nanos>().unwrap(), Nanos::secs(86_400));
    }

    #[test]
    fn refuses_negative_and_absurd_durations() {
        assert!("-1 s".parse::<Nanos>().is_err());
        assert!("1e12 s".parse::<Nanos>().is_err());
    }

    proptest! {
        #[test]
        fn prints_and_reads_back(nanos in 0u64..1 << 50) {
            prop_assert_eq!(Nanos(nanos).to_string().parse::<Nanos>().unwrap(), Nanos(nanos));
        }
    }
}
