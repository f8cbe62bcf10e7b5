//! Ways to send to a stream socket.
#![expect(unsafe_code, reason = "send, sendfile and the error queue of MSG_ZEROCOPY")]

use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::ptr;
use std::sync::Arc;

use rustix::io::Errno;

use super::ring::SocketRing;
use super::source::Source;
use super::zero_copied::ZeroCopied;
use crate::last_errno;

pub trait Push: Send {
    /// Sends the bytes of the source from `from` on, at most `len`, within `SO_SNDTIMEO` (then `EAGAIN`); returns how
    /// many were taken. After an error, repeat the call with the same arguments.
    fn push(&mut self, from: usize, len: usize) -> Result<usize, Errno>;

    /// Ends a pending request before another way is used; returns the bytes that it sent.
    fn settle(&mut self) -> Result<usize, Errno> {
        Ok(0)
    }

    /// Completed zero-copy sends; `None` for other ways.
    fn zero_copied(&self) -> Option<ZeroCopied> {
        None
    }
}

/// A descriptor of our own for the socket, with our lifetime.
fn own(socket: &impl AsFd) -> Result<OwnedFd, Errno> {
    socket.as_fd().try_clone_to_owned().map_err(|error| Errno::from_io_error(&error).unwrap_or(Errno::IO))
}

fn count(result: isize) -> Result<usize, Errno> {
    usize::try_from(result).map_err(|_| last_errno())
}

#[derive(Debug)]
pub struct SendPlain {
    socket: OwnedFd,
    source: Arc<Source>,
}

impl SendPlain {
    pub fn new(socket: &impl AsFd, source: Arc<Source>) -> Result<Self, Errno> {
        Ok(Self { socket: own(socket)?, source })
    }
}

impl Push for SendPlain {
    fn push(&mut self, from: usize, len: usize) -> Result<usize, Errno> {
        let bytes = &self.source[from..from + len];
        // SAFETY: the kernel reads the bytes of a slice that lives through the call.
        count(unsafe {
            libc::send(self.socket.as_raw_fd(), bytes.as_ptr().cast(), bytes.len(), libc::MSG_NOSIGNAL)
        })
    }
}

#[derive(Debug)]
pub struct SendFile {
    socket: OwnedFd,
    source: Arc<Source>,
}

impl SendFile {
    pub fn new(socket: &impl AsFd, source: Arc<Source>) -> Result<Self, Errno> {
        Ok(Self { socket: own(socket)?, source })
    }
}

impl Push for SendFile {
    fn push(&mut self, from: usize, len: usize) -> Result<usize, Errno> {
        let mut at = from as libc::off64_t;
        // SAFETY: both descriptors are open, and the kernel reads and moves an offset that lives through the call.
        count(unsafe {
            libc::sendfile64(self.socket.as_raw_fd(), self.source.file().as_raw_fd(), &raw mut at, len)
        })
    }
}

/// `send` with `MSG_ZEROCOPY`: the kernel pins our pages and reports on the error queue when it releases them
/// (Documentation/networking/msg_zerocopy.rst).
#[derive(Debug)]
pub struct SendPinned {
    socket: OwnedFd,
    source: Arc<Source>,
    since_look: u32,
    seen: ZeroCopied,
}

/// Sends between two reads of the error queue. The kernel merges adjacent notifications, so the queue stays short;
/// each outstanding one uses the socket's `optmem`.
const SENDS_A_LOOK: u32 = 32;

/// `SO_EE_ORIGIN_ZEROCOPY` and `SO_EE_CODE_ZEROCOPY_COPIED` of linux/errqueue.h.
const ORIGIN_ZEROCOPY: u8 = 5;
const CODE_ZEROCOPY_COPIED: u8 = 1;

impl SendPinned {
    pub fn new(socket: &impl AsFd, source: Arc<Source>) -> Result<Self, Errno> {
        let socket = own(socket)?;
        let on: libc::c_int = 1;
        // SAFETY: the pointer is to a number of the length that is told.
        let rc = unsafe {
            libc::setsockopt(
                socket.as_raw_fd(),
                libc::SOL_SOCKET,
                libc::SO_ZEROCOPY,
                (&raw const on).cast(),
                size_of::<libc::c_int>() as libc::socklen_t,
            )
        };
        if rc != 0 {
            return Err(last_errno());
        }
        Ok(Self { socket, source, since_look: 0, seen: ZeroCopied::default() })
    }

