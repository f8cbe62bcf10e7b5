//! Completion queues and their event channels.
#![expect(unsafe_code, reason = "calls functions of the library")]

use std::ffi::{c_int, c_void};
use std::fmt;
use std::ptr::{self, NonNull};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use super::abi::{CompChannel, Cq, PollCq, ReqNotifyCq};
use super::error::last;
use super::wait::{self, Deadline, Readiness};
use super::{RdmaDevice, VerbsError, WorkCompletion};
use crate::Errno;

pub struct CompletionChannel {
    raw: NonNull<CompChannel>,
    device: Arc<RdmaDevice>,
}

// SAFETY: the library's functions may be called by any thread, and the descriptor does not change.
unsafe impl Send for CompletionChannel {}
// SAFETY: as above.
unsafe impl Sync for CompletionChannel {}

impl fmt::Debug for CompletionChannel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CompletionChannel({})", self.device.name())
    }
}

impl CompletionChannel {
    pub fn new(device: &Arc<RdmaDevice>) -> Result<Arc<Self>, VerbsError> {
        // SAFETY: the context is open.
        let raw = unsafe { (device.table().ibv_create_comp_channel)(device.context.as_ptr()) };
        let raw = NonNull::new(raw).ok_or_else(|| VerbsError::Refused {
            call: "ibv_create_comp_channel",
            what: device.name().to_owned(),
            errno: last(),
        })?;
        let channel = Self { raw, device: device.clone() };
        // Another thread may take the event first: the read must not wait.
        wait::never_block(channel.descriptor());
        Ok(Arc::new(channel))
    }

    const fn descriptor(&self) -> i32 {
        // SAFETY: the library made it, and does not change its descriptor.
        unsafe { self.raw.as_ref().fd }
    }

    /// Waits for an event and takes it; returns the queue's number, or `None` after `timeout`. The queue must be
    /// armed again for the next event.
    pub fn wait(&self, timeout: Duration) -> Result<Option<u64>, VerbsError> {
        let refused = |errno| VerbsError::Refused {
            call: "ibv_get_cq_event",
            what: self.device.name().to_owned(),
            errno,
        };
        let deadline = Deadline::after(timeout);
        loop {
            match wait::readable(self.descriptor(), deadline).map_err(refused)? {
                Readiness::Ready => {}
                Readiness::TimedOut => return Ok(None),
            }
            let mut queue: *mut Cq = ptr::null_mut();
            let mut number: *mut c_void = ptr::null_mut();
            // SAFETY: the channel is alive, as are both variables.
            let code = unsafe {
                (self.device.table().ibv_get_cq_event)(self.raw.as_ptr(), &raw mut queue, &raw mut number)
            };
            if code != 0 {
                match last() {
                    Errno::AGAIN | Errno::INTR => continue,
                    errno => return Err(refused(errno)),
                }
            }
            // SAFETY: a queue whose event was taken and not acknowledged is not destroyed (ibv_ack_cq_events(3)), so
            // that it is still there.
            unsafe { (self.device.table().ibv_ack_cq_events)(queue, 1) };
            return Ok(Some(number.addr() as u64));
        }
    }
}

impl Drop for CompletionChannel {
    fn drop(&mut self) {
        // SAFETY: queues that tell on it keep it.
        unsafe { (self.device.table().ibv_destroy_comp_channel)(self.raw.as_ptr()) };
    }
}

pub struct CompletionQueue {
    raw: NonNull<Cq>,
    poll: PollCq,
    notify: ReqNotifyCq,
    number: u64,
    depth: u32,
    channel: Option<Arc<CompletionChannel>>,
    device: Arc<RdmaDevice>,
}

// SAFETY: providers lock their queues (rdma-core, Documentation/libibverbs.md), so that any thread may call.
unsafe impl Send for CompletionQueue {}
// SAFETY: as above.
unsafe impl Sync for CompletionQueue {}

impl fmt::Debug for CompletionQueue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CompletionQueue({} of {}, depth {})", self.number, self.device.name(), self.depth)
    }
}

static NEXT: AtomicU64 = AtomicU64::new(1);

const BATCH: usize = 16;

/// Empty polls before yielding the CPU.
const PATIENCE: u32 = 256;

impl CompletionQueue {
    /// A queue for polling.
    pub fn new(device: &Arc<RdmaDevice>, depth: u32) -> Result<Arc<Self>, VerbsError> {
        Self::make(device, depth, None, 0)
    }

    /// A queue with events on a channel of the same device, by one of the device's interrupts.
    pub fn with_channel(
        device: &Arc<RdmaDevice>,
        depth: u32,
        channel: &Arc<CompletionChannel>,
        vector: u32,
    ) -> Result<Arc<Self>, VerbsError> {
        if !Arc::ptr_eq(device, &channel.device) {
            return Err(VerbsError::Config { why: "the completion channel is of another device".to_owned() });
        }
        let vectors = device.about().completion_vectors;
        if vector >= vectors.max(1) {
            let (asked, most) = (u64::from(vector), u64::from(vectors.max(1)) - 1);
            return Err(VerbsError::TooMuch { what: "a completion vector", asked, most });
        }
        Self::make(device, depth, Some(channel.clone()), vector)
    }

