//! The end that holds the clock and says what comes next.

use seatrial_model::{Bytes, Cause, Nanos, Quantity, Reason, Sample};
use seatrial_sys::clock::now_ns;

use super::command::{Command, Taken, Verb};
use super::{Buffers, Mode, PingPongTransport};
use crate::{Sink, Stop};

/// The channel of the samples: messages of the size in `at`, over the time of all of them.
pub const CHANNEL: &str = "messages";

/// A slice lasts about this long, or one message where that takes longer: long against the clock, short enough to come
/// back to every size many times in a trial.
const SLICE: Nanos = Nanos::millis(1);

/// The same of messages one way: this long, or this many round trips where they take longer, but no longer than the most. As many
/// messages again are not counted (see [`around`]): the first ones fill the path, and the last ones load both ends until the slice
/// is over.
const STREAM_SLICE: Nanos = Nanos::millis(3);
const STREAM_ROUND_TRIPS: u64 = 20;
const LONGEST_STREAM_SLICE: Nanos = Nanos::secs(2);

/// One way, the size that is visited first: large enough to fill most paths. Then every so many sizes.
const FIRST_SIZE: u64 = 1 << 20;
const STRIDE: usize = 3;

/// Round trips of one byte, of which the shortest counts.
const ROUND_TRIPS: usize = 4;

/// Of a first slice as a multiple of the one before it, at most.
const GROWTH: u64 = 8;

/// Messages of a slice at most.
const MOST: u64 = 50_000;

/// Messages that a sample of `mode` counts for a slice of `count` rounds.
pub fn messages_per_sample(mode: Mode, count: u64) -> u64 {
    match mode {
        Mode::PingPong | Mode::Both => 2 * count,
        Mode::Stream => count,
    }
}

/// Messages one way that are sent before, and again after, `count` messages that are counted: TCP begins each slice with a
/// small congestion window, because the connection was idle, and receives at first what waits in its buffers.
pub fn around(count: u64) -> u64 {
    count.div_ceil(2)
}

/// Messages one way of a slice of which `count` are counted.
pub fn sent(count: u64) -> u64 {
    count + 2 * around(count)
}

