//! Windows of non-blocking messages. The memory for the requests is taken once, not for each window.
#![expect(unsafe_code, reason = "calls functions of the library")]

use super::communicator::{Communicator, Requests, length, rank_of};
use super::error::MpiError;

/// Where the messages of a window stand in memory, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WindowLayout {
    /// Place of the first message.
    pub first: usize,
    /// From one message to the next; 0 where all have the same place.
    pub stride: usize,
    /// Bytes of a message.
    pub size: usize,
    pub count: usize,
}

impl WindowLayout {
    /// Where the last message ends.
    pub const fn end(&self) -> usize {
        self.first + self.count.saturating_sub(1) * self.stride + self.size
    }
}

/// Room for the requests of one window after the other.
#[derive(Debug)]
pub struct Window<'a> {
    ranks: &'a Communicator<'a>,
    requests: Requests<'a>,
}

impl<'a> Window<'a> {
    /// A window of at most so many messages that are sent and received together.
    pub fn new(ranks: &'a Communicator<'a>, most: usize) -> Self {
        Self { ranks, requests: Requests::new(ranks.mpi, most) }
    }

    /// Starts all receives, then all sends, with rank `peer`, and returns when all are done. Received messages that have
    /// the same place overwrite each other in any order, as in OSU's benchmarks.
    ///
    /// # Panics
    /// When the messages are more than the window has room for, or do not lie in their memory.
    pub fn exchange(
        &mut self,
        peer: usize,
        tag: u16,
        out: Option<(&[u8], WindowLayout)>,
        into: Option<(&mut [u8], WindowLayout)>,
    ) -> Result<(), MpiError> {
        let messages =
            out.map_or(0, |(_, layout)| layout.count) + into.as_ref().map_or(0, |(_, layout)| layout.count);
        assert!(messages <= self.requests.room(), "{messages} messages in a window");
        self.requests.started = 0;
        let started = self.start(peer, tag, out, into);
        // What was started has to end before the memory may go.
        self.requests.wait()?;
        started
    }

    fn start(
        &mut self,
        peer: usize,
        tag: u16,
        out: Option<(&[u8], WindowLayout)>,
        into: Option<(&mut [u8], WindowLayout)>,
    ) -> Result<(), MpiError> {
        let (mpi, handle) = (self.ranks.mpi, self.ranks.handle);
        let (byte, peer) = (mpi.constants.byte, rank_of(peer));
        if let Some((memory, layout)) = into {
            assert!(layout.end() <= memory.len(), "{layout:?} in {} bytes", memory.len());
            let (count, base) = (length(layout.size)?, memory.as_mut_ptr());
            let entry = mpi.table.start_receive;
            let function = entry.function.ok_or_else(|| mpi.missing(entry.symbol))?;
            let code = self.requests.start_all(layout.count, |number, request| {
                let at = base.wrapping_add(layout.first + number * layout.stride).cast();
                // SAFETY: the message lies in `memory`, as asserted, which lives until the request is waited for.
                unsafe { function(at, count, byte, peer, tag.into(), handle, request) }
            });
            mpi.answer(entry.symbol, code)?;
        }
        if let Some((memory, layout)) = out {
            assert!(layout.end() <= memory.len(), "{layout:?} in {} bytes", memory.len());
            let (count, base) = (length(layout.size)?, memory.as_ptr());
            let entry = mpi.table.start_send;
            let function = entry.function.ok_or_else(|| mpi.missing(entry.symbol))?;
            let code = self.requests.start_all(layout.count, |number, request| {
                let at = base.wrapping_add(layout.first + number * layout.stride).cast();
                // SAFETY: as above.
                unsafe { function(at, count, byte, peer, tag.into(), handle, request) }
            });
            mpi.answer(entry.symbol, code)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_layout_ends_with_its_last_message() {
        let layout = WindowLayout { first: 128, stride: 64, size: 8, count: 3 };
        assert_eq!(layout.end(), 264);
        assert_eq!(WindowLayout { stride: 0, ..layout }.end(), 136);
        assert_eq!(WindowLayout { count: 0, ..layout }.end(), 136);
    }
}
