//! The loops that are measured: a system call, a count, a look at whether something else is to be done. A receiver also
//! looks at the clock.

use std::sync::atomic::{AtomicU32, Ordering};

use seatrial_sys::Errno;
use seatrial_sys::clock::now_ns;
use seatrial_sys::net::{Pull, Push};

use super::meter::Meter;
use super::pattern::PERIOD;

/// Why a loop was left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Left {
    /// There is something else to do.
    Ordered,
    /// The peer closed the connection.
    Ended,
    /// The system refused.
    Failed(Errno),
}

/// Sends messages of `message` bytes, on and on; `total` counts the bytes of the stream so far. A message that was taken
/// in part goes on with the rest of the stream: its bytes depend on their place alone.
/// `orders` counts the orders, of which `seen` are known.
pub fn send(push: &mut dyn Push, message: usize, total: &mut u64, orders: &AtomicU32, seen: u32) -> Left {
    loop {
        match push.push((*total % PERIOD as u64) as usize, message) {
            Ok(bytes) => *total += bytes as u64,
            Err(Errno::AGAIN | Errno::INTR) => {}
            Err(error) => return Left::Failed(error),
        }
        if orders.load(Ordering::Relaxed) != seen {
            return Left::Ordered;
        }
    }
}

/// Receives, on and on. The time of a receipt is that at which the call returned.
pub fn receive(pull: &mut dyn Pull, meter: &mut Meter, orders: &AtomicU32, seen: u32) -> Left {
    loop {
        match pull.pull() {
            Ok(0) => return Left::Ended,
            Ok(bytes) => meter.add(bytes as u64, now_ns()),
            Err(Errno::AGAIN | Errno::INTR) => {}
            Err(error) => return Left::Failed(error),
        }
        if orders.load(Ordering::Relaxed) != seen {
            return Left::Ordered;
        }
    }
}
