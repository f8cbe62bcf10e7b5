//! A thread's requests to a simulated device, which completes a set number at a time and counts the requests in
//! flight.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;
use std::sync::Arc;

use seatrial_model::Nanos;
use seatrial_sys::Errno;
use seatrial_sys::storage::{Completion, Engine, Operation, Request};

use super::rig::params;
use crate::io::job::JobSpec;
use crate::io::watch::Watch;
use crate::io::work::{BATCH, IoQueue, Tools, slots};
use seatrial_bench::payload::Payload;

/// What the device saw while blocks remained that nobody had requested.
#[derive(Debug)]
struct Seen {
    left: u64,
    /// Requests in flight each time the thread waited.
    waited_with: Vec<usize>,
    /// Most buffers that the thread made or checked between two submissions, while the device had fewer requests than
    /// `depth`.
    longest_pause: usize,
    /// Fewest requests in flight while the thread made or checked a buffer, after the queue was full for the first
    /// time.
    fewest: usize,
}

impl Seen {
    fn new(left: u64) -> Self {
        Self { left, waited_with: Vec::new(), longest_pause: 0, fewest: usize::MAX }
    }
}

struct Device {
    bytes: Vec<u8>,
    slots: Vec<Vec<u8>>,
    queued: Vec<Request>,
    held: VecDeque<Request>,
    /// Whether requests progress before the thread waits.
    overlaps: bool,
    /// Whether it completes the newest requests first, else the oldest.
    newest_first: bool,
    depth: usize,
    answers: usize,
    /// Buffers that the thread has used since the last submission, with fewer requests in flight than `depth`.
    pause: usize,
    seen: Rc<RefCell<Seen>>,
}

impl Device {
    fn accept(&mut self) {
        self.held.extend(self.queued.drain(..));
        self.pause = 0;
    }
}

impl Engine for Device {
    fn name(&self) -> &'static str {
        "device"
    }

    fn slots(&self) -> usize {
        self.slots.len()
    }

    fn buffer(&mut self, slot: usize) -> &mut [u8] {
        let mut seen = self.seen.borrow_mut();
        self.pause += usize::from(self.held.len() < self.depth);
        if seen.left > 0 && !seen.waited_with.is_empty() {
            seen.longest_pause = seen.longest_pause.max(self.pause);
            seen.fewest = seen.fewest.min(self.held.len());
        }
        &mut self.slots[slot]
    }

    fn queue(&mut self, request: Request) {
        self.queued.push(request);
        let mut seen = self.seen.borrow_mut();
        seen.left = seen.left.saturating_sub(1);
    }

    fn overlaps(&self) -> bool {
        self.overlaps
    }

    fn hand_over(&mut self) -> Result<(), Errno> {
        assert!(self.overlaps, "the clock of these requests runs from now on, and nothing happens to them");
        self.accept();
        Ok(())
    }

    fn wait(&mut self, count: usize, done: &mut Vec<Completion>) -> Result<(), Errno> {
        self.accept();
        let mut seen = self.seen.borrow_mut();
        if seen.left > 0 {
            seen.waited_with.push(self.held.len());
        }
        drop(seen);
        let over = self.answers.max(count).min(self.held.len());
        if self.newest_first {
            self.held.make_contiguous().reverse();
        }
        for Request { slot, operation, offset, bytes, .. } in self.held.drain(..over) {
            let (memory, there) = (&mut self.slots[slot][..bytes], offset as usize..offset as usize + bytes);
            match operation {
                Operation::Read => memory.copy_from_slice(&self.bytes[there]),
                Operation::Write => self.bytes[there].copy_from_slice(memory),
            }
            done.push(Completion { slot, result: Ok(bytes) });
        }
        if self.newest_first {
            self.held.make_contiguous().reverse();
        }
        Ok(())
    }

    fn under_way(&self) -> usize {
        self.queued.len() + self.held.len()
    }
}

fn job(operation: &str, block: &str, depth: usize, work: &str) -> Arc<JobSpec> {
    let number = depth.to_string();
    let job = JobSpec::of(&params(&[
        ("operation", operation),
        ("pattern", "random"),
        ("block", block),
        ("size", "8 MiB"),
        ("depth", &number),
        ("work", work),
    ]));
    Arc::new(job.expect("a job"))
}

