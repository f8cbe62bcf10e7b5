//! Faults in words.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// A fault that a node can have. One of each kind at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Fault {
    /// The link carries at most this, in bits a second of layer 2.
    Rate(u64, Way),
    /// Of the frames, exactly the first of every so many is lost.
    Drop(u32, Way),
    /// Every frame of the link arrives so many microseconds later, each way.
    Delay(u32),
    /// The link is down, as with the cable pulled.
    Down,
    /// The node's interface takes only frames up to this many bytes; its peers do not know.
    Mtu(u32),
    /// Something keeps this CPU busy.
    CpuHog(u32),
    /// The file system on /scratch is frozen: writers sleep uninterruptibly.
    FreezeFs,
}

/// The direction of a fault of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// Both directions.
    Both,
    /// To the node.
    To,
    /// From the node.
    From,
}

impl Way {
    /// Whether the fault is of what flows to the node, and whether of what flows from there.
    pub const fn has(self) -> [bool; 2] {
        match self {
            Self::Both => [true, true],
            Self::To => [true, false],
            Self::From => [false, true],
        }
    }

    /// `name`, `name-to` or `name-from`.
    const fn of(self, [both, to, from]: [&'static str; 3]) -> &'static str {
        match self {
            Self::Both => both,
            Self::To => to,
            Self::From => from,
        }
    }
}

const RATE: [&str; 3] = ["rate", "rate-to", "rate-from"];
const DROP: [&str; 3] = ["drop", "drop-to", "drop-from"];

/// What can be written, for messages.
const FORMS: &str = "rate=200mbit, rate-to=, rate-from=, drop=1%, drop-to=, drop-from=, delay=10ms, down, mtu=1500, cpu-hog[=CPU], freeze-fs";

/// The longest delay: the frames of 1 Gbit/s that a long link can hold are those of this time.
const MOST_MICROS: u32 = 500_000;

/// Units of a rate, as tc(8) writes them: bits a second, decimal.
const UNITS: &[(&str, u64)] = &[("gbit", 1_000_000_000), ("mbit", 1_000_000), ("kbit", 1_000), ("bit", 1)];

impl Fault {
    /// Its name without the value: a node has one fault of a kind.
    pub fn kind(self) -> &'static str {
        match self {
            Fault::Rate(_, way) => way.of(RATE),
            Fault::Drop(_, way) => way.of(DROP),
            Fault::Delay(_) => "delay",
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
        let ways = [Way::Both, Way::To, Way::From];
        if let Some(way) = ways.into_iter().find(|way| way.of(RATE) == kind) {
            return rate(value_of()?).map(|bits| Fault::Rate(bits, way));
        }
        if let Some(way) = ways.into_iter().find(|way| way.of(DROP) == kind) {
            return one_in(value_of()?).map(|one_in| Fault::Drop(one_in, way));
        }
        match kind {
            // The least is what IPv4 needs (RFC 791), the most what the links of the lab have.
            "mtu" => number(value_of()?, 68, super::super::net::MTU).map(Fault::Mtu),
            "delay" => delay(value_of()?).map(Fault::Delay),
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

fn delay(text: &str) -> Result<u32, String> {
    let unit =
        [("us", 1), ("ms", 1000)].into_iter().find_map(|(unit, us)| Some((text.strip_suffix(unit)?, us)));
    let micros = unit.and_then(|(number, us)| number.parse::<u32>().ok()?.checked_mul(us));
    let in_range = micros.filter(|micros| (1..=MOST_MICROS).contains(micros));
    in_range.ok_or_else(|| format!("'{text}' is not a delay up to 500ms; write 10ms or 250us"))
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
            Fault::Rate(bits, _) => {
                // The last unit divides everything.
                let unit = UNITS.iter().find(|(_, size)| bits % size == 0);
                let (unit, size) = unit.copied().unwrap_or(("bit", 1));
                write!(f, "{}={}{unit}", self.kind(), bits / size)
            }
            Fault::Drop(one_in, _) => write!(f, "{}={}%", self.kind(), 100.0 / f64::from(*one_in)),
            Fault::Delay(micros) if micros % 1000 == 0 => write!(f, "delay={}ms", micros / 1000),
            Fault::Delay(micros) => write!(f, "delay={micros}us"),
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
            ("rate=200mbit", Fault::Rate(200_000_000, Way::Both)),
            ("rate=1500kbit", Fault::Rate(1_500_000, Way::Both)),
            ("drop=1%", Fault::Drop(100, Way::Both)),
            ("drop=0.1%", Fault::Drop(1000, Way::Both)),
            ("drop=12.5%", Fault::Drop(8, Way::Both)),
            ("rate-to=80mbit", Fault::Rate(80_000_000, Way::To)),
            ("drop-from=1%", Fault::Drop(100, Way::From)),
            ("drop=100%", Fault::Drop(1, Way::Both)),
            ("delay=10ms", Fault::Delay(10_000)),
            ("delay=250us", Fault::Delay(250)),
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
            ("delay=10", "'10' is not a delay"),
            ("delay=0ms", "not a delay"),
            ("delay=2000ms", "up to 500ms"),
            ("mtu=90000", "from 68 to 9000"),
            ("down=yes", "'down' takes no value"),
        ] {
            let error = text.parse::<Fault>().unwrap_err();
            assert!(error.contains(says), "{text}: {error}");
        }
    }
}
