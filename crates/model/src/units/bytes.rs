//! Sizes in whole bytes.

use std::fmt;
use std::str::FromStr;

use super::{Dimension, Quantity, QuantityError, Unit};

/// A size in whole bytes. `64 KiB` and `65536 B` are equal and both print as `64 KiB`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Bytes(pub u64);

impl Bytes {
    /// `n` times 1024 bytes.
    pub const fn kib(n: u64) -> Self {
        Self(n << 10)
    }

    /// `n` times 1024^2 bytes.
    pub const fn mib(n: u64) -> Self {
        Self(n << 20)
    }

    /// `n` times 1024^3 bytes.
    pub const fn gib(n: u64) -> Self {
        Self(n << 30)
    }

    /// The number of bytes.
    pub const fn get(self) -> u64 {
        self.0
    }

    /// Rounded for people: three significant digits with a binary prefix.
    pub fn rounded(self) -> String {
        let binary = [Unit::Tebibyte, Unit::Gibibyte, Unit::Mebibyte, Unit::Kibibyte];
        let bytes = self.0 as f64;
        match binary.into_iter().find(|unit| bytes >= unit.factor()) {
            Some(unit) => {
                let value = bytes / unit.factor();
                let digits = if value < 10.0 { 2 } else { usize::from(value < 100.0) };
                let text = format!("{value:.digits$}");
                let text =
                    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
                format!("{text} {unit}")
            }
            None => self.to_string(),
        }
    }
}

impl fmt::Display for Bytes {
    /// Prints the largest exact prefix; binary wins where both are exact.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const EXACT: [Unit; 9] = [
            Unit::Pebibyte,
            Unit::Tebibyte,
            Unit::Gibibyte,
            Unit::Mebibyte,
            Unit::Kibibyte,
            Unit::Terabyte,
            Unit::Gigabyte,
            Unit::Megabyte,
            Unit::Kilobyte,
        ];
        let exact = EXACT.into_iter().find(|unit| self.0 != 0 && self.0.is_multiple_of(unit.factor() as u64));
        match exact {
            Some(unit) => write!(f, "{} {unit}", self.0 / unit.factor() as u64),
            None => write!(f, "{} B", self.0),
        }
    }
}

impl FromStr for Bytes {
    type Err = QuantityError;

    /// Parses `64KiB`, `1.5 GB` or a plain number of bytes; fractions of a byte are refused.
    fn from_str(text: &str) -> Result<Self, QuantityError> {
        let quantity: Quantity = text.parse()?;
        let unit = quantity.unit();
        if unit != Unit::Count && unit.dimension() != Dimension::Size {
            return Err(QuantityError::WrongKind { from: unit, to: Unit::Byte });
        }
        let bytes = quantity.value() * unit.factor();
        let out_of_range =
            |why: &str| QuantityError::OutOfRange { text: text.to_owned(), why: why.to_owned() };
        if bytes < 0.0 {
            return Err(out_of_range("a size cannot be negative"));
        }
        if bytes.fract() != 0.0 {
            return Err(out_of_range("a size is a whole number of bytes"));
        }
        // 2^64 as f64 is exact, and every f64 below it fits.
        if bytes >= 18_446_744_073_709_551_616.0 {
            return Err(out_of_range("more than 2^64 bytes"));
        }
        Ok(Self(bytes as u64))
    }
}

crate::text_serde!(Bytes, "A size such as '64 KiB' or '1 GB'.");

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn prints_the_prefix_that_is_exact() {
        for (bytes, text) in [
            (0, "0 B"),
            (65536, "64 KiB"),
            (64000, "64 kB"),
            (1 << 30, "1 GiB"),
            (1500, "1500 B"),
            (9000, "9 kB"),
        ] {
            assert_eq!(Bytes(bytes).to_string(), text);
        }
    }

    #[test]
    fn rounds_for_people() {
        assert_eq!(Bytes(1_610_612_736).rounded(), "1.5 GiB");
        assert_eq!(Bytes(100 << 20).rounded(), "100 MiB");
        assert_eq!(Bytes(12).rounded(), "12 B");
    }

    #[test]
    fn refuses_what_is_no_size() {
        for text in ["-1 B", "0.5 B", "1e30 B", "3 GB/s", "nine", "1 PiB of memory", "-1 PiB"] {
            assert!(text.parse::<Bytes>().is_err(), "{text}");
        }
    }

    proptest! {
        #[test]
        fn prints_and_reads_back(bytes in 0u64..1 << 52) {
            prop_assert_eq!(Bytes(bytes).to_string().parse::<Bytes>().unwrap(), Bytes(bytes));
        }
    }
}
