//! Ways to receive from a stream socket.
#![expect(unsafe_code, reason = "recv with MSG_TRUNC, and pages of the network mapped into the process")]

use std::ffi::c_void;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::ptr;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};
use rustix::net::RecvFlags;

use super::ring::SocketRing;
use super::room::Room;
use crate::last_errno;

pub trait Pull: Send {
    /// Receives what has come, within `SO_RCVTIMEO` (then `EAGAIN`); returns the bytes, 0 at the end of the stream.
    fn pull(&mut self) -> Result<usize, Errno>;

    /// The bytes of the last call, as far as they were copied or mapped.
    fn last(&self) -> &[u8];

    /// Ends a pending request before another way is used; returns the bytes that it received.
    fn settle(&mut self) -> Result<usize, Errno> {
        Ok(0)
    }

    /// Bytes received by mapping pages; `None` for ways that map none.
    fn mapped(&self) -> Option<u64> {
        None
    }
}

fn own(socket: &impl AsFd) -> Result<OwnedFd, Errno> {
    socket.as_fd().try_clone_to_owned().map_err(|error| Errno::from_io_error(&error).unwrap_or(Errno::IO))
}

#[derive(Debug)]
pub struct ReadPlain {
    socket: OwnedFd,
    room: Room,
}

impl ReadPlain {
    pub fn new(socket: &impl AsFd, room: usize, total: u64) -> Result<Self, Errno> {
        Ok(Self { socket: own(socket)?, room: Room::new(room, total)? })
    }
}

impl Pull for ReadPlain {
    fn pull(&mut self) -> Result<usize, Errno> {
        let took = rustix::net::recv(&self.socket, self.room.next(), RecvFlags::empty())?.0;
        self.room.took(took);
        Ok(took)
    }

    fn last(&self) -> &[u8] {
        self.room.last()
    }
}

/// `recv` with `MSG_TRUNC`: the kernel discards the data without a copy (tcp(7)). This measures the network and the
/// protocol stack without the copy that real receivers pay.
#[derive(Debug)]
pub struct ReadTruncated {
    socket: OwnedFd,
    room: usize,
}

impl ReadTruncated {
    pub fn new(socket: &impl AsFd, room: usize) -> Result<Self, Errno> {
        Ok(Self { socket: own(socket)?, room: room.max(1) })
    }
}

impl Pull for ReadTruncated {
    fn pull(&mut self) -> Result<usize, Errno> {
        // SAFETY: with MSG_TRUNC the kernel writes nothing, so that there need not be a buffer.
        let took =
            unsafe { libc::recv(self.socket.as_raw_fd(), ptr::null_mut(), self.room, libc::MSG_TRUNC) };
        usize::try_from(took).map_err(|_| last_errno())
    }

    fn last(&self) -> &[u8] {
        &[]
    }
}

/// `TCP_ZEROCOPY_RECEIVE` of linux/tcp.h, and the part of its argument that every kernel with it knows (Linux 4.18).
const TCP_ZEROCOPY_RECEIVE: libc::c_int = 35;

#[repr(C)]
struct ZeroCopyReceive {
    address: u64,
    length: u32,
    recv_skip_hint: u32,
}

const _: () = assert!(size_of::<ZeroCopyReceive>() == 16);

/// `TCP_ZEROCOPY_RECEIVE`: whole pages of payload are mapped instead of copied, the rest is copied. Pages are whole
/// when the card splits headers from payload and segments are multiples of a page, which is rare.
#[derive(Debug)]
pub struct ReadMapped {
    socket: OwnedFd,
    map: *mut c_void,
    room: usize,
    buffer: Vec<u8>,
    /// Bytes of the last call, and whether they are in the mapping.
    last: (usize, bool),
    mapped: u64,
}

// SAFETY: the mapping belongs to this value alone, and only its owner asks the kernel to change it.
unsafe impl Send for ReadMapped {}

impl ReadMapped {
    pub fn new(socket: &impl AsFd, room: usize) -> Result<Self, Errno> {
        let room = room.next_multiple_of(rustix::param::page_size()).max(rustix::param::page_size());
        let socket = own(socket)?;
        // SAFETY: a new mapping at an address of the kernel's choice touches no memory that anybody has.
        let map = unsafe { mmap(ptr::null_mut(), room, ProtFlags::READ, MapFlags::SHARED, &socket, 0)? };
        Ok(Self { socket, map, room, buffer: vec![0; room], last: (0, false), mapped: 0 })
    }

