//! A thread that writes to several peers.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use seatrial_bench::all_to_all::Transfer;
use seatrial_bench::verbs::RdmaEndpoint;
use seatrial_model::Reason;
use seatrial_sys::clock::now_ns;

use crate::bandwidth::counts::Counts;
use crate::bandwidth::send_loop::SendLoop;

/// The flows of a thread.
pub struct Sender {
    send: SendLoop<Arc<RdmaEndpoint>>,
    message: u64,
    slice_ns: u64,
}

impl Sender {
    pub fn new(endpoint: Arc<RdmaEndpoint>, thread: usize, slice_ns: u64) -> Result<Self, Reason> {
        let message = endpoint.config.largest();
        let mut send = SendLoop::new(endpoint, thread);
        send.prepare(0)?;
        Ok(Self { send, message, slice_ns })
    }

    /// Writes until an order follows the one of number `order`.
    pub fn lap(&mut self, orders: &AtomicU32, order: u32) -> Result<Transfer, Reason> {
        let start = now_ns();
        let before: Vec<u64> = self.send.completed().collect();
        let (message, slice_ns) = (self.message, self.slice_ns);
        let mut slices = Slices { message, slice_ns, start, bytes: 0, all: Vec::new() };
        while orders.load(Ordering::Relaxed) <= order {
            self.send.step(0, &mut slices)?;
        }
        let end = now_ns();
        slices.all.push((slices.start, end, slices.bytes));
        let flows = self.send.completed().zip(before).map(|(now, before)| (now - before) * message);
        Ok(Transfer { slices: slices.all, flows: flows.collect(), window_ns: end - start })
    }

    /// Waits until all messages have arrived.
    pub fn finish(&mut self) -> Result<(), Reason> {
        self.send.finish(0, &mut Uncounted).map(drop)
    }

    /// Writes one message over each flow, and waits until all have arrived.
    pub fn once(&mut self) -> Result<(), Reason> {
        self.send.once().map(drop)
    }
}

/// The bytes of all flows, slice by slice.
struct Slices {
    message: u64,
    slice_ns: u64,
    start: u64,
    bytes: u64,
    all: Vec<(u64, u64, u64)>,
}

impl Counts for Slices {
    #[inline]
    fn add(&mut self, _: usize, messages: u64, at: u64) {
        self.bytes += messages * self.message;
        if at - self.start >= self.slice_ns {
            self.all.push((self.start, at, self.bytes));
            (self.start, self.bytes) = (at, 0);
        }
    }
}

/// What arrives after the measuring time.
struct Uncounted;

impl Counts for Uncounted {
    fn add(&mut self, _: usize, _: u64, _: u64) {}
}
