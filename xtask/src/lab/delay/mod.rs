//! A long link: a process that takes frames from each of two TAP devices, holds each for a time, and hands it to the other.
//! netem(8) does the same, but many kernels lack it.

mod kernel;

use std::collections::VecDeque;
use std::fs::File;
use std::io::{ErrorKind, Read, Write};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use rustix::event::{PollFd, PollFlags, Timespec, poll};

/// The program of a long link; `lab fault NODE delay=10ms` starts it.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The devices, which it makes.
    devices: Vec<String>,
    /// How long a frame is held, in microseconds.
    #[arg(long)]
    micros: u64,
}

/// Bytes that one direction holds at most: 0.5 s of 1 Gbit/s. What comes beyond is dropped.
const MOST_HELD: usize = 64 << 20;

/// Frames that are read before those that are due are looked at again.
const BURST: usize = 32;

/// More than a frame of any MTU.
const LARGEST_FRAME: usize = 65_600;

/// Carries frames until it is killed.
///
/// # Errors
/// When a device cannot be made or read.
pub fn run(args: &Args) -> Result<()> {
    let [one, other] = args.devices.as_slice() else { anyhow::bail!("two devices are needed") };
    let (one, other) = (kernel::tap(one)?, kernel::tap(other)?);
    let delay = Duration::from_micros(args.micros);
    std::thread::scope(|scope| {
        let back = scope.spawn(|| carry(&other, &one, delay));
        carry(&one, &other, delay)?;
        back.join().unwrap_or(Ok(()))
    })
}

/// Frames that are held, in order.
#[derive(Debug, Default)]
struct Held {
    frames: VecDeque<(Instant, Vec<u8>)>,
    bytes: usize,
}

impl Held {
    /// Holds a frame until `due`, if there is room.
    fn push(&mut self, due: Instant, frame: &[u8]) {
        if self.bytes + frame.len() <= MOST_HELD {
            self.bytes += frame.len();
            self.frames.push_back((due, frame.to_vec()));
        }
    }

    /// The next frame, if it is due.
    fn pop(&mut self, now: Instant) -> Option<Vec<u8>> {
        let (_, frame) = self.frames.pop_front_if(|(due, _)| *due <= now)?;
        self.bytes -= frame.len();
        Some(frame)
    }

    /// How long nothing is due; none where nothing is held.
    fn wait(&self, now: Instant) -> Option<Duration> {
        self.frames.front().map(|(due, _)| due.saturating_duration_since(now))
    }
}

fn carry(mut from: &File, mut to: &File, delay: Duration) -> Result<()> {
    let (mut held, mut room) = (Held::default(), vec![0; LARGEST_FRAME]);
    loop {
        let wait = held.wait(Instant::now()).map(Timespec::try_from).transpose()?;
        match poll(&mut [PollFd::new(from, PollFlags::IN)], wait.as_ref()) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(errno) => return Err(errno).context("cannot wait for a frame"),
        }
        for _ in 0..BURST {
            match from.read(&mut room) {
                Ok(bytes) => held.push(Instant::now() + delay, &room[..bytes]),
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                Err(error) => return Err(error).context("cannot read a frame"),
            }
        }
        while let Some(frame) = held.pop(Instant::now()) {
            // A device that is down takes none, as a link that is cut.
            let _ = to.write(&frame);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_are_held_in_order_until_they_are_due_and_no_more_than_there_is_room_for() {
        let (start, delay) = (Instant::now(), Duration::from_millis(10));
        let mut held = Held::default();
        assert_eq!((held.wait(start), held.pop(start)), (None, None));
        held.push(start + delay, b"first");
        held.push(start + 2 * delay, b"second");
        assert_eq!(held.wait(start), Some(delay));
        assert_eq!(held.pop(start), None);
        assert_eq!(held.pop(start + 3 * delay).as_deref(), Some(&b"first"[..]));
        assert_eq!(held.wait(start + 3 * delay), Some(Duration::ZERO));
        assert_eq!(held.pop(start + 3 * delay).as_deref(), Some(&b"second"[..]));
        let frame = vec![0; LARGEST_FRAME];
        (0..2000).for_each(|_| held.push(start, &frame));
        assert_eq!(held.frames.len(), MOST_HELD / LARGEST_FRAME);
        while held.pop(start).is_some() {}
        assert_eq!(held.bytes, 0);
    }
}
