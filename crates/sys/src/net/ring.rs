//! A socket behind an io_uring, with one request at a time.
#![expect(unsafe_code, reason = "requests that point to memory")]

use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::time::Duration;

use io_uring::types::{Fd, SubmitArgs, Timespec};
use io_uring::{IoUring, cqueue, opcode, squeue};
use rustix::io::Errno;

use super::zero_copied::ZeroCopied;
use crate::clock::now_ns;

/// Submission queue entries. Two are needed; the completion queue gets twice as many, for pending notifications.
const ENTRIES: u32 = 32;

/// How long a call waits for its request, in nanoseconds, like a call on the socket itself.
const PATIENCE_NS: u32 = 10_000_000;

/// How long a cancellation may take, and the pause before it is repeated.
const SETTLED_WITHIN_NS: u64 = 7_000_000_000;
const SETTLE_PAUSE: Duration = Duration::from_millis(1);

/// `user_data` values: only transfers are waited for.
const TRANSFER: u64 = 1;
const CANCEL: u64 = 2;

/// Result flag of a notification: the kernel copied the data (`IORING_NOTIF_USAGE_ZC_COPIED`).
const COPIED: u32 = 1 << 31;

/// Makes notifications report a copy (`IORING_SEND_ZC_REPORT_USAGE`).
const REPORT_USAGE: u16 = 1 << 3;

pub(super) struct SocketRing {
    ring: IoUring,
    socket: OwnedFd,
    /// Whether the send memory is registered, which saves the page lookup of each request.
    fixed: bool,
    under_way: bool,
    seen: ZeroCopied,
}

impl std::fmt::Debug for SocketRing {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SocketRing")
            .field("socket", &self.socket)
            .field("fixed", &self.fixed)
            .finish_non_exhaustive()
    }
}

impl SocketRing {
    /// A ring for the calling thread: `ENOSYS` or `EPERM` without io_uring, `EOPNOTSUPP` before Linux 5.11
    /// (deadlines).
    pub fn new(socket: OwnedFd) -> Result<Self, Errno> {
        // Completions are handled when we wait, without interrupting us (Linux 6.1).
        let own = IoUring::builder().setup_single_issuer().setup_defer_taskrun().build(ENTRIES);
        let ring = own.or_else(|_| IoUring::new(ENTRIES)).map_err(errno)?;
        if !ring.params().is_feature_ext_arg() {
            return Err(Errno::OPNOTSUPP);
        }
        Ok(Self { ring, socket, fixed: false, under_way: false, seen: ZeroCopied::default() })
    }

    /// Registers `source` for zero-copy send, as far as RLIMIT_MEMLOCK permits; `EOPNOTSUPP` before Linux 6.0.
    pub fn lend(&mut self, source: &[u8]) -> Result<(), Errno> {
        let mut probe = io_uring::Probe::new();
        self.ring.submitter().register_probe(&mut probe).map_err(errno)?;
        if !probe.is_supported(opcode::SendZc::CODE) {
            return Err(Errno::OPNOTSUPP);
        }
        let piece = libc::iovec { iov_base: source.as_ptr().cast_mut().cast(), iov_len: source.len() };
        // SAFETY: the kernel only reads from it, for sends. It pins the pages, so that they stay whatever becomes of
        // the mapping.
        self.fixed = unsafe { self.ring.submitter().register_buffers(&[piece]) }.is_ok();
        Ok(())
    }

    /// Sends bytes of the memory given to [`Self::lend`]; waits at most [`PATIENCE_NS`]. After `EAGAIN` the same
    /// bytes are still in flight: the next call must pass them again.
    pub fn send(&mut self, bytes: &[u8]) -> Result<usize, Errno> {
        if !self.under_way {
            let request =
                opcode::SendZc::new(Fd(self.socket.as_raw_fd()), bytes.as_ptr(), length(bytes.len()))
                    .flags(libc::MSG_NOSIGNAL)
                    .zc_flags(REPORT_USAGE)
                    .buf_index(self.fixed.then_some(0));
            self.start(request.build().user_data(TRANSFER))?;
        }
        self.wait()
    }

    /// Receives into `room`; waits for at most [`PATIENCE_NS`].
    ///
    /// # Safety
    /// After `EAGAIN` the kernel may still write to `room`: it must live, and nobody may touch it, until a call gives
    /// another answer or [`Self::settle`] has ended it.
    pub unsafe fn receive(&mut self, room: *mut u8, len: usize) -> Result<usize, Errno> {
        if !self.under_way {
            let request = opcode::Recv::new(Fd(self.socket.as_raw_fd()), room, length(len));
            self.start(request.build().user_data(TRANSFER))?;
        }
        self.wait()
    }

    pub fn zero_copied(&self) -> ZeroCopied {
        self.seen
    }

    /// Cancels the pending request and waits for its end; returns the bytes that it moved.
    ///
    /// A cancellation may miss a request that is just being retried, or one in a kernel worker thread, which ends
    /// with the socket's own deadline. So it is repeated until the request has ended.
    pub fn settle(&mut self) -> Result<usize, Errno> {
        let deadline = now_ns() + SETTLED_WITHIN_NS;
        while self.under_way {
            if now_ns() > deadline {
                return Err(Errno::TIMEDOUT);
            }
            self.start(opcode::AsyncCancel::new(TRANSFER).build().user_data(CANCEL))?;
            match self.wait() {
                Err(Errno::AGAIN) => std::thread::sleep(SETTLE_PAUSE),
                Err(Errno::CANCELED | Errno::INTR) => {}
                other => return other,
            }
        }
        Ok(0)
    }

    fn start(&mut self, request: squeue::Entry) -> Result<(), Errno> {
        // SAFETY: what the request points to lives until its completion: the source is pinned or outlives the ring, and
        // `receive` demands it of its caller.
        unsafe { self.ring.submission().push(&request) }.map_err(|_| Errno::BUSY)?;
        self.under_way = true;
        Ok(())
    }

    fn wait(&mut self) -> Result<usize, Errno> {
        if let Some(ended) = self.look() {
            return ended;
        }
        let span = Timespec::new().nsec(PATIENCE_NS);
        let arguments = SubmitArgs::new().timespec(&span);
        match self.ring.submitter().submit_with_args(1, &arguments) {
            Ok(_) => {}
            Err(error) => match errno(error) {
                // Timeout, signal, or completions to reap first.
                Errno::TIME | Errno::INTR | Errno::BUSY | Errno::AGAIN => {}
                other => return Err(other),
            },
        }
        self.look().unwrap_or(Err(Errno::AGAIN))
    }

    /// Reaps completions; returns the result of the transfer if it is among them.
    fn look(&mut self) -> Option<Result<usize, Errno>> {
        let mut ended = None;
        for completion in self.ring.completion() {
            let result = completion.result();
            if cqueue::notif(completion.flags()) {
                self.seen.ended += 1;
                self.seen.copied += u64::from(result as u32 & COPIED != 0);
            } else if completion.user_data() == TRANSFER {
                self.under_way = false;
                ended = Some(usize::try_from(result).map_err(|_| Errno::from_raw_os_error(-result)));
            }
        }
        ended
    }
}

fn length(bytes: usize) -> u32 {
    u32::try_from(bytes).unwrap_or(u32::MAX)
}

fn errno(error: io::Error) -> Errno {
    Errno::from_io_error(&error).unwrap_or(Errno::IO)
}
