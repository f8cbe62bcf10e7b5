//! What an engine does, however it does it.

use rustix::io::Errno;

/// Which way the data goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// From the file into the slot.
    Read,
    /// From the slot into the file.
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

/// One request to a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// The slot whose memory it uses, from its beginning.
    pub slot: usize,
    /// Which of the engine's files.
    pub file: usize,
    pub operation: Operation,
    /// Where in the file, in bytes.
    pub offset: u64,
    /// How many bytes, at most the size of a slot.
    pub bytes: usize,
}

/// A request that is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Completion {
    /// Its slot, which is ours again.
    pub slot: usize,
    /// Bytes moved, or the system's answer. Fewer bytes than asked for only at the end of the file: what a request
    /// leaves is asked for again before it counts as over.
    pub result: Result<usize, Errno>,
}

/// Moves blocks between its own memory and files. One thread's, the one that made it.
pub trait Engine {
    /// How it does it, in a word.
    fn name(&self) -> &'static str;

    /// How many slots it has.
    fn slots(&self) -> usize;

    /// The memory of a slot that is not under way.
    ///
    /// # Panics
    /// When it is.
    fn buffer(&mut self, slot: usize) -> &mut [u8];

    /// Queues a request. It starts with the next [`Self::hand_over`] or [`Self::wait`].
    ///
    /// # Panics
    /// When its slot is under way, or it asks for more bytes than a slot has or for a file that is not there.
    fn queue(&mut self, request: Request);

    /// Whether requests that were handed over go on while the thread does something else.
    fn overlaps(&self) -> bool;

    /// Starts what is queued, as far as that needs no waiting.
    ///
    /// # Errors
    /// When the engine itself fails; a request that fails is a completion.
    fn hand_over(&mut self) -> Result<(), Errno>;

    /// Starts what is queued and waits until at least `count` requests are over, or none is left; adds those and all
    /// others that are over to `done`.
    fn wait(&mut self, count: usize, done: &mut Vec<Completion>) -> Result<(), Errno>;

    /// Requests queued or under way.
    fn under_way(&self) -> usize;
}
