//! The end that holds the clock and says what comes next.

use seatrial_model::{Bytes, Cause, Nanos, Quantity, Reason, Sample};
use seatrial_sys::clock::now_ns;

use super::command::{Command, Verb};
use super::{Buffers, Mode, PingPongTransport};
use crate::{Sink, Stop};

/// The channel of the samples: messages of the size in `at`, over the time of all of them.
pub const CHANNEL: &str = "messages";

/// A slice lasts about this long, or one message where that takes longer: long against the clock, short enough to come
/// back to every size many times in a trial.
const SLICE: Nanos = Nanos::millis(1);

/// Messages of a slice at most.
const MOST: u64 = 10_000;

/// Messages that a sample of `mode` counts for a slice of `count` rounds.
pub fn messages_per_sample(mode: Mode, count: u64) -> u64 {
    match mode {
        Mode::PingPong | Mode::Both => 2 * count,
        // The first one starts the receiver's clock.
        Mode::Stream => count - 1,
    }
}

pub struct Leader<T> {
    transport: T,
    buffers: Buffers,
    mode: Mode,
    sizes: Vec<Measured>,
    /// Messages that were checked, and their bytes.
    checked: (u64, u64),
}

struct Measured {
    size: u64,
    /// The time of one message each way, as last seen; none before the first visit.
    takes: Option<Nanos>,
}

impl<T: PingPongTransport> Leader<T> {
    /// A leader on `transport` for messages of these sizes.
    pub fn new(transport: T, buffers: Buffers, mode: Mode, sizes: &[u64]) -> Self {
        let sizes = sizes.iter().map(|&size| Measured { size, takes: None }).collect();
        Self { transport, buffers, mode, sizes, checked: (0, 0) }
    }

    /// Visits all sizes in turn until `stop`. The first visit of a size checks the data and makes a first guess of how
    /// long a message takes; neither is kept.
    ///
    /// # Errors
    /// When the follower is gone, or data is not what was sent.
    pub fn run(&mut self, stop: &Stop, out: &mut dyn Sink) -> Result<(), Reason> {
        while !stop.is_over() {
            for at in 0..self.sizes.len() {
                if stop.is_over() {
                    break;
                }
                if self.sizes[at].takes.is_none() {
                    self.check_size(at)?;
                    self.slice(at, self.fewest())?;
                }
                let sample = self.slice(at, self.rounds(at))?;
                out.sample(sample);
            }
        }
        Ok(())
    }

    /// Sends one more message of every size that was visited, both ways, and looks at every byte.
    ///
    /// # Errors
    /// When the follower is gone, or data is not what was sent.
    pub fn check(&mut self) -> Result<(), Reason> {
        (0..self.sizes.len())
            .filter(|at| self.sizes[*at].takes.is_some())
            .collect::<Vec<_>>()
            .into_iter()
            .try_for_each(|at| self.check_size(at))
    }

    /// Messages and bytes that were checked.
    pub fn checked(&self) -> (u64, u64) {
        self.checked
    }

    /// What carries the messages.
    pub fn transport(&self) -> &T {
        &self.transport
    }

    fn fewest(&self) -> u64 {
        if self.mode == Mode::Stream { 2 } else { 1 }
    }

    fn rounds(&self, at: usize) -> u64 {
        let takes = self.sizes[at].takes.map_or(1, |takes| takes.get().max(1));
        (SLICE.get() / takes).clamp(self.fewest(), MOST)
    }

    /// Rounds before the clock starts: one, so that the follower has read its command by then; none of messages beside
    /// which that does not show.
    fn ahead(&self, at: usize) -> u64 {
        u64::from(self.sizes[at].takes.is_none_or(|takes| takes < SLICE))
    }

    fn tell(&mut self, verb: Verb, at: usize, count: u64) -> Result<usize, Reason> {
        let size = self.sizes[at].size;
        // Connection 0 carries commands.
        let connection = at + 1;
        let command = Command { verb, connection: connection as u32, size, count };
        self.transport.switch_to(0)?;
        self.transport.tell(&command.to_bytes())?;
        self.transport.switch_to(connection)?;
        Ok(size as usize)
    }

    fn slice(&mut self, at: usize, count: u64) -> Result<Sample, Reason> {
        let (start, end) = match self.mode {
            Mode::PingPong => self.echo(at, count)?,
            Mode::Both => self.exchange(at, count)?,
            Mode::Stream => self.stream(at, count)?,
        };
        let size = self.sizes[at].size;
        let messages = messages_per_sample(self.mode, count);
        self.sizes[at].takes = Some(Nanos(end.since(start).get() / count.max(1)));
        let at = [("size", Bytes(size).into())].into();
        Ok(Sample::new(CHANNEL, at, (start, end), Quantity::count(messages)))
    }

    fn echo(&mut self, at: usize, count: u64) -> Result<(Nanos, Nanos), Reason> {
        let ahead = self.ahead(at);
        let size = self.tell(Verb::Echo, at, ahead + count)?;
        let mut start = Nanos(now_ns());
        for round in 0..ahead + count {
            if round == ahead {
                start = Nanos(now_ns());
            }
            let (out, into) = self.buffers.next(size);
            self.transport.send(&self.buffers, out)?;
            self.transport.receive(&mut self.buffers, into)?;
        }
        Ok((start, Nanos(now_ns())))
    }

    fn exchange(&mut self, at: usize, count: u64) -> Result<(Nanos, Nanos), Reason> {
        let ahead = self.ahead(at);
        let size = self.tell(Verb::Exchange, at, ahead + count)?;
        let mut start = Nanos(now_ns());
        for round in 0..ahead + count {
            if round == ahead {
                start = Nanos(now_ns());
            }
            let (out, into) = self.buffers.next(size);
            self.transport.exchange(&mut self.buffers, out, into)?;
        }
        Ok((start, Nanos(now_ns())))
    }

    fn stream(&mut self, at: usize, count: u64) -> Result<(Nanos, Nanos), Reason> {
        let size = self.tell(Verb::Take, at, count)?;
        for _ in 0..count {
            let (out, _) = self.buffers.next(size);
            self.transport.send(&self.buffers, out)?;
        }
        let mut took = [0; 8];
        self.transport.switch_to(0)?;
        self.transport.hear(&mut took)?;
        let end = Nanos(now_ns());
        Ok((Nanos(end.get().saturating_sub(u64::from_le_bytes(took))), end))
    }

    fn check_size(&mut self, at: usize) -> Result<(), Reason> {
        let number = self.checked.0;
        let size = self.tell(Verb::Check, at, number)?;
        let (out, into) = (self.buffers.fill(size, number), self.buffers.received(size));
        self.transport.send(&self.buffers, out)?;
        self.transport.receive(&mut self.buffers, into)?;
        if let Some(wrong) = self.buffers.first_wrong(size, number + 1) {
            let text = format!("byte {wrong} of a message of {size} bytes is not what was sent");
            return Err(Reason::new(Cause::CorruptData, text));
        }
        self.checked = (number + 1, self.checked.1 + 2 * size as u64);
        Ok(())
    }
}
