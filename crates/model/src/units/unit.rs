//! The table of units.

use std::fmt;
use std::str::FromStr;

use super::QuantityError;

/// Dimension of a unit; only units of one dimension convert into each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dimension {
    /// Data per time; bits and bytes convert by 8.
    DataRate,
    /// Amount of data: byte and its multiples.
    Size,
    /// Duration: second and its parts.
    Time,
    /// Part of a whole.
    Share,
    /// A number without a unit.
    Count,
    /// Cycles per time: hertz and its multiples.
    Frequency,
    /// Operations per time, such as a million a second.
    OperationRate,
    /// Energy per time: watts.
    Power,
    /// Temperature, or a difference of temperatures: degrees Celsius.
    Temperature,
    /// Operations per energy.
    Efficiency,
    /// Price of a data rate; the text beside it names the currency.
    Price,
}

macro_rules! units {
    ($($variant:ident $symbol:literal $dimension:ident $factor:literal;)*) => {
        /// A unit of measurement.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Unit { $(#[doc = $symbol] $variant,)* }

        impl Unit {
            /// Every unit, in the order of the table.
            pub const ALL: &'static [Unit] = &[$(Unit::$variant),*];

            /// Symbol of the unit, for example `GB/s`.
            pub const fn symbol(self) -> &'static str {
                match self { $(Unit::$variant => $symbol),* }
            }

            /// Dimension of the unit.
            pub const fn dimension(self) -> Dimension {
                match self { $(Unit::$variant => Dimension::$dimension),* }
            }

            /// Size of the unit in base units (B/s, B, ns, %, 1, Hz, 1/s, W, °C, 1/s/W).
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
    Hour "h" Time 3600e9;
    Percent "%" Share 1.0;
    Ratio "ratio" Share 100.0;
    Count "1" Count 1.0;
    Hertz "Hz" Frequency 1.0;
    Megahertz "MHz" Frequency 1e6;
    Gigahertz "GHz" Frequency 1e9;
    PerSecond "1/s" OperationRate 1.0;
    MegaPerSecond "M/s" OperationRate 1e6;
    TeraflopPerSecond "TFLOP/s" OperationRate 1e12;
    Watt "W" Power 1.0;
    Celsius "°C" Temperature 1.0;
    GigaflopPerSecondWatt "GFLOP/s/W" Efficiency 1e9;
    PerGigabitPerSecond "per Gbit/s" Price 1.0;
}

impl fmt::Display for Unit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.symbol())
    }
}

impl FromStr for Unit {
    type Err = QuantityError;

    /// Units are case-sensitive (`MB` is not `Mb`); the error for another spelling names the right one.
    fn from_str(text: &str) -> Result<Self, QuantityError> {
        if let Some(unit) = Unit::ALL.iter().find(|unit| unit.symbol() == text) {
            return Ok(*unit);
        }
        let meant: Vec<&str> = meant(text).into_iter().map(Unit::symbol).collect();
        let nearest = (!meant.is_empty()).then(|| meant.join("' or '"));
        Err(QuantityError::UnknownUnit { text: text.to_owned(), nearest })
    }
}

/// The units that a common spelling means. Never by resemblance: `Gbps` resembles `GB/s`, which is eight times as
/// much.
fn meant(text: &str) -> Vec<Unit> {
    let symbol = |text: &str| Unit::ALL.iter().copied().find(|unit| unit.symbol() == text);
    let other = match text.to_ascii_lowercase().as_str() {
        "sec" | "secs" | "second" | "seconds" => symbol("s"),
        "msec" | "msecs" | "millisecond" | "milliseconds" => symbol("ms"),
        "usec" | "usecs" | "µs" | "μs" | "microsecond" | "microseconds" => symbol("us"),
        "nsec" | "nsecs" | "nanosecond" | "nanoseconds" => symbol("ns"),
        "minute" | "minutes" => symbol("min"),
        "hour" | "hours" => symbol("h"),
        "percent" | "pct" => symbol("%"),
        "iops" | "ops" | "op/s" | "ops/s" => symbol("1/s"),
        "w" | "watt" | "watts" => symbol("W"),
        "c" | "degc" | "celsius" => symbol("°C"),
        "gflops/w" | "gflop/s/w" | "gflops/s/w" => symbol("GFLOP/s/W"),
        "tflop/s" | "tflops" | "tflops/s" | "tops" => symbol("TFLOP/s"),
        _ => None,
    };
    if other.is_some() {
        return other.into_iter().collect();
    }
    // A letter alone, as other tools take it, may mean powers of 1000 or of 1024.
    let both: &[&str] = match text {
        "k" | "K" => &["kB", "KiB"],
        "M" => &["MB", "MiB"],
        "m" => &["ms", "min"],
        "g" | "G" => &["GB", "GiB"],
        "t" | "T" => &["TB", "TiB"],
        _ => &[],
    };
    if !both.is_empty() {
        return both.iter().filter_map(|text| symbol(text)).collect();
    }
    match bits_or_bytes(text) {
        Some((prefix, ends)) => ends.iter().filter_map(|end| symbol(&format!("{prefix}{end}"))).collect(),
        None => Unit::ALL.iter().copied().filter(|unit| unit.symbol().eq_ignore_ascii_case(text)).collect(),
    }
}

