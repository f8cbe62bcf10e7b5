//! The measured loops: a wait for flows that can move, a call for each of them, a check for the next order.

use std::io::{ErrorKind, Read, Write};
use std::sync::atomic::{AtomicU32, Ordering};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use seatrial_sys::Errno;
use seatrial_sys::clock::now_ns;

use super::flows::Flows;
use crate::byte_stream::pattern::{Check, PERIOD};

/// How a loop ended; a flow by its position.
#[derive(Debug)]
pub enum LoopEnd {
    Ordered,
    Ended(usize),
    Failed(usize, std::io::Error),
}

/// Longest wait, after which an order is noticed.
const POLL_INTERVAL: Timespec = Timespec { tv_sec: 0, tv_nsec: 10_000_000 };

/// Most bytes of a receive call.
const ROOM: usize = 256 << 10;

/// Bytes of a call that are compared, once a slice and flow: comparing all of them would be part of the measurement.
const COMPARED: usize = 4096;

/// Sends a message on each flow that takes data, until an order follows the one of number `order`.
pub fn send(flows: &mut Flows, source: &[u8], message: usize, orders: &AtomicU32, order: u32) -> LoopEnd {
    let Flows { streams, totals, .. } = flows;
    let mut ready: Vec<PollFd<'_>> =
        streams.iter().map(|stream| PollFd::new(stream, PollFlags::OUT)).collect();
    while orders.load(Ordering::Relaxed) <= order {
        if let Err(error) = wait(&mut ready) {
            return LoopEnd::Failed(0, error.into());
        }
        for (at, total) in totals.iter_mut().enumerate().filter(|(at, _)| !ready[*at].revents().is_empty()) {
            // The value of a byte depends on its position alone.
            let from = (*total % PERIOD as u64) as usize;
            match (&streams[at]).write(&source[from..from + message]) {
                Ok(bytes) => *total += bytes as u64,
                Err(error) if is_passing(&error) => {}
                Err(error) => return LoopEnd::of(at, error),
            }
        }
    }
    LoopEnd::Ordered
}

/// Receives what has come on each flow, until the next order. The bytes of all flows go into `slices` of `slice_ns` or
/// more, the last one excepted.
pub fn receive(
    flows: &mut Flows,
    check: &mut Check,
    slice_ns: u64,
    slices: &mut Vec<(u64, u64, u64)>,
    orders: &AtomicU32,
    order: u32,
) -> LoopEnd {
    let Flows { streams, totals, .. } = flows;
    let mut ready: Vec<PollFd<'_>> =
        streams.iter().map(|stream| PollFd::new(stream, PollFlags::IN)).collect();
    let (mut compared, mut room) = (vec![false; streams.len()], vec![0; ROOM]);
    let (mut start, mut bytes) = (now_ns(), 0);
    while orders.load(Ordering::Relaxed) <= order {
        if let Err(error) = wait(&mut ready) {
            return LoopEnd::Failed(0, error.into());
        }
        for (at, total) in totals.iter_mut().enumerate().filter(|(at, _)| !ready[*at].revents().is_empty()) {
            match (&streams[at]).read(&mut room) {
                Ok(0) => return LoopEnd::Ended(at),
                Ok(came) => {
                    if !std::mem::replace(&mut compared[at], true) {
                        check.check_bytes(&room[..came.min(COMPARED)], *total);
                    }
                    *total += came as u64;
                    bytes += came as u64;
                }
                Err(error) if is_passing(&error) => {}
                Err(error) => return LoopEnd::of(at, error),
            }
        }
        let now = now_ns();
        if now - start >= slice_ns {
            slices.push((start, now, bytes));
            (start, bytes) = (now, 0);
            compared.fill(false);
        }
    }
    slices.push((start, now_ns(), bytes));
    LoopEnd::Ordered
}

/// Waits until a flow can move data. An error of a connection is told by the call on it.
fn wait(flows: &mut [PollFd<'_>]) -> Result<(), Errno> {
    match poll(flows, Some(&POLL_INTERVAL)) {
        Err(error) if error != Errno::INTR => Err(error),
        _ => Ok(()),
    }
}

fn is_passing(error: &std::io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted)
}

impl LoopEnd {
    fn of(flow: usize, error: std::io::Error) -> Self {
        match error.kind() {
            ErrorKind::ConnectionReset | ErrorKind::BrokenPipe => Self::Ended(flow),
            _ => Self::Failed(flow, error),
        }
    }
}
