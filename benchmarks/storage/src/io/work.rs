//! One thread's requests: prepared ahead, kept in flight, checked on completion.

use std::collections::VecDeque;
use std::num::NonZeroU64;
use std::os::fd::OwnedFd;
use std::sync::Arc;

use rustix::fs::{Advice, fadvise};
use seatrial_model::{Cause, Nanos, Reason};
use seatrial_sys::clock;
use seatrial_sys::storage::{Completion, Engine, Operation as IoOperation, Request};

use super::access_pattern::{AccessPattern, BlockIo};
use super::job::JobSpec;
use super::watch::Watch;
use seatrial_bench::Latencies;
use seatrial_bench::directory::{When, error};
use seatrial_bench::payload::{Block, Fault, Payload};

/// Block size from which making or checking takes so long that the device could run idle: each such request is
/// submitted by its own call, and some are made ahead. For smaller blocks that costs more than it gains.
const LENGTHY: usize = 64 << 10;

/// Smaller requests that share a call: this many are submitted before another block is made or checked. Otherwise
/// device and thread would wait for each other in turn when a fast device completes all of them at once.
pub const BATCH: usize = 32;

/// Most long requests that are made ahead.
const AHEAD: usize = 4;

pub struct Tools {
    pub job: Arc<JobSpec>,
    pub payload: Arc<Payload>,
    pub watch: Arc<Watch>,
    pub number: usize,
    /// The file, for flushing and other calls besides requests.
    pub file: OwnedFd,
    pub engine: Box<dyn Engine>,
    pub depth: usize,
}

