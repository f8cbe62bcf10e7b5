//! Keeps the send queues of one thread full.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use seatrial_model::{Cause, Reason};
use seatrial_sys::clock::now_ns;
use seatrial_sys::verbs::{SendList, Verb, VerbKind, VerbsError, Work, WorkCompletion};

use super::counts::Tally;
use super::message::{far_at, message, sides};
use super::on_demand_mr::OnDemandMr;
use seatrial_bench::Stop;
use seatrial_bench::verbs::queue::Queue;
use seatrial_bench::verbs::{Pair, RdmaEndpoint, drained, during, wait};

/// Turns of the loop between two looks at the stop.
const TURNS: u32 = 16;

/// Bytes that a read takes which proves the arrival of a message.
const PROOF: u32 = 8;

/// What all pumping threads are told: the index of the size that is sent now.
#[derive(Debug, Default)]
pub struct Orders(AtomicUsize);

impl Orders {
    /// From now on messages of the size with this index are sent.
    pub fn send(&self, size: usize) {
        self.0.store(size, Ordering::Relaxed);
    }
}

/// A queue pair with its prepared requests.
struct SendQp<'a> {
    pair: &'a Pair,
    list: SendList,
    slot: u64,
    posted: u64,
    completed: u64,
    /// Messages since one asked for a completion.
    since: usize,
    /// Where each message has memory of its own.
    on_demand: Option<OnDemandMr>,
}

/// The queue pairs of one thread.
pub struct SendLoop<'a> {
    endpoint: &'a RdmaEndpoint,
    queue: &'a Queue,
    pairs: Vec<&'a Pair>,
    qps: Vec<SendQp<'a>>,
    /// Requests of a message: itself, and what proves its arrival.
    each: usize,
    moderation: usize,
    completions: [WorkCompletion; 32],
    misses: u32,
}

impl<'a> SendLoop<'a> {
    /// The loop of the thread with this number.
    pub fn new(endpoint: &'a RdmaEndpoint, thread: usize) -> Self {
        let threads = endpoint.config.threads;
        let pairs = endpoint.pairs.iter().filter(|pair| pair.number % threads == thread).collect();
        let proves = endpoint.config.fence && endpoint.config.method.verb == VerbKind::Write;
        Self {
            endpoint,
            queue: &endpoint.sends[thread],
            pairs,
            qps: Vec::new(),
            each: if proves { 2 } else { 1 },
            moderation: 1,
            completions: [WorkCompletion::default(); 32],
            misses: 0,
        }
    }

    /// Sends until `stop`, the sizes as ordered, and waits until all of it is done; how many messages that were.
    pub fn run(&mut self, orders: &Orders, stop: &Stop, tally: &Tally) -> Result<u64, Reason> {
        let label = self.endpoint.config.label();
        let mut size = usize::MAX;
        let mut sent = 0;
        let mut turn = 0_u32;
        let mut silent = None;
        loop {
            if turn.is_multiple_of(TURNS) {
                if stop.is_over() {
                    break;
                }
                // Not every device gives a dead path up by itself. Fewer misses than turns: something came since the
                // last look.
                if self.misses < TURNS {
                    silent = None;
                } else {
                    in_time(*silent.get_or_insert_with(drained), &label)?;
                }
            }
            turn = turn.wrapping_add(1);
            let ordered = orders.0.load(Ordering::Relaxed);
            if ordered != size {
                sent += self.finish(size, tally)?;
                size = ordered;
                self.prepare(size).map_err(during(&label, "preparing requests"))?;
                if self.endpoint.config.fresh {
                    self.refresh(size)?;
                }
            }
            self.fill().map_err(during(&label, "posting requests"))?;
            self.reap(size, tally).map_err(during(&label, "moving messages"))?;
        }
        sent += self.finish(size, tally)?;
        Ok(sent)
    }

    /// Sends one message of the largest size for every slot, or for as many as are not too much, and waits until all
    /// are done.
    pub fn once(&mut self) -> Result<u64, Reason> {
        let label = self.endpoint.config.label();
        let last = self.endpoint.config.sizes.len() - 1;
        let tally = Tally::new(self.endpoint.config.sizes.len());
        self.prepare(last).map_err(during(&label, "preparing requests"))?;
        for _ in 0..self.endpoint.layout.last_slots() {
            for qp in 0..self.qps.len() {
                self.wait_for(last, &tally, |sender| sender.qps[qp].room(sender.endpoint.config.depth) > 0)?;
                self.post(qp, 1, false).map_err(during(&label, "posting requests"))?;
            }
        }
        self.finish(last, &tally)
    }

    /// Makes the requests for messages of the size with this index.
    fn prepare(&mut self, size: usize) -> Result<(), VerbsError> {
        let bytes = self.endpoint.config.sizes[size];
        self.moderation = self.endpoint.config.moderation(bytes);
        self.qps.clear();
        for pair in &self.pairs {
            let list = self.list(pair, bytes as u32)?;
            self.qps.push(SendQp { pair, list, slot: 0, posted: 0, completed: 0, since: 0, on_demand: None });
        }
        Ok(())
    }

