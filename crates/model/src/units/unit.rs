//! The units a metric, limit or criterion may have, in one table.

use std::fmt;
use std::str::FromStr;

use super::QuantityError;

/// What a unit measures; only units of one dimension convert into each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dimension {
    /// Data per time; bits and bytes convert by 8.
    DataRate,
    /// Amount of data.
    Size,
    /// Duration.
    Time,
    /// Part of a whole.
    Share,
    /// Pure number.
    Count,
    /// Cycles per time.
    Frequency,
    /// Operations per time.
    OperationRate,
    /// Money for a data rate; which money, the text beside it says.
    Price,
}

macro_rules! units {
    ($($variant:ident $symbol:literal $dimension:ident $factor:literal;)*) => {
        /// A unit of measurement, written the way the field writes it.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Unit { $(#[doc = $symbol] $variant,)* }

        impl Unit {
            /// Every unit, in the order of the table.
            pub const ALL: &'static [Unit] = &[$(Unit::$variant),*];

            /// The symbol printed behind a number, for example `GB/s`.
            pub const fn symbol(self) -> &'static str {
                match self { $(Unit::$variant => $symbol),* }
            }

            /// What the unit measures.
            pub const fn dimension(self) -> Dimension {
                match self { $(Unit::$variant => Dimension::$dimension),* }
            }

            /// How many base units (B/s, B, ns, %, 1, Hz, 1/s) one of this unit is.
            pub const fn factor(self) -> f64 {
                match self { $(Unit::$variant => $factor),* }
            }
        }
    };
}

units! {
    BytesPerSecond "B/s" DataRate 1.0;
    KilobytesPerSecond "kB/s" DataRate 1e3;
    MegabytesPerSecond "MB/s" DataRate 1e6;
    GigabytesPerSecond "GB/s" DataRate 1e9;
    TerabytesPerSecond "TB/s" DataRate 1e12;
    KibibytesPerSecond "KiB/s" DataRate 1024.0;
    MebibytesPerSecond "MiB/s" DataRate 1048576.0;
    GibibytesPerSecond "GiB/s" DataRate 1073741824.0;
    BitsPerSecond "bit/s" DataRate 0.125;
    KilobitsPerSecond "kbit/s" DataRate 125.0;
    MegabitsPerSecond "Mbit/s" DataRate 125e3;
    GigabitsPerSecond "Gbit/s" DataRate 125e6;
    TerabitsPerSecond "Tbit/s" DataRate 125e9;
    Byte "B" Size 1.0;
    Kilobyte "kB" Size 1e3;
    Megabyte "MB" Size 1e6;
    Gigabyte "GB" Size 1e9;
    Terabyte "TB" Size 1e12;
    Kibibyte "KiB" Size 1024.0;
    Mebibyte "MiB" Size 1048576.0;
    Gibibyte "GiB" Size 1073741824.0;
    Petabyte "PB" Size 1e15;
    Tebibyte "TiB" Size 1099511627776.0;
    Pebibyte "PiB" Size 1125899906842624.0;
    Nanosecond "ns" Time 1.0;
    Microsecond "us" Time 1e3;
    Millisecond "ms" Time 1e6;
    Second "s" Time 1e9;
    Minute "min" Time 60e9;
    Percent "%" Share 1.0;
    Ratio "ratio" Share 100.0;
    Count "1" Count 1.0;
    Hertz "Hz" Frequency 1.0;
    Megahertz "MHz" Frequency 1e6;
    Gigahertz "GHz" Frequency 1e9;
    PerSecond "1/s" OperationRate 1.0;
    MegaPerSecond "M/s" OperationRate 1e6;
    PerGigabitPerSecond "per Gbit/s" Price 1.0;
}

impl fmt::Display for Unit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.symbol())
    }
}

impl FromStr for Unit {
    type Err = QuantityError;

    /// Units are case-sensitive (`MB` is not `Mb`), but the error for another case names the right one.
    fn from_str(text: &str) -> Result<Self, QuantityError> {
        if let Some(unit) = Unit::ALL.iter().find(|unit| unit.symbol() == text) {
            return Ok(*unit);
        }
        let same_letters = Unit::ALL.iter().find(|unit| unit.symbol().eq_ignore_ascii_case(text));
        let nearest = same_letters
            .map(|unit| unit.symbol())
            .or_else(|| crate::name::nearest(text, Unit::ALL.iter().map(|unit| unit.symbol())));
        Err(QuantityError::UnknownUnit { text: text.to_owned(), nearest: nearest.map(str::to_owned) })
    }
}

crate::text_serde!(Unit, "A unit symbol such as GB/s, Gbit/s, ns or %.");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_symbol_is_unique_and_parses_back() {
        for unit in Unit::ALL {
            assert_eq!(unit.symbol().parse::<Unit>().unwrap(), *unit);
        }
    }

    #[test]
    fn a_wrong_case_names_the_right_unit() {
        let error = "gbit/s".parse::<Unit>().unwrap_err();
        assert_eq!(error.to_string(), "unknown unit 'gbit/s'; did you mean 'Gbit/s'?");
    }

    #[test]
    fn eight_bits_are_a_byte() {
        assert_eq!(Unit::GigabitsPerSecond.factor() * 8.0, Unit::GigabytesPerSecond.factor());
    }
}
