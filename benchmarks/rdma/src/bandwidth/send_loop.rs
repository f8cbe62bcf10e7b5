//! Keeps the send queues of one thread full.

use std::ops::Deref;
use std::sync::atomic::{AtomicUsize, Ordering};

use seatrial_model::Reason;
use seatrial_sys::clock::now_ns;
use seatrial_sys::verbs::{SendList, Verb, VerbKind, VerbsError, Work};

use super::counts::{Counts, Tally};
use super::message::{far_at, message, sides};
use super::on_demand_mr::OnDemandMr;
use seatrial_bench::Stop;
use seatrial_bench::verbs::{Pair, RdmaEndpoint, SendQueue, during};

const TURNS: u32 = 16;

/// Bytes of the read that proves the arrival of a message.
const PROOF: u32 = 8;

/// Index of the present size, read by all sending threads.
#[derive(Debug, Default)]
pub struct Orders(AtomicUsize);

impl Orders {
    pub fn send(&self, size: usize) {
        self.0.store(size, Ordering::Relaxed);
    }
}

struct SendQp {
    pair: Pair,
    list: SendList,
    slot: u64,
    /// Messages since the preparation.
    completed: u64,
    /// Only if each message registers its own memory.
    on_demand: Option<OnDemandMr>,
}

/// The loop of a thread over its queue pairs; `E` refers to their endpoint.
pub struct SendLoop<E> {
    endpoint: E,
    thread: usize,
    queue: SendQueue,
    qps: Vec<SendQp>,
    each: usize,
}

impl<E: Deref<Target = RdmaEndpoint>> SendLoop<E> {
    pub fn new(endpoint: E, thread: usize) -> Self {
        let proves = endpoint.config.fence && endpoint.config.method.verb == VerbKind::Write;
        Self {
            queue: SendQueue::new(&endpoint, thread, 1, "request completed"),
            endpoint,
            thread,
            qps: Vec::new(),
            each: if proves { 2 } else { 1 },
        }
    }

    /// Sends the ordered sizes until `stop`, waits for all completions, and returns the number of messages.
    pub fn run(&mut self, orders: &Orders, stop: &Stop, tally: &Tally) -> Result<u64, Reason> {
        let mut counts = tally;
        let mut size = usize::MAX;
        let mut sent = 0;
        let mut turn = 0_u32;
        while !turn.is_multiple_of(TURNS) || !stop.is_over() {
            turn = turn.wrapping_add(1);
            let ordered = orders.0.load(Ordering::Relaxed);
            if ordered != size {
                sent += self.finish(size, &mut counts)?;
                size = ordered;
                self.prepare(size)?;
                if self.endpoint.config.fresh {
                    self.refresh(size)?;
                }
            }
            self.step(size, &mut counts)?;
        }
        sent += self.finish(size, &mut counts)?;
        Ok(sent)
    }

    /// Fills the queues with messages of this size, and looks once for completions.
    #[inline]
    pub fn step(&mut self, size: usize, counts: &mut impl Counts) -> Result<(), Reason> {
        self.fill()?;
        self.wait(size, counts)
    }

    /// The messages of each queue pair since the preparation.
    pub fn completed(&self) -> impl Iterator<Item = u64> {
        self.qps.iter().map(|qp| qp.completed)
    }

    /// Sends one message of the largest size per slot, or a bounded number of them, and waits for their completions.
    pub fn once(&mut self) -> Result<u64, Reason> {
        let last = self.endpoint.config.sizes.len() - 1;
        let tally = Tally::new(self.endpoint.config.sizes.len());
        let mut counts = &tally;
        self.prepare(last)?;
        for _ in 0..self.endpoint.layout.last_slots() {
            for qp in 0..self.qps.len() {
                while self.queue.room(qp) == 0 {
                    self.wait(last, &mut counts)?;
                }
                self.post(qp, 1, false)?;
            }
        }
        self.finish(last, &mut counts)
    }

    /// Makes the requests of this size, and counts from 0. No request may be outstanding.
    pub fn prepare(&mut self, size: usize) -> Result<(), Reason> {
        let bytes = self.endpoint.config.sizes[size];
        self.queue.reset(self.endpoint.config.moderation(bytes) as u64);
        self.qps.clear();
        for pair in self.endpoint.targets_of(self.thread) {
            let list = self.list(pair, bytes as u32);
            let list = list.map_err(during(&self.endpoint.config.label(), "preparing requests"))?;
            self.qps.push(SendQp { pair: pair.clone(), list, slot: 0, completed: 0, on_demand: None });
        }
        Ok(())
    }

