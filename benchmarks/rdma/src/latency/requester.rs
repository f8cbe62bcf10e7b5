//! The requesting end, which takes the times.

use seatrial_model::{Bytes, Nanos, Params, Reason, Sample};
use seatrial_sys::tsc::FastClock;
use serde_json::{Value, json};

use super::ping_pong_qp::PingPongQp;
use seatrial_bench::Sliced;
use seatrial_bench::verbs::RemoteCompletion;
use seatrial_bench::verbs::pattern::POISON;
use seatrial_bench::{Sink, Stop};

/// Channels of the samples: round trips of a slice, and their median.
pub const CHANNELS: [&str; 2] = ["round_trips", "median"];

pub struct Requester {
    pub(super) qp: PingPongQp,
    remote_completion: RemoteCompletion,
    sizes: Vec<u64>,
    latencies: Sliced,
    clock: FastClock,
    number: u32,
    asked: u64,
    lost: u64,
}

struct OfSize<'a> {
    size: u64,
    out: &'a mut dyn Sink,
}

impl Sink for OfSize<'_> {
    fn sample(&mut self, sample: Sample) {
        let mut at = Params::default();
        at.set("size", Bytes(self.size));
        self.out.sample(Sample { at, ..sample });
    }

    fn evidence(&mut self, name: &str, value: Value) {
        self.out.evidence(name, value);
    }
}

impl Requester {
    pub fn new(qp: PingPongQp, remote_completion: RemoteCompletion, sizes: &[u64]) -> Self {
        let (latencies, clock) = (Sliced::new(CHANNELS), FastClock::new());
        Self { qp, remote_completion, sizes: sizes.to_vec(), latencies, clock, number: 0, asked: 0, lost: 0 }
    }

    /// Sends requests until `stop`, each size for an equal part of the time; returns the histograms of all sizes.
    pub fn run(&mut self, stop: &Stop, out: &mut dyn Sink) -> Result<Vec<Value>, Reason> {
        let count = self.sizes.len() as u32;
        self.clock = FastClock::new();
        let (begin, each) = (self.clock.end_ns(), stop.left() / count);
        let mut told = Vec::new();
        for (index, size) in (1_u32..).zip(self.sizes.clone()) {
            let until = begin + (each * index).as_nanos() as u64;
            let is_over = |now: u64| stop.is_over() || (index < count && now > until);
            let mut is_announced = self.announce(size)?;
            while !is_announced && !is_over(self.clock.end_ns()) {
                is_announced = self.announce(size)?;
            }
            let mut sink = OfSize { size, out };
            self.latencies.begin(Nanos(self.clock.end_ns()));
            while is_announced && !stop.is_over() {
                let now = self.once(size)?.map(|(start, end)| {
                    self.latencies.add(Nanos(end - start), Nanos(end), &mut sink);
                    end
                });
                if index < count && now.unwrap_or_else(|| self.clock.end_ns()) > until {
                    break;
                }
            }
            self.latencies.end(Nanos(self.clock.end_ns()), &mut sink);
            told.push(json!({ "size": size, "round_trips": self.latencies.all().to_evidence() }));
        }
        Ok(told)
    }

    /// Announces the size of the following messages to a far end that polls memory; false if it may not know it, and would
    /// answer with messages of another size.
    pub fn announce(&mut self, size: u64) -> Result<bool, Reason> {
        let word = announcement(self.number, size);
        self.qp.announce(word)?;
        if self.remote_completion != RemoteCompletion::Polled || !self.qp.is_unreliable() {
            return Ok(true);
        }
        // A message whose time does not count: before its answer the far end sends the announcement back.
        Ok(self.once(size)?.is_some() && self.qp.announced() == word)
    }

    /// Start and end of one message; `None` if it was lost.
    #[inline]
    pub fn once(&mut self, size: u64) -> Result<Option<(u64, u64)>, Reason> {
        self.number = self.number.wrapping_add(1);
        self.asked += 1;
        let start = match self.remote_completion {
            RemoteCompletion::Polled => {
                let mark = mark(self.number);
                self.qp.mark(mark);
                let start = self.clock.start_ns();
                self.qp.post_send(size, 0)?;
                if !self.qp.await_mark(mark)? {
                    return Ok(self.missed());
                }
                start
            }
            RemoteCompletion::None => {
                let start = self.clock.start_ns();
                self.qp.post_send(size, 0)?;
                self.qp.done()?;
                start
            }
            RemoteCompletion::Cqe => {
                let start = self.clock.start_ns();
                self.qp.post_send(size, self.number)?;
                loop {
                    match self.qp.wait_recv()? {
                        None => return Ok(self.missed()),
                        Some(received) if received.number.is_some_and(|number| number != self.number) => {}
                        Some(_) => break,
                    }
                }
                start
            }
        };
        Ok(Some((start, self.clock.end_ns())))
    }

    fn missed(&mut self) -> Option<(u64, u64)> {
        self.lost += 1;
        None
    }

    pub fn counts(&self) -> (u64, u64) {
        (self.asked, self.lost)
    }

    /// One more message of the largest size; false if it was lost.
    pub fn last(&mut self) -> Result<bool, Reason> {
        let largest = self.sizes.last().copied().unwrap_or(1);
        let mut is_announced = false;
        // Over an unreliable transport a message may be lost, and another is sent.
        for _ in 0..8 {
            is_announced = is_announced || self.announce(largest)?;
            if is_announced && self.once(largest)?.is_some() {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

/// A size, in the lower 32 bits, and a number that no other announcement has, in the upper ones.
fn announcement(number: u32, size: u64) -> u64 {
    u64::from(number) << 32 | size
}

pub fn announced_size(word: u64) -> u64 {
    word & u64::from(u32::MAX)
}

/// The mark of a message: never that of the message before, and never the initial value of the memory.
pub fn mark(number: u32) -> u8 {
    match (number % 254) as u8 + 1 {
        POISON => 255,
        mark => mark,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_differ_from_one_message_to_the_next_and_from_nothing() {
        let marks: Vec<u8> = (0..2000).map(mark).collect();
        assert!(marks.windows(2).all(|two| two[0] != two[1]));
        assert!(marks.iter().all(|mark| *mark != POISON && *mark != 0));
    }
}
