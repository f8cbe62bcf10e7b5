//! Receives many datagrams in one call (recvmmsg).
#![expect(unsafe_code, reason = "recvmmsg with headers that point into memory of our own")]

use std::os::fd::{AsFd, AsRawFd};
use std::ptr;

use libc::{c_int, c_uint, cmsghdr, iovec, mmsghdr};
use rustix::io::Errno;

use crate::last_errno;

/// Room for one control message that holds an int.
const CONTROL: usize = 24;

// The control message is laid out as in cmsg(3) on an LP64 system.
const _: () = assert!(size_of::<cmsghdr>() == 16 && std::mem::offset_of!(cmsghdr, cmsg_level) == 8);

/// A control message aligned as `cmsghdr`.
#[derive(Clone, Copy)]
#[repr(C, align(8))]
struct Control([u8; CONTROL]);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Datagram<'a> {
    pub bytes: &'a [u8],
    pub truncated: bool,
}

/// Buffers for received pieces, each a datagram, or several of equal size that the kernel merged (GRO).
pub struct Incoming {
    piece: usize,
    memory: Vec<u8>,
    controls: Vec<Control>,
    iovecs: Vec<iovec>,
    headers: Vec<mmsghdr>,
    got: usize,
}

// SAFETY: the pointers in it are set by each call to `receive`, to memory that it owns and moves with; between calls
// nobody follows them.
unsafe impl Send for Incoming {}

impl Incoming {
    /// Room for `pieces` of `piece` bytes, both above 0.
    pub fn new(piece: usize, pieces: usize) -> Self {
        assert!(piece > 0 && pieces > 0, "{pieces} pieces of {piece} bytes");
        let none = iovec { iov_base: ptr::null_mut(), iov_len: 0 };
        // SAFETY: an all-zero structure of pointers and numbers is a valid one.
        let empty: mmsghdr = unsafe { std::mem::zeroed() };
        Self {
            piece,
            memory: vec![0; piece * pieces],
            controls: vec![Control([0; CONTROL]); pieces],
            iovecs: vec![none; pieces],
            headers: vec![empty; pieces],
            got: 0,
        }
    }

    /// Receives without waiting; returns the number of pieces, or `EAGAIN` for none.
    pub fn receive(&mut self, socket: impl AsFd) -> Result<usize, Errno> {
        self.got = 0;
        let parts = self.memory.chunks_exact_mut(self.piece).zip(&mut self.iovecs).zip(&mut self.controls);
        for (((bytes, part), control), header) in parts.zip(&mut self.headers) {
            *part = iovec { iov_base: bytes.as_mut_ptr().cast(), iov_len: bytes.len() };
            let header = &mut header.msg_hdr;
            header.msg_iov = part;
            header.msg_iovlen = 1;
            header.msg_control = (&raw mut control.0).cast();
            header.msg_controllen = CONTROL;
            header.msg_flags = 0;
        }
        // SAFETY: the kernel writes to the headers and to the memory and control messages they point to, all of which
        // are ours, as long as told, and live through the call.
        let got = unsafe {
            libc::recvmmsg(
                socket.as_fd().as_raw_fd(),
                self.headers.as_mut_ptr(),
                self.headers.len() as c_uint,
                libc::MSG_DONTWAIT as _,
                ptr::null_mut(),
            )
        };
        self.got = usize::try_from(got).map_err(|_| last_errno())?;
        Ok(self.got)
    }

    pub fn datagrams(&self) -> impl Iterator<Item = Datagram<'_>> {
        let pieces = self.memory.chunks_exact(self.piece).zip(&self.headers).zip(&self.controls);
        pieces.take(self.got).flat_map(|((memory, header), control)| {
            let bytes = &memory[..(header.msg_len as usize).min(memory.len())];
            let truncated = header.msg_hdr.msg_flags & libc::MSG_TRUNC != 0;
            let each = coalesced(control, header.msg_hdr.msg_controllen);
            // An empty datagram counts as one.
            let size = each.filter(|size| *size > 0).unwrap_or(bytes.len()).max(1);
            let empty = bytes.is_empty().then_some(bytes);
            let all = empty.into_iter().chain(bytes.chunks(size));
            all.map(move |bytes| Datagram { bytes, truncated })
        })
    }
}

/// The size of each datagram in a merged piece (udp(7), `UDP_GRO`); `None` for a single datagram.
fn coalesced(control: &Control, length: usize) -> Option<usize> {
    let int = |at: usize| Some(c_int::from_ne_bytes(control.0.get(at..at + 4)?.try_into().ok()?));
    let is_it = length >= 20 && int(8)? == libc::SOL_UDP && int(12)? == libc::UDP_GRO;
    is_it.then(|| int(16)).flatten().and_then(|size| usize::try_from(size).ok())
}
