//! Many datagrams handed over in one call.
#![expect(unsafe_code, reason = "sendmmsg with headers that point into memory of our own")]

use std::os::fd::{AsFd, AsRawFd};
use std::ptr;

use libc::{c_uint, iovec, mmsghdr, msghdr};
use rustix::io::Errno;

use crate::net::option::last_errno;

/// Datagrams that the kernel cuts one piece into at most (linux/udp.h, `UDP_MAX_SEGMENTS`, before it was raised).
pub const MOST_SEGMENTS: usize = 64;

/// Bytes of a piece at most: what an IP packet can hold, less the largest headers without options (IPv6 and UDP).
const MOST_BYTES: usize = 65_535 - 48;

/// How many datagrams of `message` bytes fit a piece that the kernel cuts; at least 1.
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

// The kernel reads these structures, so that they must be as it knows them (socket.h of the LP64 ABI).
const _: () = assert!(size_of::<iovec>() == 16 && size_of::<msghdr>() == 56 && size_of::<mmsghdr>() == 64);
const _: () =
    assert!(std::mem::offset_of!(mmsghdr, msg_len) == 56 && std::mem::offset_of!(msghdr, msg_iov) == 16);

/// Sizes of an [`Outgoing`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    /// Bytes of a datagram.
    pub message: usize,
    /// Datagrams that there is memory for, which is also the most of one call.
    pub slots: usize,
    /// Datagrams handed over as one piece, for a socket that [`segment`](super::segment)s into `message` bytes; 1 for
    /// one that does not.
    pub segments: usize,
}

/// Memory for datagrams in a row, in which the last slot is followed by the first.
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
    /// Memory of zeros.
    ///
    /// # Panics
    /// When a size is 0.
    pub fn new(layout: Layout) -> Self {
        let Layout { message, slots, segments } = layout;
        assert!(message > 0 && slots > 0 && segments > 0, "{layout:?}");
        // A piece ends at the end of the memory, so that there may be one more.
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

    /// From now on every datagram is a piece of its own: for a socket that does not cut after all.
    pub fn uncut(&mut self) {
        self.layout.segments = 1;
        // Memory is taken here once, since a piece more than before is needed for each datagram.
        let none = iovec { iov_base: ptr::null_mut(), iov_len: 0 };
        // SAFETY: an all-zero structure of pointers and numbers is a valid one.
        let empty: mmsghdr = unsafe { std::mem::zeroed() };
        self.iovecs.resize(self.layout.slots + 1, none);
        self.headers.resize(self.layout.slots + 1, empty);
    }

    /// The bytes of a slot.
    pub fn slot(&mut self, slot: usize) -> &mut [u8] {
        let message = self.layout.message;
        &mut self.memory[slot * message..][..message]
    }

    /// Hands `count` datagrams over, from `first` on and round to the first slot; how many were taken, which can be
    /// fewer.
    ///
    /// # Errors
    /// What the kernel answers when it takes none: `EAGAIN` when the socket's `SO_SNDTIMEO` passed, `ENOBUFS` when a
    /// queue of this node is full, `EMSGSIZE` when a datagram is too large for the path.
    ///
    /// # Panics
    /// When there are fewer slots.
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
            // Sending only reads.
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
