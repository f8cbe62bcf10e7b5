//! What both ends of a case know of it from the start.

use seatrial_model::{Bytes, Case, Cause, Nanos, PartPlacement, Quantity, Reason, Unit, Value};

use super::rate_search::MOST_STEPS;
use seatrial_bench::Direction;
use seatrial_bench::{Endpoint, ends};

/// Bytes of the header of every datagram, which is the least that a message can be.
pub const HEADER: usize = 32;

/// Bytes of a datagram's payload at most: what IPv4 can carry without options.
pub const MOST_MESSAGE: usize = 65_507;

/// What a rate is when the highest loss-free one is searched for.
pub const SEARCH: &str = "search";

/// Whether the kernel is left to cut and to put together what is one call's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Offload {
    Auto,
    /// Yes, or the case cannot be measured.
    Segmented,
    /// No: a datagram is a piece of its own.
    Plain,
}

/// How a sender keeps to its rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pacing {
    /// It looks at the clock all the time.
    Spin,
    /// It sleeps until the next datagram is due.
    Sleep,
    /// It sleeps, and the queueing discipline `fq` spreads what was late.
    Kernel,
}

/// The parameters of a case, for one of its ends.
#[derive(Clone, Debug)]
pub struct UdpStreamConfig {
    /// Which end: 0 or 1.
    pub index: u32,
    /// Directions in which datagrams go.
    pub directions: &'static [Direction],
    pub flows: usize,
    /// Threads of each role.
    pub threads: usize,
    /// The CPU of each thread, those that send first; empty where they run where they may.
    pub cpus: Vec<u32>,
    /// Payload of a flow in bytes a second; none is as fast as possible.
    pub rate: Option<f64>,
    /// The time of a step, where the rate is searched for.
    pub step: Option<Nanos>,
    /// Payload of a datagram in bytes; none is what fits the path.
    pub message: Option<usize>,
    pub batch: usize,
    pub offload: Offload,
    /// The receive buffer of a flow in bytes.
    pub buffer: u64,
    pub pacing: Pacing,
    /// Whether a message that is larger than the path may be sent in fragments.
    pub fragment: bool,
    /// The first port; none leaves them to the kernel.
    pub port: Option<u16>,
    /// Time of a slice.
    pub slice: Nanos,
    pub interface: Option<String>,
    pub alone: bool,
}

impl UdpStreamConfig {
    /// Of the part of `case` at `place`.
    pub fn of(case: &Case, place: &PartPlacement) -> Result<Self, Reason> {
        let directions = Direction::of_case(case);
        let count = |name: &str| case.params.count(name).map(|count| count as usize);
        let chosen = |name: &str| case.planned.count(name).map(|count| count as usize);
        let flows = count("flows")?;
        let rate = match case.params.text("rate")? {
            "max" | SEARCH => None,
            typed => Some(rate(typed).map_err(|why| Reason::new(Cause::Protocol, why))?),
        };
        let step = match case.params.text("rate")? {
            SEARCH => Some(step_time(case.params.nanos("time")?)),
            _ => None,
        };
        Ok(Self {
            index: place.index,
            directions,
            flows,
            threads: chosen("threads")?,
            cpus: place.bindings.iter().map(|binding| binding.cpu).collect(),
            rate,
            step,
            message: case.params.bytes("message")?.map(|bytes| bytes.get() as usize),
            batch: count("batch")?,
            offload: match case.params.text("offload")? {
                "gso" => Offload::Segmented,
                "plain" => Offload::Plain,
                _ => Offload::Auto,
            },
            buffer: case.planned.bytes("buffer")?.map_or(0, Bytes::get),
            pacing: match case.planned.text("pacing")? {
                "spin" => Pacing::Spin,
                "kernel" => Pacing::Kernel,
                _ => Pacing::Sleep,
            },
            fragment: case.params.flag("fragment")?,
            port: match case.params.get("port") {
                Some(Value::Count(port)) => u16::try_from(*port).ok(),
                _ => None,
            },
            slice: slice(case.budget.measure, flows),
            interface: ends::interface_for(case, place.index),
            alone: case.nodes.len() == 1,
        })
    }

    /// Where the control connection begins or ends.
    pub fn endpoint(&self) -> Endpoint<'_> {
        Endpoint::tcp(self.interface.as_deref(), self.alone)
    }

    pub fn sends(&self) -> bool {
        self.directions.iter().any(|direction| direction.is_sender(self.index))
    }

    pub fn receives(&self) -> bool {
        self.directions.iter().any(|direction| direction.opposite().is_sender(self.index))
    }

    pub fn sending_cpu(&self, thread: usize) -> Option<u32> {
        self.cpus.get(thread).copied()
    }

    pub fn receiving_cpu(&self, thread: usize) -> Option<u32> {
        let before = if self.sends() { self.threads } else { 0 };
        self.cpus.get(before + thread).copied()
    }
}

/// Reads a rate in bytes a second.
pub fn rate(typed: &str) -> Result<f64, String> {
    let quantity: Quantity =
        typed.parse().map_err(|error| format!("rate={typed}: {error}; or max, or search"))?;
    let rate = quantity.to(Unit::BytesPerSecond).map_err(|error| format!("rate={typed}: {error}"))?.value();
    if rate > 0.0 { Ok(rate) } else { Err(format!("rate={typed} sends nothing; give more, or max")) }
}

/// Ten milliseconds, or as much more as keeps all flows of a trial within some thousand slices.
fn slice(time: Nanos, flows: usize) -> Nanos {
    const SHORTEST: Nanos = Nanos::millis(10);
    const MOST: u64 = 4000;
    Nanos(time.get() * flows as u64 / MOST).max(SHORTEST)
}

/// Time beside a step: both ends agree, and wait for what may still be under way.
pub const SETTLE: Nanos = Nanos::millis(400);

/// Time of a step, for a trial that without a search would take `time`.
pub const fn step_time(time: Nanos) -> Nanos {
    let step = Nanos(time.get() / 4);
    if step.get() < Nanos::millis(50).get() { Nanos::millis(50) } else { step }
}

/// Time of a whole search at most.
pub const fn search_time(time: Nanos) -> Nanos {
    Nanos((step_time(time).get() + SETTLE.get()) * MOST_STEPS as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_is_a_data_rate_above_nothing() {
        assert_eq!(rate("0.75 Gbit/s"), Ok(93_750_000.0));
        for typed in ["7", "3 ms", "0 Gbit/s", "-1 Mbit/s", "fast"] {
            assert!(rate(typed).is_err(), "{typed}");
        }
    }

    #[test]
    fn a_long_trial_of_many_flows_has_no_more_slices() {
        assert_eq!(slice(Nanos::secs(1), 1), Nanos::millis(10));
        assert_eq!(slice(Nanos::secs(100), 12), Nanos::millis(300));
    }
}
