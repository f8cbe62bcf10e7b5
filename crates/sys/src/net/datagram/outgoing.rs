//! Sends many datagrams in one call (sendmmsg).
#![expect(unsafe_code, reason = "sendmmsg with headers that point into memory of our own")]

use std::os::fd::{AsFd, AsRawFd};
use std::ptr;

use libc::{c_uint, iovec, mmsghdr, msghdr};
use rustix::io::Errno;

use crate::last_errno;

/// Segments of one send at most (linux/udp.h, `UDP_MAX_SEGMENTS`, before it was raised).
pub const MOST_SEGMENTS: usize = 64;

/// Bytes of a piece at most: what an IP packet can hold, less the largest headers without options (IPv6 and UDP).
const MOST_BYTES: usize = 65_535 - 48;

/// How many datagrams of `message` bytes fit one segmented send; at least 1.
pub const fn most_segments(message: usize) -> usize {
    let fit = MOST_BYTES / message;
    if fit < 1 {
        1
    } else if fit > MOST_SEGMENTS {
        MOST_SEGMENTS
    } else {
        fit
    }
}

// Layout of the kernel's structures (socket.h of the LP64 ABI).
const _: () = assert!(size_of::<iovec>() == 16 && size_of::<msghdr>() == 56 && size_of::<mmsghdr>() == 64);
const _: () =
    assert!(std::mem::offset_of!(mmsghdr, msg_len) == 56 && std::mem::offset_of!(msghdr, msg_iov) == 16);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    pub message: usize,
    pub slots: usize,
    /// Datagrams in one piece, for a socket that [`segment`](super::segment)s into `message` bytes; otherwise 1.
    pub segments: usize,
}

/// A ring of datagrams.
pub struct Outgoing {
    layout: Layout,
    memory: Vec<u8>,
    iovecs: Vec<iovec>,
    headers: Vec<mmsghdr>,
}

// SAFETY: the pointers in it are set by each call to `send`, to memory that it owns and moves with; between calls nobody
// follows them.
unsafe impl Send for Outgoing {}

impl Outgoing {
    /// Zeroed memory; every size must be above 0.
    pub fn new(layout: Layout) -> Self {
        let Layout { message, slots, segments } = layout;
        assert!(message > 0 && slots > 0 && segments > 0, "{layout:?}");
        // A piece ends at the end of the ring, so that there may be one more.
        let pieces = slots.div_ceil(segments) + 1;
        let none = iovec { iov_base: ptr::null_mut(), iov_len: 0 };
        // SAFETY: an all-zero structure of pointers and numbers is a valid one.
        let empty: mmsghdr = unsafe { std::mem::zeroed() };
        Self {
            layout,
            memory: vec![0; message * slots],
            iovecs: vec![none; pieces],
            headers: vec![empty; pieces],
        }
    }

    pub fn layout(&self) -> Layout {
        self.layout
    }

    /// Sends every datagram as a piece of its own from now on: for a socket without segmentation.
    pub fn uncut(&mut self) {
        self.layout.segments = 1;
        // The only later allocation: one piece for each datagram.
        let none = iovec { iov_base: ptr::null_mut(), iov_len: 0 };
        // SAFETY: an all-zero structure of pointers and numbers is a valid one.
        let empty: mmsghdr = unsafe { std::mem::zeroed() };
        self.iovecs.resize(self.layout.slots + 1, none);
        self.headers.resize(self.layout.slots + 1, empty);
    }

    pub fn slot(&mut self, slot: usize) -> &mut [u8] {
        let message = self.layout.message;
        &mut self.memory[slot * message..][..message]
    }

    /// Sends `count` datagrams, from slot `first` on and round the ring; returns how many were taken, which can be
    /// fewer.
    ///
    /// # Errors
    /// When none was taken: `EAGAIN` after the socket's `SO_SNDTIMEO`, `ENOBUFS` when a queue of this node is full,
    /// `EMSGSIZE` when a datagram is too large for the path.
    ///
    /// # Panics
    /// When `count` exceeds the slots.
    pub fn send(&mut self, socket: impl AsFd, first: usize, count: usize) -> Result<usize, Errno> {
        let Layout { message, slots, segments } = self.layout;
        assert!(first < slots && count <= slots, "{count} from {first} of {slots}");
        let (mut at, mut left, mut pieces) = (first, count, 0);
        for (part, header) in self.iovecs.iter_mut().zip(&mut self.headers) {
            if left == 0 {
                break;
            }
            let many = left.min(segments).min(slots - at);
            let bytes = &self.memory[at * message..][..many * message];
            *part = iovec { iov_base: bytes.as_ptr().cast_mut().cast(), iov_len: bytes.len() };
            header.msg_hdr.msg_iov = part;
            header.msg_hdr.msg_iovlen = 1;
            at = (at + many) % slots;
            left -= many;
            pieces += 1;
        }
        // SAFETY: the kernel reads `pieces` headers of ours and writes their lengths; each points to an iovec of ours,
        // and that to a part of our memory, all of which live through the call. Nothing else in a header is set.
        let taken = unsafe {
            libc::sendmmsg(
                socket.as_fd().as_raw_fd(),
                self.headers.as_mut_ptr(),
                pieces as c_uint,
                libc::MSG_NOSIGNAL as _,
            )
        };
        let taken = usize::try_from(taken).map_err(|_| last_errno())?;
        Ok(self.iovecs[..taken].iter().map(|piece| piece.iov_len / message).sum())
    }
}
