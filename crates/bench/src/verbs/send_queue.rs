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
    silence: Silence,
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
            silence: Silence::default(),
        }
    }

    /// Counts from 0 again, with another interval. Nothing may be under way.
    pub fn reset(&mut self, interval: u64) {
        self.interval = interval;
        for qp in &mut self.qps {
            (qp.posted, qp.completed, qp.unsignalled) = (0, 0, 0);
        }
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
    /// When a request failed, `each` fails, or nothing has completed for a long time.
    #[inline]
    pub fn wait(
        &mut self,
        doing: &'static str,
        each: impl FnMut(usize, u64) -> Result<(), VerbsError>,
    ) -> Result<u64, Reason> {
        let count = wait(&self.queue, &mut self.completions, &mut self.misses);
        let count = count.map_err(during(&self.label, doing))?;
        if count == 0 && self.queue.is_check_due(self.misses) && self.silence.is_over(REPLY_TIMEOUT) {
            let waiting = self.qps.iter().find(|qp| qp.completed < qp.posted);
            return Err(silent(waiting.map_or(&self.label, |qp| &qp.label), self.awaited));
        }
        self.take(count, doing, each)
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
        if count > 0 {
            self.silence = Silence::default();
        }
        Ok(all)
    }
}
