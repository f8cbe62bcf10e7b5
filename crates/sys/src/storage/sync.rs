//! The synchronous engine: pread(2) and pwrite(2).

use std::collections::VecDeque;
use std::os::fd::{AsFd, OwnedFd};

use rustix::io::{Errno, pread, pwrite};

use super::whole::whole;
use super::{Buffers, Completion, Engine, Operation, Request};

/// One request at a time: queued requests wait for it.
#[derive(Debug)]
pub struct Sync {
    files: Vec<OwnedFd>,
    buffers: Buffers,
    queue: VecDeque<Request>,
}

impl Sync {
    pub const fn new(files: Vec<OwnedFd>, buffers: Buffers) -> Self {
        Self { files, buffers, queue: VecDeque::new() }
    }

    fn run(&mut self, request: Request) -> Result<usize, Errno> {
        let Request { slot, file, operation, offset, bytes } = request;
        let file = self.files[file].as_fd();
        let memory = &mut self.buffers.slot(slot)[..bytes];
        whole(bytes, |moved| match operation {
            Operation::Read => pread(file, &mut memory[moved..], offset + moved as u64),
            Operation::Write => pwrite(file, &memory[moved..], offset + moved as u64),
        })
    }
}

impl Engine for Sync {
    fn name(&self) -> &'static str {
        "sync"
    }

    fn slots(&self) -> usize {
        self.buffers.count()
    }

    fn buffer(&mut self, slot: usize) -> &mut [u8] {
        self.buffers.slot(slot)
    }

    fn queue(&mut self, request: Request) {
        assert!(request.bytes <= self.buffers.each() && request.file < self.files.len(), "{request:?}");
        assert!(self.queue.iter().all(|other| other.slot != request.slot), "{request:?} is queued twice");
        self.queue.push_back(request);
    }

    fn overlaps(&self) -> bool {
        false
    }

    fn hand_over(&mut self) -> Result<(), Errno> {
        Ok(())
    }

    fn wait(&mut self, count: usize, done: &mut Vec<Completion>) -> Result<(), Errno> {
        for _ in 0..count {
            let Some(request) = self.queue.pop_front() else { break };
            done.push(Completion { slot: request.slot, result: self.run(request) });
        }
        Ok(())
    }

    fn under_way(&self) -> usize {
        self.queue.len()
    }
}