pub struct Leader<T> {
    transport: T,
    buffers: Buffers,
    mode: Mode,
    sizes: Vec<Measured>,
    /// How long a slice lasts.
    slice: Nanos,
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
        Self { transport, buffers, mode, sizes, slice: SLICE, checked: (0, 0) }
    }

    /// Visits all sizes in turn until `stop`. The first visit of a size checks the data and guesses how long a message takes;
    /// neither is kept.
    ///
    /// # Errors
    /// When the follower is gone, or data is not what was sent.
    pub fn run(&mut self, stop: &Stop, out: &mut dyn Sink) -> Result<(), Reason> {
        while !stop.is_over() {
            for at in self.order() {
                if stop.is_over() {
                    break;
                }
                let sample = if self.sizes[at].takes.is_some() {
                    Some(self.slice(at, self.rounds(at))?)
                } else {
                    self.first_slice(at, stop)?
                };
                sample.into_iter().for_each(|sample| out.sample(sample));
            }
        }
        Ok(())
    }

    /// By rising size. One way, where a long or slow path may leave no time for all sizes, a third of them first, from
    /// [`FIRST_SIZE`] down, which tells the throughput, and from there up.
    fn order(&self) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.sizes.len()).collect();
        if self.mode == Mode::Stream {
            let first = self
                .sizes
                .iter()
                .position(|measured| measured.size >= FIRST_SIZE)
                .unwrap_or(order.len().saturating_sub(1));
            order.sort_by_key(|at| (at.abs_diff(first) % STRIDE, *at > first, at.abs_diff(first)));
        }
        order
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

    /// Checks the data, guesses how long a message takes, and makes a slice by that. One way a slice that is shorter than half of
    /// what it should be is not kept, because most of it was in buffers: a longer one follows, until `stop`.
    fn first_slice(&mut self, at: usize, stop: &Stop) -> Result<Option<Sample>, Reason> {
        self.check_size(at)?;
        self.guess(at)?;
        let mut count = self.rounds(at);
        loop {
            let sample = self.slice(at, count)?;
            let is_short = sample.span().get() < self.slice.get() / 2;
            if self.mode != Mode::Stream || !is_short || count == MOST {
                return Ok(Some(sample));
            }
            if stop.is_over() {
                return Ok(None);
            }
            count = (GROWTH * count).min(MOST).min(self.rounds(at).max(count + 1));
        }
    }

    /// Guesses how long a message takes: by one message, or one way, where the first ones only fill buffers, from the next size
    /// that was visited.
    fn guess(&mut self, at: usize) -> Result<(), Reason> {
        if self.mode != Mode::Stream {
            return self.slice(at, 1).map(drop);
        }
        let size = self.sizes[at].size;
        let known = self.sizes.iter().filter_map(|other| Some((other.size, other.takes?.get())));
        if let Some((other, takes)) = known.min_by_key(|(other, _)| other.abs_diff(size)) {
            self.sizes[at].takes = Some(Nanos((takes as f64 * size as f64 / other as f64) as u64));
            return Ok(());
        }
        let round_trips = Nanos(STREAM_ROUND_TRIPS * self.round_trip(at)?.get());
        self.slice = STREAM_SLICE.max(round_trips).min(LONGEST_STREAM_SLICE);
        self.slice(at, 1).map(drop)
    }

    /// The shortest round trip of one byte.
    fn round_trip(&mut self, at: usize) -> Result<Nanos, Reason> {
        let connection = at as u32 + 1;
        self.tell(Command { verb: Verb::Echo, connection, size: 1, count: ROUND_TRIPS as u64 })?;
        let mut shortest = Nanos(u64::MAX);
        for _ in 0..ROUND_TRIPS {
            let start = Nanos(now_ns());
            self.echo(1)?;
            shortest = shortest.min(Nanos(now_ns()).since(start));
        }
        Ok(shortest)
    }

    fn rounds(&self, at: usize) -> u64 {
        let takes = self.sizes[at].takes.map_or(1, |takes| takes.get().max(1));
        (self.slice.get() / takes).clamp(1, MOST)
    }

    /// Rounds before the clock starts: one, so that the follower has read its command by then; none of messages beside
    /// which that does not show.
    fn ahead(&self, at: usize) -> u64 {
        u64::from(self.sizes[at].takes.is_none_or(|takes| takes < SLICE))
    }

    /// Tells the follower, and returns the size.
    fn tell_of(&mut self, verb: Verb, at: usize, count: u64) -> Result<usize, Reason> {
        let size = self.sizes[at].size;
        // Connection 0 carries commands.
        self.tell(Command { verb, connection: at as u32 + 1, size, count })?;
        Ok(size as usize)
    }

    fn tell(&mut self, command: Command) -> Result<(), Reason> {
        self.transport.switch_to(0)?;
        self.transport.tell(&command.to_bytes())?;
        self.transport.switch_to(command.connection as usize)
    }

    fn slice(&mut self, at: usize, count: u64) -> Result<Sample, Reason> {
        let (start, end) = match self.mode {
            Mode::PingPong => self.timed(Verb::Echo, at, count, Self::echo)?,
            Mode::Both => self.timed(Verb::Exchange, at, count, Self::exchange)?,
            Mode::Stream => self.stream(at, count)?,
        };
        let size = self.sizes[at].size;
        let messages = messages_per_sample(self.mode, count);
        self.sizes[at].takes = Some(Nanos(end.since(start).get() / count.max(1)));
        let at = [("size", Bytes(size).into())].into();
        Ok(Sample::new(CHANNEL, at, (start, end), Quantity::count(messages)))
    }

    /// Rounds that `round` makes at this end, and what `verb` asks of the follower.
    fn timed(
        &mut self,
        verb: Verb,
        at: usize,
        count: u64,
        round: impl Fn(&mut Self, usize) -> Result<(), Reason>,
    ) -> Result<(Nanos, Nanos), Reason> {
        let ahead = self.ahead(at);
        let size = self.tell_of(verb, at, ahead + count)?;
        let mut start = Nanos(now_ns());
        for number in 0..ahead + count {
            if number == ahead {
                start = Nanos(now_ns());
            }
            round(self, size)?;
        }
        Ok((start, Nanos(now_ns())))
    }

    #[inline]
    fn echo(&mut self, size: usize) -> Result<(), Reason> {
        let (out, into) = self.buffers.next(size);
        self.transport.send(&self.buffers, out)?;
        self.transport.receive(&mut self.buffers, into)
    }

    #[inline]
    fn exchange(&mut self, size: usize) -> Result<(), Reason> {
        let (out, into) = self.buffers.next(size);
        self.transport.exchange(&mut self.buffers, out, into)
    }

    fn stream(&mut self, at: usize, count: u64) -> Result<(Nanos, Nanos), Reason> {
        let size = self.tell_of(Verb::Take, at, count)?;
        for _ in 0..sent(count) {
            let (out, _) = self.buffers.next(size);
            self.transport.send(&self.buffers, out)?;
        }
        let mut told = [0; Taken::LENGTH];
        self.transport.switch_to(0)?;
        self.transport.hear(&mut told)?;
        let Taken { took, since } = Taken::from_bytes(told);
        let end = Nanos(now_ns()).get().saturating_sub(since.get());
        Ok((Nanos(end.saturating_sub(took.get())), Nanos(end)))
    }

    fn check_size(&mut self, at: usize) -> Result<(), Reason> {
        let number = self.checked.0;
        let size = self.tell_of(Verb::Check, at, number)?;
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
