//! The send side of one thread's queue pairs: requests posted, requests under way, completions, and silence.

use std::ops::Range;
use std::sync::Arc;
use std::time::{Duration, Instant};

use seatrial_model::Reason;
use seatrial_sys::verbs::{QueuePair, SendList, VerbsError, WorkCompletion};

use super::queue::{Queue, wait};
use super::{Pair, RdmaEndpoint, during, silent};
use crate::REPLY_TIMEOUT;

/// Interval of requests that are posted one after the other: completions keep the send queue from filling up, and few of them
/// take time from a round trip.
pub const SIGNAL_INTERVAL: u64 = 16;

/// Time without a message, from the first reading of the clock on. The clock is read after many polls only, so that what
/// arrives in time does not pay for it.
#[derive(Default)]
pub struct Silence {
    since: Option<Instant>,
}

impl Silence {
    /// Whether nothing has arrived for `longest`.
    #[cold]
    pub fn is_over(&mut self, longest: Duration) -> bool {
        let now = Instant::now();
        now.duration_since(*self.since.get_or_insert(now)) > longest
    }
}

/// Looks further apart than this say nothing about a queue pair: its thread did not ask for completions between them.
const LONGEST_GAP: Duration = Duration::from_secs(1);

/// Since when each queue pair of a thread has completed nothing, so that one that stands still is found beside busy ones.
#[derive(Default)]
struct Progress {
    last: Option<Instant>,
    /// By queue pair: its completed requests, and since when the number is the same.
    seen: Vec<(u64, Instant)>,
}

impl Progress {
    /// The first queue pair with requests under way of which none has completed for `longest`; `counts` are the posted and
    /// the completed requests of each.
    fn stalled(
        &mut self,
        now: Instant,
        longest: Duration,
        counts: impl Iterator<Item = (u64, u64)>,
    ) -> Option<usize> {
        if self.last.replace(now).is_none_or(|last| now.duration_since(last) > LONGEST_GAP) {
            self.seen.clear();
        }
        let mut stalled = None;
        for (number, (posted, completed)) in counts.enumerate() {
            let Some(seen) = self.seen.get_mut(number) else {
                self.seen.push((completed, now));
                continue;
            };
            if seen.0 != completed || completed == posted {
                *seen = (completed, now);
            } else if now.duration_since(seen.1) > longest {
                stalled.get_or_insert(number);
            }
        }
        stalled
    }
}

/// Requests of one queue pair.
struct Requests {
    qp: Arc<QueuePair>,
    /// The device, and the flow where an end has several peers.
    label: String,
    posted: u64,
    completed: u64,
    /// Posted since the last request that asked for a completion.
    unsignalled: u64,
}

/// The send queues of one thread, at most `depth` requests in each. A completion stands for all requests of its queue pair
/// since the one before, as they complete in posting order.
pub struct SendQueue {
    label: String,
    queue: Queue,
    depth: u64,
    interval: u64,
    awaited: &'static str,
    qps: Vec<Requests>,
    completions: [WorkCompletion; 32],
    misses: u32,
    polls: u32,
    progress: Progress,
}

impl SendQueue {
    /// Those of the queue pairs of `thread`. Every `interval`th request of each asks for a completion; an error calls what
    /// is waited for `awaited`.
    pub fn new(endpoint: &RdmaEndpoint, thread: usize, interval: u64, awaited: &'static str) -> Self {
        let label = endpoint.config.label();
        let requests = |pair: &Pair| Requests {
            qp: Arc::clone(&pair.qp),
            label: pair.outgoing(&label),
            posted: 0,
            completed: 0,
            unsignalled: 0,
        };
        Self {
            queue: endpoint.sends[thread].clone(),
            depth: endpoint.config.depth as u64,
            interval,
            awaited,
            qps: endpoint.targets_of(thread).map(requests).collect(),
            label,
            completions: [WorkCompletion::default(); 32],
            misses: 0,
            polls: 0,
            progress: Progress::default(),
        }
    }

    /// Counts from 0 again, with another interval. Nothing may be under way.
    pub fn reset(&mut self, interval: u64) {
        self.interval = interval;
        for qp in &mut self.qps {
            (qp.posted, qp.completed, qp.unsignalled) = (0, 0, 0);
        }
        self.progress = Progress::default();
    }

    /// Requests that may still be posted on queue pair `qp`, the number of which is that among those of this thread.
    #[inline]
    pub fn room(&self, qp: usize) -> u64 {
        let qp = &self.qps[qp];
        self.depth.saturating_sub(qp.posted - qp.completed)
    }

    /// Requests posted on all queue pairs.
    pub fn posted(&self) -> u64 {
        self.qps.iter().map(|qp| qp.posted).sum()
    }

    /// Whether the last requests of queue pair `qp` will complete unseen.
    pub fn ends_unsignalled(&self, qp: usize) -> bool {
        self.qps[qp].unsignalled > 0
    }

