//! Reads one zone for a time, sequentially or at random, and counts the bytes.

use seatrial_model::{Cause, Nanos, Reason};
use seatrial_sys::clock::now_ns;
use seatrial_sys::storage::{Completion, Engine, Operation, Request};

use super::device::failed;
use super::zones::Zone;
use seatrial_bench::Latencies;
use seatrial_bench::Stop;
use seatrial_bench::payload::Permutation;
use seatrial_stats::mix;

/// Least length of a slice: twenty times a slow disk's time for a block, and twice the period in which the kernel's
/// throttle hands out bytes (DFL_THROTL_SLICE in block/blk-throttle.c).
const SLICE: Nanos = Nanos::millis(200);

/// Bytes from one completion to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DiskSlice {
    /// Time of a completion.
    pub start: Nanos,
    pub end: Nanos,
    /// Bytes completed after `start`, up to `end`.
    pub bytes: u64,
}

#[derive(Debug, Default)]
pub struct DiskTally {
    /// Bytes requested and delivered.
    pub bytes: u64,
    pub requests: u64,
    /// Requests after which the poison in the buffer was unchanged.
    pub undelivered: u64,
    /// The first undelivered request.
    pub first: Option<String>,
    pub latencies: Latencies,
}

impl DiskTally {
    pub fn add(&mut self, other: Self) {
        self.bytes += other.bytes;
        self.requests += other.requests;
        self.undelivered += other.undelivered;
        self.latencies.add(&other.latencies);
        if self.first.is_none() {
            self.first = other.first;
        }
    }
}

#[derive(Clone, Copy, Debug)]
pub struct Job<'a> {
    pub disk: &'a str,
    pub zone: &'a Zone,
    pub block: usize,
    /// Selects the start in the zone, so that no cache below holds the data of an earlier trial.
    pub key: u64,
    /// Whether blocks come in a shuffled order, each once per pass.
    pub random: bool,
    pub until: Nanos,
}

pub fn read(
    engine: &mut dyn Engine,
    job: &Job<'_>,
    stop: &Stop,
    tally: &mut DiskTally,
) -> Result<Vec<DiskSlice>, Reason> {
    let &Job { disk, zone, block, key, random, until } = job;
    let mark = mix(key ^ 0x5ea7_71a1).to_ne_bytes();
    let asked = vec![(0, Nanos(0)); engine.slots()];
    let order = random.then(|| Permutation::new(zone.blocks, key));
    let mut run = Run { engine, zone, block, mark, order, next: mix(key) % zone.blocks, asked };
    let (begun, before) = (Nanos(now_ns()), tally.bytes);
    for slot in 0..run.engine.slots() {
        run.ask(slot, begun);
    }
    let engine_failed = |errno| failed(disk, "reading it", errno);
    let (mut slices, mut done) = (Vec::new(), Vec::new());
    // The clock starts with the first completion, so that seeking to the zone is not counted.
    let mut slice: Option<DiskSlice> = None;
    let mut over = false;
    while run.engine.under_way() > 0 {
        done.clear();
        run.engine.wait(1, &mut done).map_err(engine_failed)?;
        let now = Nanos(now_ns());
        let mut came = 0;
        for completion in &done {
            came += run.check(disk, *completion, now, tally)?;
        }
        tally.bytes += came;
        if over {
            continue;
        }
        let current = slice.get_or_insert(DiskSlice { start: now, end: now, bytes: 0 });
        if current.start < now {
            current.bytes += came;
            current.end = now;
        }
        if now.since(current.start) >= SLICE {
            slices.push(*current);
            *current = DiskSlice { start: now, end: now, bytes: 0 };
        }
        over = now >= until || stop.is_over();
        if !over {
            done.iter().for_each(|completion| run.ask(completion.slot, now));
        }
    }
    // A short phase still yields one slice.
    if slices.is_empty() {
        // Where the disk took all of its time for the first requests, these count, from the first one on. A zone that began
        // after its time, which the one before took, has no rate.
        let all = DiskSlice { start: begun, end: Nanos(now_ns()), bytes: tally.bytes - before };
        let stalled = Some(all).filter(|all| begun < until && all.bytes > 0);
        slices.extend(slice.filter(|slice| slice.bytes > 0).or(stalled));
    }
    Ok(slices)
}