/// Prefix of a spelling of a data rate or size, and the units that may follow in our spelling: `Gbps` is `G` and
/// `bit/s`.
fn bits_or_bytes(text: &str) -> Option<(String, &'static [&'static str])> {
    let per_second = ["/sec", "/s", "ps"].into_iter().find_map(|end| text.strip_suffix(end));
    let amount = per_second.unwrap_or(text);
    let first = amount.chars().next()?;
    let (mut prefix, mut rest) = match first.to_ascii_uppercase() {
        'K' => ("k".to_owned(), &amount[1..]),
        letter @ ('M' | 'G' | 'T') => (letter.to_string(), &amount[1..]),
        _ => (String::new(), amount),
    };
    if let Some(after) = rest.strip_prefix(['i', 'I']).filter(|_| !prefix.is_empty()) {
        (prefix, rest) = (format!("{}i", prefix.to_uppercase()), after);
    }
    let is_small = text.chars().all(|letter| !letter.is_ascii_uppercase());
    let ends: &[&str] = match (rest, per_second.is_some()) {
        // `bps` means bits; `gb/s` may be bits or bytes.
        ("b", true) if is_small && !text.ends_with("ps") => &["bit/s", "B/s"],
        ("b", true) => &["bit/s"],
        ("B", true) => &["B/s"],
        ("B", false) => &["B"],
        // There is no unit for amounts in bits, and `Mb` does not mean bytes.
        ("b", false) => {
            if is_small {
                &["B"]
            } else {
                &[]
            }
        }
        (word, is_rate) => match (word.to_ascii_lowercase().trim_end_matches('s'), is_rate) {
            ("bit", true) => &["bit/s"],
            ("byte", true) => &["B/s"],
            ("byte", false) => &["B"],
            _ => return None,
        },
    };
    Some((prefix, ends))
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
    fn a_letter_alone_is_told_both_units_that_it_may_mean() {
        let said = |text: &str| text.parse::<Unit>().unwrap_err().to_string();
        assert_eq!(said("G"), "unknown unit 'G'; did you mean 'GB' or 'GiB'?");
        assert_eq!(said("k"), "unknown unit 'k'; did you mean 'kB' or 'KiB'?");
        assert_eq!(said("m"), "unknown unit 'm'; did you mean 'ms' or 'min'?");
        assert_eq!(said("hours"), "unknown unit 'hours'; did you mean 'h'?");
    }

    /// A suggestion of another dimension, or off by a factor of eight, is wrong.
    #[test]
    fn a_known_spelling_names_the_unit_that_it_means() {
        let told = |text: &str| match text.parse::<Unit>() {
            Err(QuantityError::UnknownUnit { nearest, .. }) => nearest.unwrap_or_default(),
            other => panic!("{text}: {other:?}"),
        };
        for (typed, wanted) in [
            ("Gbps", "Gbit/s"),
            ("gbps", "Gbit/s"),
            ("Gb/s", "Gbit/s"),
            ("Gbits/s", "Gbit/s"),
            ("Gbit/sec", "Gbit/s"),
            ("GBit/s", "Gbit/s"),
            ("Mbps", "Mbit/s"),
            ("kbps", "kbit/s"),
            ("Kbps", "kbit/s"),
            ("bps", "bit/s"),
            ("GBps", "GB/s"),
            ("MBps", "MB/s"),
            ("GiBps", "GiB/s"),
            ("GByte/s", "GB/s"),
            ("gb/s", "Gbit/s' or 'GB/s"),
            ("KB", "kB"),
            ("kib", "KiB"),
            ("mb", "MB"),
            ("mhz", "MHz"),
            ("usec", "us"),
            ("µs", "us"),
            ("seconds", "s"),
            ("IOPS", "1/s"),
            // Without a near unit, no suggestion is better than a wrong one.
            ("Mb", ""),
            ("Gibps", ""),
            ("parsecs", ""),
            ("GBt/s", ""),
            ("é", ""),
        ] {
            assert_eq!(told(typed), wanted, "{typed}");
        }
    }

    #[test]
    fn eight_bits_are_a_byte() {
        assert_eq!(Unit::GigabitsPerSecond.factor() * 8.0, Unit::GigabytesPerSecond.factor());
    }
}
