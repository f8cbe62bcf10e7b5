//! Waits for a file descriptor with a deadline (poll(2)).
#![expect(unsafe_code, reason = "poll and fcntl on descriptors that the library owns")]

use std::time::{Duration, Instant};

use crate::Errno;

#[derive(Clone, Copy, Debug)]
pub(super) struct Deadline {
    start: Instant,
    timeout: Duration,
}

impl Deadline {
    pub fn after(timeout: Duration) -> Self {
        Self { start: Instant::now(), timeout }
    }

    pub fn left(&self) -> Duration {
        self.timeout.saturating_sub(self.start.elapsed())
    }

    pub fn is_over(&self) -> bool {
        self.start.elapsed() >= self.timeout
    }

    pub const fn timeout(&self) -> Duration {
        self.timeout
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Readiness {
    Ready,
    TimedOut,
}

pub(super) fn readable(descriptor: i32, deadline: Deadline) -> Result<Readiness, Errno> {
    let mut entry = libc::pollfd { fd: descriptor, events: libc::POLLIN, revents: 0 };
    loop {
        // Rounded up: a timeout below a millisecond would spin.
        let left = deadline.left().as_nanos().div_ceil(1_000_000);
        let millis = i32::try_from(left).unwrap_or(i32::MAX);
        // SAFETY: one entry, which lives through the call.
        match unsafe { libc::poll(&raw mut entry, 1, millis) } {
            0 if deadline.is_over() => return Ok(Readiness::TimedOut),
            0 => {}
            1 if entry.revents & libc::POLLIN != 0 => return Ok(Readiness::Ready),
            // The descriptor is closed or its device is gone.
            1 => return Err(Errno::NODEV),
            _ => match super::error::last() {
                Errno::INTR => {}
                errno => return Err(errno),
            },
        }
    }
}

pub(super) fn never_block(descriptor: i32) {
    // SAFETY: fcntl with these commands takes and gives numbers, and fails on what is no descriptor.
    unsafe {
        let flags = libc::fcntl(descriptor, libc::F_GETFL);
        if flags >= 0 {
            libc::fcntl(descriptor, libc::F_SETFL, flags | libc::O_NONBLOCK);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::os::fd::AsRawFd;

    use super::*;

    #[test]
    fn waits_until_there_is_something_or_until_the_deadline() {
        let (reader, mut writer) = std::io::pipe().expect("a pipe");
        let soon = Deadline::after(Duration::from_millis(5));
        assert_eq!(readable(reader.as_raw_fd(), soon), Ok(Readiness::TimedOut));
        assert!(soon.is_over() && soon.left().is_zero());
        writer.write_all(b"x").expect("written");
        let long = Deadline::after(Duration::from_secs(600));
        assert_eq!(readable(reader.as_raw_fd(), long), Ok(Readiness::Ready));
        drop(writer);
        let (reader, writer) = std::io::pipe().expect("a pipe");
        drop(writer);
        assert_eq!(
            readable(reader.as_raw_fd(), long),
            Err(Errno::NODEV),
            "a closed end is told, not waited for"
        );
    }
}