/// Slots that an engine needs for this many requests in flight.
pub fn slots(depth: usize) -> usize {
    depth + depth.min(AHEAD)
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Slice {
    pub start: Nanos,
    pub end: Nanos,
    pub read: u64,
    pub written: u64,
}

#[derive(Clone, Debug, Default)]
pub struct Tally {
    pub slices: Vec<Slice>,
    /// When the thread stopped starting requests: the time was over, or no block was left.
    pub stopped: Nanos,
    pub latencies: Latencies,
    pub requests: u64,
    pub passes: u64,
    /// When the second pass began, in whichever phase: from then on every write overwrites a block.
    pub second: Option<Nanos>,
}

struct Meter {
    tally: Tally,
    open: Slice,
    span: Nanos,
}

impl Meter {
    fn add(&mut self, write: bool, bytes: u64, latency: Nanos, now: Nanos) {
        if write {
            self.open.written += bytes;
        } else {
            self.open.read += bytes;
        }
        self.open.end = now;
        self.tally.requests += 1;
        self.tally.latencies.record(latency);
    }

    /// Ends the slice when `span` is reached, or `by_force`.
    fn cut(&mut self, now: Nanos, by_force: bool) {
        if now.since(self.open.start) >= self.span || (by_force && self.open.end > self.open.start) {
            self.tally.slices.push(Slice { end: now, ..self.open });
            self.open = Slice { start: now, end: now, read: 0, written: 0 };
        }
    }
}

#[derive(Clone, Debug, Default)]
pub struct Checked {
    pub bytes: u64,
    pub blocks: u64,
    pub wrong: u64,
    pub first: Option<Fault>,
}

#[derive(Clone, Copy, Debug)]
struct Flying {
    io: BlockIo,
    since: Nanos,
}

pub struct IoQueue {
    tools: Tools,
    access: AccessPattern,
    free: Vec<usize>,
    /// Prepared requests that are not queued yet.
    ready: VecDeque<(usize, BlockIo)>,
    /// Requests in flight, by slot.
    flying: Vec<Option<Flying>>,
    /// Slots of requests that are queued but not submitted.
    queued: Vec<usize>,
    /// Requests in flight of passes before `latest`.
    old: usize,
    latest: u64,
    second: Option<Nanos>,
    checked: Checked,
}

impl IoQueue {
    /// The queue of a new thread; its access pattern is derived from `key`.
    pub fn new(mut tools: Tools, key: u64) -> Self {
        let count = tools.engine.slots().min(slots(tools.depth));
        for slot in 0..count {
            let (file, offset) = (tools.number as u32, (slot * tools.job.block) as u64);
            tools.payload.prepare(Block { file, offset, generation: 0 }, tools.engine.buffer(slot));
        }
        let access = AccessPattern::new(&tools.job, key);
        Self {
            access,
            free: (0..count).rev().collect(),
            ready: VecDeque::with_capacity(count),
            flying: vec![None; count],
            queued: Vec::with_capacity(count),
            old: 0,
            latest: 0,
            second: None,
            checked: Checked::default(),
            tools,
        }
    }

    pub fn file(&self) -> &OwnedFd {
        &self.tools.file
    }

    pub fn checked(&self) -> &Checked {
        &self.checked
    }

    /// Writes generation 0 of every block of the part but the first `laid`, sequentially, unless `over`.
    pub fn lay_out(&mut self, laid: u64, over: &dyn Fn(Nanos) -> bool) -> Result<(), Reason> {
        let mut next = laid;
        let blocks = self.tools.job.blocks;
        let source = move |_: &mut AccessPattern| {
            next += 1;
            (next <= blocks).then_some(BlockIo { block: next - 1, pass: 0, write: true, generation: 0 })
        };
        self.drive(source, over, Nanos::secs(1), When::Making).map(drop)
    }

    /// Visits the blocks until `over`, or once each.
    pub fn work(&mut self, over: &dyn Fn(Nanos) -> bool, span: Nanos) -> Result<Tally, Reason> {
        let once = self.tools.job.once;
        let source =
            move |access: &mut AccessPattern| (!once || access.pass() == 1).then(|| access.advance());
        self.drive(source, over, span, When::Using)
    }

    /// Reads at most `most` blocks from all over the part and checks them, until `over`.
    pub fn read_back(&mut self, most: u64, over: &dyn Fn(Nanos) -> bool) -> Result<(), Reason> {
        // Writes that were prepared but never submitted are not on the device.
        let unwritten: Vec<u64> =
            self.ready.iter().filter(|(_, io)| io.write).map(|(_, io)| io.block).collect();
        self.free.extend(self.ready.drain(..).map(|(slot, _)| slot));
        let (blocks, laid_out) = (self.tools.job.blocks, self.tools.job.is_laid_out());
        let most = most.clamp(1, blocks);
        let mut number = 0;
        let source = move |access: &mut AccessPattern| {
            while number < most {
                let block = (u128::from(number) * u128::from(blocks) / u128::from(most)) as u64;
                number += 1;
                let generation = access.generation(block);
                if (generation > 0 || laid_out) && !unwritten.contains(&block) {
                    return Some(BlockIo { block, pass: u64::MAX, write: false, generation });
                }
            }
            None
        };
        self.drive(source, over, Nanos::secs(1), When::Using).map(drop)
    }

    /// Keeps requests in flight until the source is empty or `over`, then waits for the last of them.
    fn drive(
        &mut self,
        mut source: impl FnMut(&mut AccessPattern) -> Option<BlockIo>,
        over: &dyn Fn(Nanos) -> bool,
        span: Nanos,
        when: When,
    ) -> Result<Tally, Reason> {
        let start = Nanos(clock::now_ns());
        let open = Slice { start, end: start, read: 0, written: 0 };
        let mut meter = Meter { tally: Tally::default(), open, span };
        let (mut done, mut back) = (Vec::new(), Vec::new());
        let mut stopped = None;
        let ahead = if self.is_lengthy() && self.makes_data() { self.tools.depth.min(AHEAD) } else { 0 };
        loop {
            if stopped.is_none() {
                self.begin(&mut source)?;
            }
            for (slot, io) in back.drain(..) {
                self.take_back(slot, &io)?;
                if stopped.is_none() {
                    self.begin(&mut source)?;
                }
            }
            while stopped.is_none() && self.ready.len() < ahead && self.make(&mut source)? {}
            if self.tools.engine.under_way() == 0 {
                if stopped.is_some() || self.ready.is_empty() {
                    break;
                }
                continue;
            }
            self.stamp_queued();
            let waited = self.tools.engine.wait(1, &mut done);
            waited.map_err(|errno| error(When::Using, "waiting for a request", errno))?;
            let now = Nanos(clock::now_ns());
            for completion in done.drain(..) {
                let (io, latency) = self.land(completion, now, when)?;
                meter.add(io.write, self.tools.job.block as u64, latency, now);
                back.push((completion.slot, io));
            }
            meter.cut(now, false);
            if stopped.is_none() && over(now) {
                stopped = Some(now);
            }
        }
        let now = meter.open.end;
        meter.cut(now, true);
        meter.tally.stopped = stopped.unwrap_or(now);
        meter.tally.passes = self.access.pass();
        meter.tally.second = self.second;
        Ok(meter.tally)
    }

    fn is_lengthy(&self) -> bool {
        self.tools.job.block >= LENGTHY
    }

    /// Without data to make or check, blocks ahead would only spread requests over more memory.
    fn makes_data(&self) -> bool {
        self.tools.payload.checked_bytes(self.tools.job.block) > 0
    }

    fn begin(
        &mut self,
        source: &mut impl FnMut(&mut AccessPattern) -> Option<BlockIo>,
    ) -> Result<(), Reason> {
        while self.tools.engine.under_way() < self.tools.depth {
            if self.ready.is_empty() && !self.make(source)? {
                break;
            }
            let Some((slot, io)) = self.ready.front().copied() else { break };
            if io.pass > self.latest {
                // Requests in flight would wait for the page cache to be emptied.
                if self.empties_page_cache() && self.tools.engine.under_way() > 0 {
                    break;
                }
                self.latest = io.pass;
                if io.pass == 2 {
                    self.second = Some(Nanos(clock::now_ns()));
                }
                self.old = self.flying.iter().flatten().count();
                self.drop_cached_pages();
            }
            // Two requests to one block at the same time would race. Within a pass every block comes once, so only
            // requests of an earlier pass can conflict.
            let in_the_way = |other: &Flying| other.io.block == io.block && (other.io.write || io.write);
            if self.old > 0 && self.flying.iter().flatten().any(in_the_way) {
                break;
            }
            self.ready.pop_front();
            let offset = self.offset(io.block);
            self.flying[slot] = Some(Flying { io, since: Nanos(0) });
            self.queued.push(slot);
            let operation = if io.write { IoOperation::Write } else { IoOperation::Read };
            let bytes = self.tools.job.block;
            self.tools.engine.queue(Request { slot, file: 0, operation, offset, bytes });
        }
        Ok(())
    }

    /// Called before a block is made or checked: submits the queued requests if they are enough for a call.
    fn submit_queued(&mut self) -> Result<(), Reason> {
        let enough = if self.is_lengthy() { 1 } else { BATCH };
        // Not with an engine that only progresses in a wait, nor through the page cache, which often serves a request within the
        // call: the thread's own work would count as time of the request.
        if self.queued.len() < enough || !self.tools.engine.overlaps() || !self.tools.job.direct {
            return Ok(());
        }
        self.stamp_queued();
        let handed = self.tools.engine.hand_over();
        handed.map_err(|errno| error(When::Using, "submitting requests", errno))
    }

    /// Notes the time of submission, after the blocks of these requests were made: that time is not the storage's. One clock
    /// reading serves all queued requests. What the thread does until it looks for completions does count.
    fn stamp_queued(&mut self) {
        if self.queued.is_empty() {
            return;
        }
        let since = Nanos(clock::now_ns());
        for slot in self.queued.drain(..) {
            if let Some(flying) = &mut self.flying[slot] {
                flying.since = since;
                let BlockIo { write, block, .. } = flying.io;
                let offset = self.tools.job.offset(self.tools.number, block);
                self.tools.watch.begins(slot, write, offset, since);
            }
        }
    }

    /// Prepares the next request; false without a request or a free slot.
    fn make(
        &mut self,
        source: &mut impl FnMut(&mut AccessPattern) -> Option<BlockIo>,
    ) -> Result<bool, Reason> {
        let Some(slot) = self.free.pop() else { return Ok(false) };
        let Some(io) = source(&mut self.access) else {
            self.free.push(slot);
            return Ok(false);
        };
        self.submit_queued()?;
        let block = self.block(&io);
        let buffer = self.tools.engine.buffer(slot);
        if io.write {
            self.tools.payload.fill(block, buffer);
        } else {
            self.tools.payload.poison(buffer);
        }
        self.ready.push_back((slot, io));
        Ok(true)
    }

    fn land(&mut self, completion: Completion, now: Nanos, when: When) -> Result<(BlockIo, Nanos), Reason> {
        let Completion { slot, result } = completion;
        self.tools.watch.ends(slot);
        let flying = self.flying[slot].take();
        let flying = flying.ok_or_else(|| {
            Reason::new(Cause::Protocol, "the completion of a request that was not submitted")
        })?;
        let Flying { io, since } = flying;
        debug_assert!(since > Nanos(0), "a request that was submitted without a time");
        self.old -= usize::from(io.pass < self.latest && self.old > 0);
        let what = || {
            let word = if io.write { "write" } else { "read" };
            let (offset, file) = (self.offset(io.block), self.tools.job.file_of(self.tools.number));
            format!("a {word} of {} B at offset {offset} of file {file}", self.tools.job.block)
        };
        match result {
            Ok(moved) if moved == self.tools.job.block => Ok((io, now.since(since))),
            Ok(moved) => {
                let text = format!("{} ended after {moved} B", what());
                Err(Reason::new(Cause::IoError, text))
            }
            Err(errno) => Err(error(when, &what(), errno)),
        }
    }

    fn take_back(&mut self, slot: usize, io: &BlockIo) -> Result<(), Reason> {
        if !io.write {
            self.submit_queued()?;
            let block = self.block(io);
            self.checked.blocks += 1;
            self.checked.bytes += self.tools.payload.checked_bytes(self.tools.job.block) as u64;
            if let Err(fault) = self.tools.payload.check(block, self.tools.engine.buffer(slot)) {
                self.checked.wrong += 1;
                self.checked.first.get_or_insert(fault);
            }
        }
        self.free.push(slot);
        Ok(())
    }

    fn offset(&self, block: u64) -> u64 {
        self.tools.job.offset(self.tools.number, block)
    }

    fn block(&self, io: &BlockIo) -> Block {
        let file = self.tools.job.file_of(self.tools.number);
        Block { file: file as u32, offset: self.offset(io.block), generation: io.generation }
    }

    fn empties_page_cache(&self) -> bool {
        !self.tools.job.direct && self.tools.job.operation.reads()
    }

    /// Drops the page cache of the part before it is read again. Dirty pages stay; the evidence shows how much came
    /// from the device.
    fn drop_cached_pages(&self) {
        let JobSpec { blocks, block, .. } = *self.tools.job;
        if self.empties_page_cache() {
            let (offset, end) = (self.offset(0), self.offset(blocks - 1) + block as u64);
            let _ = fadvise(&self.tools.file, offset, NonZeroU64::new(end - offset), Advice::DontNeed);
        }
    }
}