    fn look(&mut self) {
        self.since_look = 0;
        while let Some((sends, copied)) = notification(&self.socket) {
            self.seen.ended += sends;
            self.seen.copied += if copied { sends } else { 0 };
        }
    }
}

impl Push for SendPinned {
    fn push(&mut self, from: usize, len: usize) -> Result<usize, Errno> {
        self.since_look += 1;
        if self.since_look >= SENDS_A_LOOK {
            self.look();
        }
        let bytes = &self.source[from..from + len];
        let flags = libc::MSG_NOSIGNAL | libc::MSG_ZEROCOPY;
        // SAFETY: the kernel pins the pages of a slice that never changes; it holds them by itself until it is done.
        let sent =
            count(unsafe { libc::send(self.socket.as_raw_fd(), bytes.as_ptr().cast(), bytes.len(), flags) });
        if sent == Err(Errno::NOBUFS) {
            // Too many notifications or pinned pages: both shrink as sends complete.
            self.look();
            std::thread::sleep(std::time::Duration::from_micros(200));
            return Err(Errno::AGAIN);
        }
        sent
    }

    fn settle(&mut self) -> Result<usize, Errno> {
        self.look();
        Ok(0)
    }

    fn zero_copied(&self) -> Option<ZeroCopied> {
        Some(self.seen)
    }
}

/// The next notification: the number of sends, and whether their data was copied after all.
fn notification(socket: &OwnedFd) -> Option<(u64, bool)> {
    #[repr(C, align(8))]
    struct Room([u8; 128]);
    let mut room = Room([0; 128]);
    // SAFETY: an all-zero header has no name, no data and no control messages, and is a valid one.
    let mut header: libc::msghdr = unsafe { std::mem::zeroed() };
    header.msg_control = (&raw mut room).cast();
    header.msg_controllen = size_of::<Room>() as _;
    let flags = libc::MSG_ERRQUEUE | libc::MSG_DONTWAIT;
    // SAFETY: the header points to room that lives through the call and is as long as it says.
    if unsafe { libc::recvmsg(socket.as_raw_fd(), &raw mut header, flags) } < 0 {
        return None;
    }
    // SAFETY: the kernel has filled in the header, whose control messages lie in `room`.
    let first = unsafe { libc::CMSG_FIRSTHDR(&raw const header) };
    if first.is_null() {
        return Some((0, false));
    }
    // SAFETY: the control message holds an extended error, by the documentation of the queue; reading it unaligned asks
    // nothing of its place.
    let error: libc::sock_extended_err = unsafe { ptr::read_unaligned(libc::CMSG_DATA(first).cast()) };
    if error.ee_errno != 0 || error.ee_origin != ORIGIN_ZEROCOPY {
        return Some((0, false));
    }
    let sends = u64::from(error.ee_data.wrapping_sub(error.ee_info)) + 1;
    Some((sends, error.ee_code & CODE_ZEROCOPY_COPIED != 0))
}

/// `IORING_OP_SEND_ZC` through io_uring, one at a time: io_uring does not order concurrent sends.
#[derive(Debug)]
pub struct SendRing {
    ring: SocketRing,
    source: Arc<Source>,
}

impl SendRing {
    /// Fails when the kernel lacks or refuses io_uring, or is older than 6.0.
    pub fn new(socket: &impl AsFd, source: Arc<Source>) -> Result<Self, Errno> {
        let mut ring = SocketRing::new(own(socket)?)?;
        ring.lend(&source)?;
        Ok(Self { ring, source })
    }
}

impl Push for SendRing {
    fn push(&mut self, from: usize, len: usize) -> Result<usize, Errno> {
        self.ring.send(&self.source[from..from + len])
    }

    fn settle(&mut self) -> Result<usize, Errno> {
        self.ring.settle()
    }

    fn zero_copied(&self) -> Option<ZeroCopied> {
        Some(self.ring.zero_copied())
    }
}

impl Drop for SendRing {
    fn drop(&mut self) {
        // Before the source is dropped, in case this is its last holder.
        let _ = self.ring.settle();
    }
}