    /// Whether nothing is under way.
    #[inline]
    pub fn is_idle(&self) -> bool {
        self.qps.iter().all(|qp| qp.completed == qp.posted)
    }

    /// Makes entry `at` of a list the next request of queue pair `qp`; `signalled`: it asks for a completion in any case.
    #[inline]
    pub fn add(&mut self, qp: usize, list: &mut SendList, at: usize, signalled: bool) {
        let requests = &mut self.qps[qp];
        requests.posted += 1;
        requests.unsignalled += 1;
        let signalled = signalled || requests.unsignalled >= self.interval;
        list.set_signalled(at, signalled);
        list.set_id(at, (qp as u64) << 32 | requests.unsignalled);
        if signalled {
            requests.unsignalled = 0;
        }
    }

    /// Posts what was added.
    #[inline]
    pub fn post(&self, qp: usize, list: &mut SendList, range: Range<usize>) -> Result<(), VerbsError> {
        Ok(self.qps[qp].qp.post_send(list, range)?)
    }

    /// Polls once, and offers the processor to others or sleeps where there is nothing; returns the number of completed
    /// requests, after `each` had every queue pair and number.
    ///
    /// # Errors
    /// When a request failed, `each` fails, or nothing has completed on a queue pair for [`REPLY_TIMEOUT`].
    #[inline]
    pub fn wait(
        &mut self,
        doing: &'static str,
        each: impl FnMut(usize, u64) -> Result<(), VerbsError>,
    ) -> Result<u64, Reason> {
        let count = wait(&self.queue, &mut self.completions, &mut self.misses);
        let count = count.map_err(during(&self.label, doing))?;
        let all = self.take(count, doing, each)?;
        self.polls = self.polls.wrapping_add(1);
        if self.queue.is_check_due(self.polls) {
            self.require_progress()?;
        }
        Ok(all)
    }

    #[cold]
    fn require_progress(&mut self) -> Result<(), Reason> {
        let counts = self.qps.iter().map(|qp| (qp.posted, qp.completed));
        let stalled = self.progress.stalled(Instant::now(), REPLY_TIMEOUT, counts);
        stalled.map_or(Ok(()), |number| Err(silent(&self.qps[number].label, self.awaited)))
    }

    /// Polls once, without waiting.
    pub fn poll(&mut self, doing: &'static str) -> Result<u64, Reason> {
        let count = self.queue.cq.poll(&mut self.completions).map_err(during(&self.label, doing))?;
        self.take(count, doing, |_, _| Ok(()))
    }

    #[inline]
    fn take(
        &mut self,
        count: usize,
        doing: &'static str,
        mut each: impl FnMut(usize, u64) -> Result<(), VerbsError>,
    ) -> Result<u64, Reason> {
        let mut all = 0;
        for completion in &self.completions[..count] {
            let (qp, requests) = ((completion.id() >> 32) as usize, completion.id() & u64::from(u32::MAX));
            completion.check().map_err(during(&self.qps[qp].label, doing))?;
            self.qps[qp].completed += requests;
            all += requests;
            each(qp, requests).map_err(during(&self.qps[qp].label, doing))?;
        }
        Ok(all)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LONGEST: Duration = Duration::from_secs(5);

    /// What is found at each half second of `seconds`, of queue pairs whose counts at that look `counts` tells.
    fn found(seconds: u32, counts: impl Fn(u32) -> Vec<(u64, u64)>) -> Vec<Option<usize>> {
        let (start, mut progress) = (Instant::now(), Progress::default());
        let looks = (0..=2 * seconds).map(|look| (start + look * Duration::from_millis(500), counts(look)));
        looks.map(|(now, counts)| progress.stalled(now, LONGEST, counts.into_iter())).collect()
    }

    #[test]
    fn a_queue_pair_that_stands_still_is_found_while_others_complete() {
        let busy = |look: u32| (u64::from(look) + 16, u64::from(look));
        let found = found(6, |look| vec![busy(look), (16, 3), busy(look)]);
        // Longer than 5 s is the eleventh half second.
        assert_eq!(found[..11], [None; 11]);
        assert_eq!(found[11..], [Some(1); 2]);
    }

    #[test]
    fn one_that_completes_now_and_then_or_has_nothing_under_way_does_not_stand_still() {
        let slow = |look: u32| (u64::from(look / 8) + 1, u64::from(look / 8));
        assert_eq!(found(60, |look| vec![slow(look), (7, 7)]), [None; 121]);
    }

    #[test]
    fn time_in_which_a_thread_asked_for_nothing_is_not_the_time_of_its_queue_pairs() {
        let (start, mut progress) = (Instant::now(), Progress::default());
        for seconds in [0, 30, 60] {
            let now = start + Duration::from_secs(seconds);
            assert_eq!(progress.stalled(now, LONGEST, [(2, 1)].into_iter()), None, "{seconds} s");
        }
    }
}
