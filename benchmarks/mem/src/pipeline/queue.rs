//! Which block is next: earliest deadline first, over streams whose blocks follow each other.
//!
//! Block k of a stream may start at `start + k x period` and is due one period later, when the next may start. Both
//! times are absolute, so a late block does not shift later ones. No clock and no thread here: the threads of a group
//! call under a lock, with their own time. On one processor, earliest deadline first keeps every deadline that any
//! order keeps (C. L. Liu and J. W. Layland, "Scheduling Algorithms for Multiprogramming in a Hard-Real-Time
//! Environment", JACM 20, 1973). On several, without preemption, no order is always best; this one is close and has
//! no parameter.

use seatrial_model::Nanos;

use seatrial_bench::Latencies;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// Work on the next block of this stream, then call [`Queue::finished`].
    Run(usize),
    Wait(Nanos),
    Over,
}

/// Time of `rounds` rounds at a pace, rounded up so that no deadline is lost.
pub fn span(rounds: u64, round: Nanos, pace: f64) -> Nanos {
    Nanos((rounds as f64 * round.get() as f64 / pace).ceil() as u64)
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Blocks whose deadline lay in the window.
    pub due: u64,
    /// Blocks due that were finished in the window.
    pub done: u64,
    /// Blocks due that were not finished by their deadline.
    pub late: u64,
}

#[derive(Clone, Debug)]
pub struct Queue {
    start: Nanos,
    end: Nanos,
    streams: Vec<Stream>,
    lateness: Latencies,
}

#[derive(Clone, Debug)]
struct Stream {
    /// Nanoseconds from block to block.
    period: f64,
    block: u64,
    at_work: bool,
    tally: Tally,
}

impl Stream {
    /// When block `number` may start and block `number - 1` is due; computed from the start, so that rounding does
    /// not accumulate.
    fn release(&self, start: Nanos, number: u64) -> Nanos {
        start.plus(Nanos((number as f64 * self.period).round() as u64))
    }

    fn deadline(&self, start: Nanos) -> Nanos {
        self.release(start, self.block + 1)
    }
}

impl Queue {
    /// Streams of these `periods`, run `pace` times as fast, from `start` for `span`.
    pub fn new(periods: impl IntoIterator<Item = Nanos>, pace: f64, start: Nanos, span: Nanos) -> Self {
        let stream = |period: Nanos| {
            let period = period.get() as f64 / pace;
            // Half a nanosecond, so that a deadline at the very end counts.
            let due = ((span.get() as f64 + 0.5) / period).floor() as u64;
            Stream { period, block: 0, at_work: false, tally: Tally { due, ..Tally::default() } }
        };
        let streams = periods.into_iter().map(stream).collect();
        Self { start, end: start.plus(span), streams, lateness: Latencies::default() }
    }

    /// The next action of a thread that is free at `now`. Scans all streams: some hundred at most, against blocks of
    /// a fraction of a millisecond.
    pub fn next(&mut self, now: Nanos) -> Next {
        if now >= self.end {
            return Next::Over;
        }
        let mut urgent: Option<(Nanos, usize)> = None;
        let mut soonest: Option<Nanos> = None;
        for (index, stream) in self.streams.iter().enumerate() {
            if stream.at_work || stream.block >= stream.tally.due {
                continue;
            }
            let release = stream.release(self.start, stream.block);
            if release > now {
                soonest = Some(soonest.map_or(release, |soonest| soonest.min(release)));
            } else {
                let claim = (stream.deadline(self.start), index);
                urgent = Some(urgent.map_or(claim, |urgent| urgent.min(claim)));
            }
        }
        match (urgent, soonest) {
            (Some((_, index)), _) => {
                self.streams[index].at_work = true;
                Next::Run(index)
            }
            (None, Some(at)) => Next::Wait(at.min(self.end)),
            (None, None) => Next::Over,
        }
    }

    pub fn finished(&mut self, index: usize, now: Nanos) {
        let deadline = self.streams[index].deadline(self.start);
        let stream = &mut self.streams[index];
        stream.at_work = false;
        stream.block += 1;
        stream.tally.done += u64::from(now <= self.end);
        stream.tally.late += u64::from(now > deadline);
        self.lateness.record(now.since(deadline));
    }