    fn refresh(&mut self, size: usize) -> Result<(), Reason> {
        let bytes = self.endpoint.config.sizes[size] as u32;
        for qp in &mut self.qps {
            qp.on_demand = Some(OnDemandMr::new(&self.endpoint, &qp.pair, bytes)?);
        }
        Ok(())
    }

    fn list(&self, pair: &Pair, bytes: u32) -> Result<SendList, VerbsError> {
        let (endpoint, config): (&RdmaEndpoint, _) = (&self.endpoint, &self.endpoint.config);
        let (own, far) = sides(config.method.verb);
        let own_at = endpoint.layout.at(pair.number, own, 0) as usize;
        let message = message(endpoint, pair, bytes, &endpoint.region, own_at);
        // The destination of this read is behind the message, in memory that no check covers.
        let behind = own_at + endpoint.layout.stride as usize - PROOF as usize;
        let proof = || Work {
            remote: Some(far_at(endpoint, pair, far, 0)),
            signalled: false,
            ..Work::new(Verb::Read, &endpoint.region, behind, PROOF)
        };
        let mut works = Vec::new();
        for _ in 0..config.post_list {
            works.push(Work { ..message });
            if self.each == 2 {
                works.push(proof());
            }
        }
        SendList::new(&works)
    }

    #[inline]
    fn fill(&mut self) -> Result<(), Reason> {
        let list = self.endpoint.config.post_list;
        for qp in 0..self.qps.len() {
            while self.queue.room(qp) >= list as u64 {
                self.post(qp, list, false)?;
            }
        }
        Ok(())
    }

    #[inline]
    fn post(&mut self, number: usize, count: usize, ends_group: bool) -> Result<(), Reason> {
        self.try_post(number, count, ends_group).map_err(|error| self.not_posted(number, error))
    }

    #[cold]
    fn not_posted(&self, number: usize, error: VerbsError) -> Reason {
        let label = self.qps[number].pair.outgoing(&self.endpoint.config.label());
        during(&label, "posting requests")(error)
    }

    #[inline]
    fn try_post(&mut self, number: usize, count: usize, ends_group: bool) -> Result<(), VerbsError> {
        let layout = &self.endpoint.layout;
        let qp = &mut self.qps[number];
        if let Some(on_demand) = &mut qp.on_demand {
            return on_demand.post(&self.endpoint, &qp.pair, |list| {
                self.queue.add(number, list, 0, true);
                self.queue.post(number, list, 0..1)
            });
        }
        for at in 0..count {
            let entry = at * self.each;
            if layout.slots > 1 {
                let (own, far) = sides(self.endpoint.config.method.verb);
                let own = layout.at(qp.pair.number, own, qp.slot) as usize;
                let far = far_at(&self.endpoint, &qp.pair, far, qp.slot).address;
                qp.list.aim(entry, own, far);
                if self.each == 2 {
                    qp.list.aim(entry + 1, own + layout.stride as usize - PROOF as usize, far);
                }
                qp.slot = (qp.slot + 1) % layout.slots;
            }
            self.queue.add(number, &mut qp.list, entry + self.each - 1, ends_group);
        }
        self.queue.post(number, &mut qp.list, 0..count * self.each)
    }

    #[inline]
    fn wait(&mut self, size: usize, counts: &mut impl Counts) -> Result<(), Reason> {
        let qps = &mut self.qps;
        let messages = self.queue.wait("moving messages", |qp, messages| {
            let qp = &mut qps[qp];
            qp.completed += messages;
            match &mut qp.on_demand {
                Some(on_demand) => on_demand.done(messages),
                None => Ok(()),
            }
        })?;
        if messages > 0 {
            counts.add(size, messages, now_ns());
        }
        Ok(())
    }

    /// Waits until all requests are done; returns the messages since the last call of `prepare`.
    pub fn finish(&mut self, size: usize, counts: &mut impl Counts) -> Result<u64, Reason> {
        for qp in 0..self.qps.len() {
            if self.queue.ends_unsignalled(qp) {
                // One more signalled request, whose completion covers all before it.
                self.post(qp, 1, true)?;
            }
        }
        while !self.queue.is_idle() {
            self.wait(size, counts)?;
        }
        Ok(self.queue.posted())
    }
}