    fn make(
        device: &Arc<RdmaDevice>,
        depth: u32,
        channel: Option<Arc<CompletionChannel>>,
        vector: u32,
    ) -> Result<Arc<Self>, VerbsError> {
        let most = device.about().max_cq_depth;
        if depth == 0 || depth > most {
            return Err(VerbsError::TooMuch {
                what: "a completion queue depth",
                asked: depth.into(),
                most: most.into(),
            });
        }
        let refused =
            |errno| VerbsError::Refused { call: "ibv_create_cq", what: device.name().to_owned(), errno };
        let ops = &device.raw().ops;
        let (Some(poll), Some(notify)) = (ops.poll_cq, ops.req_notify_cq) else {
            return Err(refused(Errno::NOSYS));
        };
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let on = channel.as_ref().map_or(ptr::null_mut(), |channel| channel.raw.as_ptr());
        // Events return this number; it is not an address.
        let context = ptr::without_provenance_mut(number as usize);
        let entries = c_int::try_from(depth).unwrap_or(c_int::MAX);
        // SAFETY: the context is open, and the channel, if any, is on it.
        let raw = unsafe {
            (device.table().ibv_create_cq)(device.context.as_ptr(), entries, context, on, vector as c_int)
        };
        let raw = NonNull::new(raw).ok_or_else(|| refused(last()))?;
        // SAFETY: the library just made it, and does not change its size by itself.
        let granted = unsafe { raw.as_ref().cqe };
        let depth = u32::try_from(granted).unwrap_or(depth).max(depth);
        Ok(Arc::new(Self { raw, poll, notify, number, depth, channel, device: device.clone() }))
    }

    pub const fn number(&self) -> u64 {
        self.number
    }

    /// Capacity; the device fails a queue that overflows.
    pub const fn depth(&self) -> u32 {
        self.depth
    }

    /// Polls as many completions as fit into `into`, without waiting; returns their number.
    #[inline]
    pub fn poll(&self, into: &mut [WorkCompletion]) -> Result<usize, VerbsError> {
        let room = c_int::try_from(into.len()).unwrap_or(c_int::MAX);
        // SAFETY: the queue is alive, a completion of ours is one of the library's, and there is room for so many.
        let found = unsafe { (self.poll)(self.raw.as_ptr(), room, into.as_mut_ptr().cast()) };
        match usize::try_from(found) {
            Ok(found) => Ok(found),
            Err(_) => Err(self.failed()),
        }
    }

    /// ibv_poll_cq(3) promises only a negative number: providers differ.
    #[cold]
    fn failed(&self) -> VerbsError {
        let what = format!("a queue of {}", self.device.name());
        VerbsError::Refused { call: "ibv_poll_cq", what, errno: Errno::IO }
    }

    /// Requests an event for the next completion. Earlier completions raise none: poll once more before waiting.
    #[inline]
    pub fn arm(&self, solicited_only: bool) -> Result<(), VerbsError> {
        // SAFETY: the queue is alive.
        let code = unsafe { (self.notify)(self.raw.as_ptr(), c_int::from(solicited_only)) };
        super::error::answer("ibv_req_notify_cq", code, || format!("a queue of {}", self.device.name()))
    }

    /// Polls until `want` completions came, and passes each to `each`.
    pub fn collect(
        &self,
        want: usize,
        timeout: Duration,
        mut each: impl FnMut(&WorkCompletion),
    ) -> Result<(), VerbsError> {
        let deadline = Deadline::after(timeout);
        let mut buffer = [WorkCompletion::default(); BATCH];
        let (mut got, mut idle) = (0, 0_u32);
        while got < want {
            let found = self.poll(&mut buffer[..BATCH.min(want - got)])?;
            buffer[..found].iter().for_each(&mut each);
            got += found;
            if found > 0 {
                idle = 0;
            } else if deadline.is_over() {
                return Err(late(deadline, got, want));
            } else if idle < PATIENCE {
                idle += 1;
                std::hint::spin_loop();
            } else {
                std::thread::yield_now();
            }
        }
        Ok(())
    }

    /// Like [`Self::collect`], sleeping until an event. The channel must be this queue's alone.
    pub fn collect_by_events(
        &self,
        want: usize,
        timeout: Duration,
        mut each: impl FnMut(&WorkCompletion),
    ) -> Result<(), VerbsError> {
        let channel = self.channel.as_ref().ok_or_else(|| VerbsError::Config {
            why: "the completion queue has no channel for events".to_owned(),
        })?;
        let deadline = Deadline::after(timeout);
        let mut buffer = [WorkCompletion::default(); BATCH];
        let (mut got, mut armed) = (0, false);
        while got < want {
            let found = self.poll(&mut buffer[..BATCH.min(want - got)])?;
            buffer[..found].iter().for_each(&mut each);
            got += found;
            if found > 0 {
                continue;
            }
            // Arm, poll once more, sleep: a completion in between raises the event.
            if !armed {
                self.arm(false)?;
                armed = true;
                continue;
            }
            if channel.wait(deadline.left())?.is_none() {
                return Err(late(deadline, got, want));
            }
            armed = false;
        }
        Ok(())
    }

    pub(super) const fn raw(&self) -> *mut Cq {
        self.raw.as_ptr()
    }

    pub(super) const fn device(&self) -> &Arc<RdmaDevice> {
        &self.device
    }
}

const fn late(deadline: Deadline, got: usize, want: usize) -> VerbsError {
    VerbsError::Timeout { what: "completions came", waited: deadline.timeout(), got, want }
}

impl Drop for CompletionQueue {
    fn drop(&mut self) {
        // SAFETY: queue pairs keep it, and every event is acknowledged as soon as it is taken.
        unsafe { (self.device.table().ibv_destroy_cq)(self.raw.as_ptr()) };
    }
}
