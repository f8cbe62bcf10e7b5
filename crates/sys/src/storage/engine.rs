//! The interface of I/O engines.

use rustix::io::Errno;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    Read,
    Write,
}

impl Operation {
    pub const fn word(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// The slot whose buffer the request uses from its start.
    pub slot: usize,
    pub file: usize,
    pub operation: Operation,
    pub offset: u64,
    pub bytes: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Completion {
    pub slot: usize,
    /// Bytes moved, or the error. Fewer bytes than requested only at the end of the file: engines resubmit the rest
    /// of a short transfer.
    pub result: Result<usize, Errno>,
}

/// Moves blocks between its own memory and files, used only by the thread that made it.
pub trait Engine {
    fn name(&self) -> &'static str;

    fn slots(&self) -> usize;

    /// The buffer of a slot; panics when the slot is in flight.
    fn buffer(&mut self, slot: usize) -> &mut [u8];

    /// Queues a request for the next [`Self::hand_over`] or [`Self::wait`]; panics when its slot is in flight, or its
    /// slot, bytes or file are invalid.
    fn queue(&mut self, request: Request);

    /// Whether submitted requests progress while the thread does something else.
    fn overlaps(&self) -> bool;

    /// Submits queued requests without waiting. A failed request is a completion, not an error.
    fn hand_over(&mut self) -> Result<(), Errno>;

    /// Submits queued requests and waits until at least `count` are complete, or none is left; appends all
    /// completions to `done`.
    fn wait(&mut self, count: usize, done: &mut Vec<Completion>) -> Result<(), Errno>;

    fn under_way(&self) -> usize;
}
