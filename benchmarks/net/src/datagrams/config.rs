//! The configuration of both ends, read from the case.

use seatrial_model::{Bytes, Case, Cause, Nanos, PartPlacement, Quantity, Reason, Unit, Value, Verification};

use super::rate_search::MOST_STEPS;
use seatrial_bench::{Direction, Endpoint};

/// Bytes of the header of every datagram, and so the smallest message.
pub const HEADER: usize = 32;

/// Largest payload of a datagram in bytes: what IPv4 can carry without options.
pub const MOST_MESSAGE: usize = 65_507;

pub const SEARCH: &str = "search";

/// Whether the kernel segments (UDP_SEGMENT) and coalesces (UDP_GRO) datagrams.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Offload {
    Auto,
    /// Required: the case fails without it.
    Segmented,
    Plain,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pacing {
    /// Polls the clock.
    Spin,
    /// Sleeps until the next datagram is due.
    Sleep,
    /// Sleeps, and the queueing discipline `fq` spaces late datagrams.
    Kernel,
}

#[derive(Clone)]
pub struct UdpStreamConfig {
    /// Which end: 0 or 1.
    pub index: u32,
    pub directions: &'static [Direction],
    pub flows: usize,
    /// Threads of each role.
    pub threads: usize,
    /// The CPU of each thread, sending threads first; empty if unpinned.
    pub cpus: Vec<u32>,
    /// Payload of a flow in bytes per second; `None` is as fast as possible.
    pub rate: Option<f64>,
    /// Time of a step with rate=search.
    pub step: Option<Nanos>,
    /// Payload of a datagram in bytes; `None` is what fits the path MTU.
    pub message: Option<usize>,
    pub batch: usize,
    pub offload: Offload,
    pub buffer: u64,
    pub pacing: Pacing,
    pub fragment: bool,
    pub port: Option<u16>,
    pub slice: Nanos,
    pub endpoint: Endpoint,
    pub verification: Verification,
}

impl UdpStreamConfig {
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
            endpoint: Endpoint::of(case, place),
            verification: Verification::of(&case.params),
        })
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

pub fn rate(typed: &str) -> Result<f64, String> {
    let quantity: Quantity = typed.parse().map_err(|error| {
        format!("rate={typed}: {error}; give a data rate such as '0.75 Gbit/s', max or search")
    })?;
    let rate = quantity.to(Unit::BytesPerSecond).map_err(|error| format!("rate={typed}: {error}"))?.value();
    if rate > 0.0 { Ok(rate) } else { Err(format!("rate={typed}: the rate must be above 0")) }
}

/// Length of a slice: 10 ms, or more to keep all flows of a trial within some thousand slices.
fn slice(time: Nanos, flows: usize) -> Nanos {
    const SHORTEST: Nanos = Nanos::millis(10);
    const MOST: u64 = 4000;
    Nanos(time.get() * flows as u64 / MOST).max(SHORTEST)
}

/// Time in addition to a step: both ends agree, and wait for datagrams in flight.
pub const SETTLE: Nanos = Nanos::millis(400);

/// Time of a step, for a trial that takes `time` without a search.
pub const fn step_time(time: Nanos) -> Nanos {
    let step = Nanos(time.get() / 4);
    if step.get() < Nanos::millis(50).get() { Nanos::millis(50) } else { step }
}

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