    /// Maps what can be mapped: bytes mapped, and bytes that must be copied first.
    fn map(&mut self) -> Result<(usize, usize), Errno> {
        let mut wanted =
            ZeroCopyReceive { address: self.map as u64, length: self.room as u32, recv_skip_hint: 0 };
        let mut length = size_of::<ZeroCopyReceive>() as libc::socklen_t;
        // SAFETY: the kernel replaces pages inside the mapping, which is as long as it says and of which no slice is
        // held, and writes at most `length` bytes of the structure.
        let rc = unsafe {
            libc::getsockopt(
                self.socket.as_raw_fd(),
                libc::IPPROTO_TCP,
                TCP_ZEROCOPY_RECEIVE,
                (&raw mut wanted).cast(),
                &raw mut length,
            )
        };
        match rc {
            0 => Ok((wanted.length as usize, wanted.recv_skip_hint as usize)),
            _ => match last_errno() {
                Errno::IO => Ok((0, 1)),
                error => Err(error),
            },
        }
    }

    fn copy(&mut self, at_most: usize, flags: RecvFlags) -> Result<usize, Errno> {
        let at_most = at_most.clamp(1, self.buffer.len());
        let took = rustix::net::recv(&self.socket, &mut self.buffer[..at_most], flags)?.0;
        self.last = (took, false);
        Ok(took)
    }
}

impl Pull for ReadMapped {
    fn pull(&mut self) -> Result<usize, Errno> {
        self.last = (0, false);
        match self.map()? {
            (0, 0) => {
                let span = Timespec { tv_sec: 0, tv_nsec: 10_000_000 };
                let mut ready = [PollFd::new(&self.socket, PollFlags::IN)];
                if poll(&mut ready, Some(&span))? == 0 {
                    return Err(Errno::AGAIN);
                }
                // Data that has just come is mapped by the next call; only a read reports less than a page, or the
                // end.
                match self.map()? {
                    (0, hint) => self.copy(hint.max(1), RecvFlags::DONTWAIT),
                    (mapped, _) => Ok(self.took(mapped)),
                }
            }
            (0, hint) => self.copy(hint, RecvFlags::DONTWAIT),
            (mapped, _) => Ok(self.took(mapped)),
        }
    }

    fn last(&self) -> &[u8] {
        match self.last {
            (len, false) => &self.buffer[..len],
            // SAFETY: the kernel has mapped that many bytes, which stay until the next call, and a call needs this
            // value for itself.
            (len, true) => unsafe { std::slice::from_raw_parts(self.map.cast(), len) },
        }
    }

    fn mapped(&self) -> Option<u64> {
        Some(self.mapped)
    }
}

impl ReadMapped {
    fn took(&mut self, mapped: usize) -> usize {
        self.mapped += mapped as u64;
        self.last = (mapped, true);
        mapped
    }
}

impl Drop for ReadMapped {
    fn drop(&mut self) {
        // SAFETY: the mapping is this value's own, and no slice of it outlives it.
        let _ = unsafe { munmap(self.map, self.room) };
    }
}

/// `IORING_OP_RECV` through io_uring, one request at a time.
#[derive(Debug)]
pub struct ReadRing {
    ring: SocketRing,
    room: Room,
}

impl ReadRing {
    /// Receives at most `room` bytes per call, from byte `total` of the stream on.
    pub fn new(socket: &impl AsFd, room: usize, total: u64) -> Result<Self, Errno> {
        Ok(Self { ring: SocketRing::new(own(socket)?)?, room: Room::new(room, total)? })
    }
}

impl Pull for ReadRing {
    fn pull(&mut self) -> Result<usize, Errno> {
        let (start, len) = self.room.place();
        // SAFETY: the room is neither moved nor looked into before the request is over: until it took something `last`
        // shows none of it and `place` is the same, and dropping settles first.
        let took = unsafe { self.ring.receive(start, len) }?;
        self.room.took(took);
        Ok(took)
    }

    fn last(&self) -> &[u8] {
        self.room.last()
    }

    fn settle(&mut self) -> Result<usize, Errno> {
        let took = self.ring.settle()?;
        self.room.place();
        self.room.took(took);
        Ok(took)
    }
}

impl Drop for ReadRing {
    fn drop(&mut self) {
        if self.ring.settle().is_err() {
            // The kernel may still write to the memory: leak it rather than reuse it.
            std::mem::forget(std::mem::take(&mut self.room));
        }
    }
}