    /// Gives every queue pair memory to register for each message.
    fn refresh(&mut self, size: usize) -> Result<(), Reason> {
        let bytes = self.endpoint.config.sizes[size] as u32;
        for qp in &mut self.qps {
            qp.on_demand = Some(OnDemandMr::new(self.endpoint, qp.pair, bytes)?);
        }
        Ok(())
    }

    fn list(&self, pair: &Pair, bytes: u32) -> Result<SendList, VerbsError> {
        let (endpoint, config) = (self.endpoint, &self.endpoint.config);
        let (own, far) = sides(config.method.verb);
        let own_at = endpoint.layout.at(pair.number, own, 0) as usize;
        let message = message(endpoint, pair, bytes, &endpoint.region, own_at);
        // What it reads lies behind the message, where nobody looks.
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

    /// Posts lists until no queue pair has room for another one.
    #[inline]
    fn fill(&mut self) -> Result<(), VerbsError> {
        let (depth, list) = (self.endpoint.config.depth, self.endpoint.config.post_list);
        for qp in 0..self.qps.len() {
            while self.qps[qp].room(depth) >= list {
                self.post(qp, list, false)?;
            }
        }
        Ok(())
    }

    #[inline]
    fn post(&mut self, number: usize, count: usize, ends_group: bool) -> Result<(), VerbsError> {
        let layout = &self.endpoint.layout;
        let qp = &mut self.qps[number];
        if let Some(on_demand) = &mut qp.on_demand {
            qp.posted += 1;
            return on_demand.post(self.endpoint, qp.pair, (number as u64) << 32 | 1);
        }
        for at in 0..count {
            let entry = at * self.each;
            if layout.slots > 1 {
                let (own, far) = sides(self.endpoint.config.method.verb);
                let own = layout.at(qp.pair.number, own, qp.slot) as usize;
                let far = far_at(self.endpoint, qp.pair, far, qp.slot).address;
                qp.list.aim(entry, own, far);
                if self.each == 2 {
                    qp.list.aim(entry + 1, own + layout.stride as usize - PROOF as usize, far);
                }
                qp.slot = (qp.slot + 1) % layout.slots;
            }
            qp.since += 1;
            let signalled = ends_group || qp.since >= self.moderation;
            let last = entry + self.each - 1;
            qp.list.set_signalled(last, signalled);
            qp.list.set_id(last, (number as u64) << 32 | qp.since as u64);
            if signalled {
                qp.since = 0;
            }
        }
        qp.pair.qp.post_send(&mut qp.list, 0..count * self.each)?;
        qp.posted += count as u64;
        Ok(())
    }

    /// Takes what has completed.
    #[inline]
    fn reap(&mut self, size: usize, tally: &Tally) -> Result<(), VerbsError> {
        let count = wait(self.queue, &mut self.completions, &mut self.misses)?;
        let mut messages = 0;
        for completion in &self.completions[..count] {
            completion.check()?;
            let group = completion.id() & u64::from(u32::MAX);
            let qp = &mut self.qps[(completion.id() >> 32) as usize];
            qp.completed += group;
            messages += group;
            if let Some(on_demand) = &mut qp.on_demand {
                on_demand.done(group)?;
            }
        }
        if messages > 0 {
            tally.add(size, messages, now_ns());
        }
        Ok(())
    }

    /// Waits until all that was posted is done; how many messages that were since they were prepared.
    fn finish(&mut self, size: usize, tally: &Tally) -> Result<u64, Reason> {
        let label = self.endpoint.config.label();
        for qp in 0..self.qps.len() {
            if self.qps[qp].since > 0 {
                // One more that asks for a completion, which tells of all before it.
                self.post(qp, 1, true).map_err(during(&label, "posting requests"))?;
            }
        }
        self.wait_for(size, tally, |sender| sender.qps.iter().all(|qp| qp.completed == qp.posted))?;
        Ok(self.qps.iter().map(|qp| qp.posted).sum())
    }

    /// Takes completions until `done`; gives up when none comes for so long that none will.
    fn wait_for(&mut self, size: usize, tally: &Tally, done: impl Fn(&Self) -> bool) -> Result<(), Reason> {
        let label = self.endpoint.config.label();
        let mut deadline = drained();
        while !done(self) {
            let before: u64 = self.qps.iter().map(|qp| qp.completed).sum();
            self.reap(size, tally).map_err(during(&label, "moving messages"))?;
            let now: u64 = self.qps.iter().map(|qp| qp.completed).sum();
            if now > before {
                deadline = drained();
            } else {
                in_time(deadline, &label)?;
            }
        }
        Ok(())
    }
}

impl SendQp<'_> {
    /// Messages that may still be posted.
    fn room(&self, depth: usize) -> usize {
        depth.saturating_sub((self.posted - self.completed) as usize)
    }
}

fn in_time(deadline: Instant, label: &str) -> Result<(), Reason> {
    if Instant::now() < deadline {
        return Ok(());
    }
    let text = format!("{label}: no request completed for 5 s; the peer or the path to it is silent");
    Err(Reason::new(Cause::IoError, text))
}