/// A thread whose device completes `answers` requests at a time.
fn queue(job: &Arc<JobSpec>, depth: usize, answers: usize, seen: &Rc<RefCell<Seen>>) -> IoQueue {
    let device = Device {
        bytes: vec![0; job.part_bytes() as usize],
        slots: vec![vec![0; job.block]; slots(depth)],
        queued: Vec::new(),
        held: VecDeque::new(),
        overlaps: depth > 1,
        newest_first: job.operation.reads() && job.operation.writes(),
        depth,
        answers,
        pause: 0,
        seen: Rc::clone(seen),
    };
    let tools = Tools {
        job: Arc::clone(job),
        payload: Arc::new(Payload::new(7, 0.0)),
        watch: Watch::new(0, 0, slots(depth)),
        number: 0,
        file: tempfile::tempfile().expect("a file").into(),
        engine: Box::new(device),
        depth,
    };
    IoQueue::new(tools, 9)
}

fn seen(operation: &str, block: &str, depth: usize, answers: usize) -> Seen {
    let job = job(operation, block, depth, "once");
    let seen = Rc::new(RefCell::new(Seen::new(job.blocks)));
    let mut queue = queue(&job, depth, answers, &seen);
    if job.is_laid_out() {
        queue.lay_out(0, &|_| false).expect("laid out");
        seen.replace(Seen::new(job.blocks));
    }
    let tally = queue.work(&|_| false, Nanos::secs(1)).expect("works");
    assert_eq!(tally.requests, job.blocks);
    let read = if operation == "read" { job.blocks } else { 0 };
    assert_eq!((queue.checked().blocks, queue.checked().wrong), (read, 0));
    drop(queue);
    Rc::into_inner(seen).expect("the device is gone").into_inner()
}

#[test]
fn the_device_always_has_as_many_requests_as_were_asked_for_while_blocks_are_left() {
    for operation in ["read", "write"] {
        for (block, depth) in [("4 KiB", 1), ("4 KiB", 3), ("4 KiB", 128), ("256 KiB", 8)] {
            for answers in [1, 5, depth] {
                let seen = seen(operation, block, depth, answers);
                let short = seen.waited_with.iter().find(|held| **held != depth);
                assert_eq!(short, None, "{operation} {block} {depth} {answers}: {seen:?}");
                assert!(!seen.waited_with.is_empty());
            }
        }
    }
}

#[test]
fn a_device_that_is_done_with_all_at_once_gets_the_next_requests_before_all_of_them_are_made() {
    for (operation, times) in [("read", 2), ("write", 1)] {
        // A read is also checked.
        let small = seen(operation, "4 KiB", 128, 128);
        assert!(small.longest_pause <= times * BATCH, "{operation}: {small:?}");
        let large = seen(operation, "256 KiB", 8, 8);
        assert!(large.longest_pause <= times, "{operation}: {large:?}");
    }
}

#[test]
fn a_device_that_answers_one_by_one_has_all_but_one_while_the_next_is_made() {
    for operation in ["read", "write"] {
        for (block, depth) in [("4 KiB", 128), ("256 KiB", 8)] {
            let seen = seen(operation, block, depth, 1);
            assert!(seen.fewest >= depth - 1, "{operation} {block}: {seen:?}");
        }
    }
}

#[test]
fn the_clock_of_a_request_does_not_run_while_an_engine_that_does_one_at_a_time_is_not_waited_for() {
    // The device fails the test when the thread works between a submission and a wait.
    for operation in ["read", "write"] {
        seen(operation, "256 KiB", 1, 1);
    }
}

#[test]
fn when_the_second_pass_began_is_known_from_then_on() {
    let job = job("write", "256 KiB", 8, "time");
    let seen = Rc::new(RefCell::new(Seen::new(job.blocks)));
    let mut queue = queue(&job, 8, 1, &seen);
    let mut work = |count: usize| {
        let left = std::cell::Cell::new(count);
        let over = |_| {
            left.set(left.get() - 1);
            left.get() == 0
        };
        queue.work(&over, Nanos::secs(1)).expect("works")
    };
    assert_eq!((job.blocks, work(10).second), (32, None));
    let tally = work(30);
    let second = tally.second.expect("more than 32 blocks are begun");
    assert!(tally.slices[0].start < second && second < tally.stopped, "{tally:?}");
    assert_eq!(work(5).second, Some(second));
}

#[test]
fn a_read_waits_for_the_write_to_its_block_of_the_pass_before() {
    let job = job("mixed", "256 KiB", 8, "time");
    for answers in [1, 3] {
        let seen = Rc::new(RefCell::new(Seen::new(job.blocks)));
        let mut queue = queue(&job, 8, answers, &seen);
        queue.lay_out(0, &|_| false).expect("laid out");
        let left = std::cell::Cell::new(1000);
        let over = |_| {
            left.set(left.get() - 1);
            left.get() == 0
        };
        let tally = queue.work(&over, Nanos::secs(1)).expect("works");
        let checked = queue.checked();
        assert!(tally.passes > 20 && checked.blocks > 100 && checked.wrong == 0, "{answers}: {checked:?}");
    }
}