    /// The counts of all streams and the lateness of all blocks. A due block that never finished is late by the time
    /// from its deadline to the end of the window.
    pub fn close(mut self) -> (Vec<Tally>, Latencies) {
        for stream in &mut self.streams {
            while stream.block < stream.tally.due {
                self.lateness.record(self.end.since(stream.deadline(self.start)));
                stream.tally.late += 1;
                stream.block += 1;
            }
        }
        (self.streams.iter().map(|stream| stream.tally).collect(), self.lateness)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const START: u64 = 1000;

    fn queue(periods: &[u64], span: u64) -> Queue {
        Queue::new(periods.iter().copied().map(Nanos), 1.0, Nanos(START), Nanos(span))
    }

    fn at(queue: &mut Queue, now: u64) -> Next {
        queue.next(Nanos(START + now))
    }

    fn wait(until: u64) -> Next {
        Next::Wait(Nanos(START + until))
    }

    fn tally(due: u64, done: u64, late: u64) -> Tally {
        Tally { due, done, late }
    }

    #[test]
    fn the_earliest_deadline_goes_first_and_the_first_stream_among_equals() {
        let mut queue = queue(&[80, 10, 40, 10], 80);
        let order: Vec<Next> = (0..4).map(|_| at(&mut queue, 0)).collect();
        assert_eq!(order, [1, 3, 2, 0].map(Next::Run));
    }

    #[test]
    fn a_block_does_not_start_before_its_time_nor_beside_its_predecessor() {
        let mut queue = queue(&[10], 40);
        assert_eq!(queue.next(Nanos(START - 5)), wait(0));
        assert_eq!(at(&mut queue, 0), Next::Run(0));
        // The second block could start, but the first is still at work.
        assert_eq!(at(&mut queue, 12), Next::Over);
        queue.finished(0, Nanos(START + 13));
        assert_eq!(at(&mut queue, 13), Next::Run(0));
        queue.finished(0, Nanos(START + 14));
        assert_eq!(at(&mut queue, 14), wait(20));
    }

    #[test]
    fn two_threads_in_time_finish_everything_that_is_due() {
        let mut queue = queue(&[10, 20, 40], 80);
        let mut free = [0, 0];
        // Each block takes 3 ns; the thread that is free first continues.
        loop {
            let thread = usize::from(free[1] < free[0]);
            match at(&mut queue, free[thread]) {
                Next::Run(stream) => {
                    free[thread] += 3;
                    queue.finished(stream, Nanos(START + free[thread]));
                }
                Next::Wait(until) => free[thread] = until.get() - START,
                Next::Over => break,
            }
        }
        let (tallies, lateness) = queue.close();
        assert_eq!(tallies, [tally(8, 8, 0), tally(4, 4, 0), tally(2, 2, 0)]);
        assert_eq!(lateness.longest(), Nanos(0));
    }

    #[test]
    fn a_late_block_is_counted_and_does_not_move_the_next_deadline() {
        let mut queue = queue(&[10], 30);
        for (begin, end) in [(0, 14), (14, 19), (20, 30)] {
            assert_eq!(at(&mut queue, begin), Next::Run(0));
            queue.finished(0, Nanos(START + end));
        }
        assert_eq!(at(&mut queue, 29), Next::Over);
        let (tallies, lateness) = queue.close();
        assert_eq!((tallies, lateness.longest()), (vec![tally(3, 3, 1)], Nanos(4)));
    }

    #[test]
    fn what_is_never_finished_is_late_and_not_done() {
        let mut queue = queue(&[10, 20], 40);
        assert_eq!(at(&mut queue, 0), Next::Run(0));
        assert_eq!(at(&mut queue, 50), Next::Over);
        // The block at work ends after the window: not done, and its lateness is exact.
        queue.finished(0, Nanos(START + 55));
        let (tallies, lateness) = queue.close();
        assert_eq!(tallies, [tally(4, 0, 4), tally(2, 0, 2)]);
        assert_eq!(lateness.longest(), Nanos(45));
    }

    #[test]
    fn a_faster_pace_shortens_all_periods_and_a_deadline_at_the_end_counts() {
        let round = Nanos(49_152_000);
        for pace in [1.0, 1.5, 3.0, 2.0_f64.powf(13.0 / 64.0), 2.0_f64.powf(-77.0 / 64.0)] {
            for rounds in [1, 7, 512] {
                let span = span(rounds, round, pace);
                let queue = Queue::new([Nanos(3_072_000), round], pace, Nanos(0), span);
                let due: Vec<u64> = queue.streams.iter().map(|stream| stream.tally.due).collect();
                assert_eq!(due, [16 * rounds, rounds], "{pace}");
                assert!(queue.streams[1].release(Nanos(0), rounds) <= span, "{pace}");
            }
        }
    }
}
