//! Faults in words.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// A fault that a node can have. One of each kind at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Fault {
    /// The link carries at most this in each direction, in bits a second of layer 2.
    Rate(u64),
    /// Of the frames in each direction, exactly the first of every so many is lost.
    Drop(u32),
    /// The link is down, as with the cable pulled.
    Down,
    /// The node's interface takes only frames up to this many bytes; its peers do not know.
    Mtu(u32),
    /// Something keeps this CPU busy.
    CpuHog(u32),
    /// The file system on /scratch is frozen: writers sleep uninterruptibly.
    FreezeFs,
}

/// What can be written, for messages.
const FORMS: &str = "rate=200mbit, drop=1%, down, mtu=1500, cpu-hog[=CPU], freeze-fs";

/// Units of a rate, as tc(8) writes them: bits a second, decimal.
const UNITS: &[(&str, u64)] = &[("gbit", 1_000_000_000), ("mbit", 1_000_000), ("kbit", 1_000), ("bit", 1)];

impl Fault {
    /// Its name without the value: a node has one fault of a kind.
    pub fn kind(self) -> &'static str {
        match self {
            Fault::Rate(_) => "rate",
            Fault::Drop(_) => "drop",
            Fault::Down => "down",
            Fault::Mtu(_) => "mtu",
            Fault::CpuHog(_) => "cpu-hog",
            Fault::FreezeFs => "freeze-fs",
        }
    }
}

impl FromStr for Fault {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (kind, value) = text.split_once('=').map_or((text, None), |(kind, value)| (kind, Some(value)));
        let value_of = || value.ok_or_else(|| format!("'{kind}' needs a value, as in: {FORMS}"));
        match kind {
            "rate" => rate(value_of()?).map(Fault::Rate),
            "drop" => one_in(value_of()?).map(Fault::Drop),
            // The least is what IPv4 needs (RFC 791), the most what the links of the lab have.
            "mtu" => number(value_of()?, 68, super::super::net::MTU).map(Fault::Mtu),
            "cpu-hog" => number(value.unwrap_or("0"), 0, u32::MAX).map(Fault::CpuHog),
            "down" | "freeze-fs" if value.is_some() => Err(format!("'{kind}' takes no value")),
            "down" => Ok(Fault::Down),
            "freeze-fs" => Ok(Fault::FreezeFs),
            _ => Err(format!("there is no fault '{kind}'; there is: {FORMS}")),
        }
    }
}

fn number(text: &str, least: u32, most: u32) -> Result<u32, String> {
    let number = text.parse().ok().filter(|number| (least..=most).contains(number));
    number.ok_or_else(|| format!("'{text}' is not a whole number from {least} to {most}"))
}

fn rate(text: &str) -> Result<u64, String> {
    let unit = UNITS.iter().find_map(|(unit, bits)| Some((text.strip_suffix(unit)?, bits)));
    let rate = unit.and_then(|(number, bits)| number.parse::<u64>().ok()?.checked_mul(*bits));
    rate.filter(|rate| *rate > 0).ok_or_else(|| format!("'{text}' is no rate; write 200mbit, 1gbit, 500kbit"))
}

/// Percent to one in so many. Only what is a whole number there can be dropped exactly.
fn one_in(text: &str) -> Result<u32, String> {
    let wrong = || {
        format!("'{text}' is not one in a whole number; write 50%, 20%, 10%, 5%, 2%, 1%, 0.5%, 0.1% or 0.01%")
    };
    let digits = text.strip_suffix('%').ok_or_else(wrong)?;
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    // In ten-thousandths of a percent, so that nothing is rounded.
    let padded = format!("{whole}{fraction:0<4}");
    let is_plain =
        !whole.is_empty() && fraction.len() <= 4 && padded.bytes().all(|byte| byte.is_ascii_digit());
    let parts: u32 = if is_plain { padded.parse().map_err(|_| wrong())? } else { return Err(wrong()) };
    let all = 100 * 10_000;
    if parts > 0 && parts <= all && all % parts == 0 { Ok(all / parts) } else { Err(wrong()) }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Fault::Rate(bits) => {
                // The last unit divides everything.
                let unit = UNITS.iter().find(|(_, size)| bits % size == 0);
                let (unit, size) = unit.copied().unwrap_or(("bit", 1));
                write!(f, "rate={}{unit}", bits / size)
            }
            Fault::Drop(one_in) => write!(f, "drop={}%", 100.0 / f64::from(*one_in)),
            Fault::Mtu(bytes) => write!(f, "mtu={bytes}"),
            Fault::CpuHog(cpu) => write!(f, "cpu-hog={cpu}"),
            Fault::Down | Fault::FreezeFs => f.write_str(self.kind()),
        }
    }
}

impl TryFrom<String> for Fault {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl From<Fault> for String {
    fn from(fault: Fault) -> Self {
        fault.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_is_read_and_written_the_same() {
        let forms = [
            ("rate=200mbit", Fault::Rate(200_000_000)),
            ("rate=1500kbit", Fault::Rate(1_500_000)),
            ("drop=1%", Fault::Drop(100)),
            ("drop=0.1%", Fault::Drop(1000)),
            ("drop=12.5%", Fault::Drop(8)),
            ("drop=100%", Fault::Drop(1)),
            ("down", Fault::Down),
            ("mtu=1500", Fault::Mtu(1500)),
            ("cpu-hog=1", Fault::CpuHog(1)),
            ("freeze-fs", Fault::FreezeFs),
        ];
        for (text, fault) in forms {
            assert_eq!(text.parse(), Ok(fault));
            assert_eq!(fault.to_string(), text);
            assert_eq!(fault.kind(), text.split('=').next().unwrap());
        }
        assert_eq!("cpu-hog".parse(), Ok(Fault::CpuHog(0)));
    }

    #[test]
    fn what_is_no_fault_is_refused_with_what_is_meant() {
        for (text, says) in [
            ("frobnicate", "there is: rate=200mbit"),
            ("rate", "'rate' needs a value"),
            ("rate=fast", "'fast' is no rate"),
            ("rate=0mbit", "no rate"),
            ("drop=3%", "'3%' is not one in a whole number"),
            ("drop=0%", "not one in"),
            ("drop=1", "not one in"),
            ("drop=0.00001%", "not one in"),
            ("drop=-1%", "not one in"),
            ("mtu=90000", "from 68 to 9000"),
            ("down=yes", "'down' takes no value"),
        ] {
            let error = text.parse::<Fault>().unwrap_err();
            assert!(error.contains(says), "{text}: {error}");
        }
    }
}