struct Run<'a> {
    engine: &'a mut dyn Engine,
    zone: &'a Zone,
    block: usize,
    mark: [u8; 8],
    /// `None` reads sequentially.
    order: Option<Permutation>,
    /// The next block, or its index in the order.
    next: u64,
    /// By slot: the offset of the request, and its start.
    asked: Vec<(u64, Nanos)>,
}

impl Run<'_> {
    /// Poisons both ends of the slot's buffer and submits a read of the next block.
    fn ask(&mut self, slot: usize, now: Nanos) {
        let memory = self.engine.buffer(slot);
        let (block, mark) = (self.block, self.mark);
        memory[..8].copy_from_slice(&mark);
        memory[block - 8..block].copy_from_slice(&mark);
        let number = self.order.map_or(self.next, |order| order.at(self.next));
        let offset = self.zone.start + number * block as u64;
        self.asked[slot] = (offset, now);
        self.next = (self.next + 1) % self.zone.blocks;
        self.engine.queue(Request { slot, file: 0, operation: Operation::Read, offset, bytes: block });
    }

    /// Bytes of a completed request. Poison that is gone at both ends shows that the disk's data arrived.
    fn check(
        &mut self,
        disk: &str,
        completion: Completion,
        now: Nanos,
        tally: &mut DiskTally,
    ) -> Result<u64, Reason> {
        let (offset, since) = self.asked[completion.slot];
        let place = || format!("reading it at offset {offset}");
        let bytes = completion.result.map_err(|errno| failed(disk, &place(), errno))?;
        if bytes < self.block {
            let text = format!("{disk}: {} gave {bytes} of {} B", place(), self.block);
            return Err(Reason::new(Cause::IoError, text));
        }
        let memory = self.engine.buffer(completion.slot);
        let stays = memory[..8] == self.mark || memory[self.block - 8..self.block] == self.mark;
        tally.requests += 1;
        tally.latencies.record(now.since(since));
        if stays {
            tally.undelivered += 1;
            tally
                .first
                .get_or_insert_with(|| format!("{disk}: the block at offset {offset} was not delivered"));
        }
        Ok(bytes as u64)
    }
}

#[cfg(test)]
mod tests {
    use std::thread;
    use std::time::Duration;

    use super::*;

    const BLOCK: usize = 4096;

    /// A disk that needs 20 ms for all that it was asked for.
    #[derive(Default)]
    struct SlowDisk {
        buffers: [Vec<u8>; 2],
        queued: Vec<usize>,
    }

    impl Engine for SlowDisk {
        fn name(&self) -> &'static str {
            "slow"
        }
        fn slots(&self) -> usize {
            self.buffers.len()
        }
        fn buffer(&mut self, slot: usize) -> &mut [u8] {
            self.buffers[slot].resize(BLOCK, 0);
            &mut self.buffers[slot]
        }
        fn queue(&mut self, request: Request) {
            self.queued.push(request.slot);
        }
        fn overlaps(&self) -> bool {
            true
        }
        fn hand_over(&mut self) -> Result<(), seatrial_sys::Errno> {
            Ok(())
        }
        fn wait(&mut self, _: usize, done: &mut Vec<Completion>) -> Result<(), seatrial_sys::Errno> {
            thread::sleep(Duration::from_millis(20));
            for slot in self.queued.drain(..) {
                self.buffers[slot].fill(0);
                done.push(Completion { slot, result: Ok(BLOCK) });
            }
            Ok(())
        }
        fn under_way(&self) -> usize {
            self.queued.len()
        }
    }

    #[test]
    fn a_zone_that_takes_all_of_its_time_for_the_first_requests_has_their_rate() {
        let zone = Zone { position: 50, start: 0, blocks: 16 };
        let read = |until: Nanos| {
            let job = Job { disk: "sda", zone: &zone, block: BLOCK, key: 1, random: false, until };
            let stop = Stop::after(Duration::from_secs(60));
            read(&mut SlowDisk::default(), &job, &stop, &mut DiskTally::default()).expect("read")
        };
        let now = Nanos(now_ns());
        let slices = read(now.plus(Nanos::millis(5)));
        let [slice] = &slices[..] else { panic!("{slices:?}") };
        assert_eq!(slice.bytes, 2 * BLOCK as u64);
        assert!(slice.end.since(slice.start) >= Nanos::millis(20), "{slice:?}");
        assert_eq!(read(now), [], "its time was over before it began");
    }
}
