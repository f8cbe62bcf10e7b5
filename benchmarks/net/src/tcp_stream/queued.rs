//! Bytes that the queueing discipline of the sender's interface passed between two moments: the true rate of a shaped
//! link.

use std::net::TcpStream;

use seatrial_sys::clock::now_ns;
use seatrial_sys::net::datagram::qdiscs;
use serde_json::{Value, json};

use seatrial_bench::interface_of;

/// Most readings until one is quick: counts of a slow reading belong to no exact moment.
const LOOKS: usize = 5;

/// Longest time of a quick reading, in nanoseconds.
const QUICK_NS: u64 = 300_000;

/// The counters of an interface's root queueing disciplines at one moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Queue {
    interface: String,
    kinds: Vec<String>,
    bytes: u64,
    /// The middle of the reading, and its duration.
    at_ns: u64,
    took_ns: u64,
}

impl Queue {
    pub fn of(stream: &TcpStream) -> Option<Self> {
        Self::at(&interface_of(stream)?)
    }

    pub fn again(&self) -> Option<Self> {
        Self::at(&self.interface)
    }

    fn at(interface: &str) -> Option<Self> {
        let look = || {
            let before = now_ns();
            let found = qdiscs(interface).ok()?;
            let took_ns = now_ns() - before;
            let outermost = || found.iter().filter(|queue| queue.is_root);
            outermost().next()?;
            Some(Self {
                interface: interface.to_owned(),
                kinds: outermost().map(|queue| queue.kind.clone()).collect(),
                bytes: outermost().map(|queue| queue.bytes).sum(),
                at_ns: before + took_ns / 2,
                took_ns,
            })
        };
        let mut quickest = look()?;
        for _ in 1..LOOKS {
            if quickest.took_ns <= QUICK_NS {
                break;
            }
            quickest = look().filter(|again| again.took_ns < quickest.took_ns).unwrap_or(quickest);
        }
        Some(quickest)
    }

    pub fn since(&self, earlier: &Self) -> Value {
        json!({
            "interface": self.interface, "kinds": self.kinds, "bytes": self.bytes.saturating_sub(earlier.bytes),
            "window_ns": self.at_ns.saturating_sub(earlier.at_ns), "looks_took_ns": [earlier.took_ns, self.took_ns],
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_difference_of_two_looks_is_of_the_time_between_their_middles() {
        let queue = |bytes, at_ns| Queue {
            interface: "eth0".to_owned(),
            kinds: vec!["tbf".to_owned()],
            bytes,
            at_ns,
            took_ns: 10,
        };
        let told = queue(5_000, 3_000_000).since(&queue(2_000, 1_000_000));
        assert_eq!((&told["bytes"], &told["window_ns"]), (&json!(3_000), &json!(2_000_000)));
    }

    #[test]
    fn a_queue_that_is_not_there_tells_nothing() {
        assert_eq!(Queue::at("warp0"), None);
    }
}
