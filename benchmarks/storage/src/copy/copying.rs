//! One copy of the files, by read and write or by copy_file_range(2).

use std::os::fd::OwnedFd;

use rustix::fs::{copy_file_range, fdatasync};
use rustix::io::retry_on_intr;
use seatrial_model::{Cause, Nanos, Reason};
use seatrial_sys::Errno;
use seatrial_sys::clock::now_ns;
use seatrial_sys::net::ThreadTime;
use seatrial_sys::storage::{read_whole, write_whole};

use seatrial_bench::Stop;
use seatrial_bench::directory::refused;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    ReadWrite,
    CopyFileRange,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CopyConfig {
    /// Bytes of each file.
    pub size: u64,
    /// Bytes per call.
    pub block: usize,
    pub method: Method,
    pub is_flushed: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Copied {
    pub start: Nanos,
    /// Time at which the last byte was written or copied, before the flush.
    pub handed_over: Nanos,
    /// Time at which the flush returned; equal to `handed_over` without a flush.
    pub end: Nanos,
    pub user: Nanos,
    pub system: Nanos,
}

/// Copies each file of `from` into the empty file of `to` at its place; `None` when `stop` came first.
pub fn copy(
    from: &[OwnedFd],
    to: &[OwnedFd],
    config: &CopyConfig,
    buffer: &mut [u8],
    stop: &Stop,
) -> Result<Option<Copied>, Reason> {
    let thread = || ThreadTime::now().map_err(|errno| refused("reading the thread's CPU time", errno));
    let before = thread()?;
    let start = Nanos(now_ns());
    for (from, to) in from.iter().zip(to) {
        if !one_file(from, to, config, buffer, stop)? {
            return Ok(None);
        }
    }
    let handed_over = Nanos(now_ns());
    let mut end = handed_over;
    if config.is_flushed {
        for copy in to {
            fdatasync(copy).map_err(|errno| refused("flushing the copy", errno))?;
        }
        end = Nanos(now_ns());
    }
    let took = thread()?.since(&before);
    Ok(Some(Copied { start, handed_over, end, user: Nanos(took.user_ns), system: Nanos(took.system_ns) }))
}

/// False when `stop` came first.
fn one_file(
    from: &OwnedFd,
    to: &OwnedFd,
    config: &CopyConfig,
    buffer: &mut [u8],
    stop: &Stop,
) -> Result<bool, Reason> {
    let mut done = 0;
    while done < config.size {
        if stop.is_over() {
            return Ok(false);
        }
        let bytes = (config.block as u64).min(config.size - done) as usize;
        let moved = match config.method {
            Method::ReadWrite => through_memory(from, to, done, &mut buffer[..bytes])?,
            Method::CopyFileRange => by_kernel(from, to, done, bytes)?,
        };
        if moved == 0 {
            let text = format!("the file ended after {done} of {} B", config.size);
            return Err(Reason::new(Cause::IoError, text));
        }
        done += moved as u64;
    }
    Ok(true)
}

fn through_memory(from: &OwnedFd, to: &OwnedFd, offset: u64, buffer: &mut [u8]) -> Result<usize, Reason> {
    let got = read_whole(from, buffer, offset)
        .map_err(|errno| refused(&format!("reading at offset {offset}"), errno))?;
    write_whole(to, &buffer[..got], offset)
        .map_err(|errno| refused(&format!("writing at offset {offset}"), errno))?;
    Ok(got)
}

fn by_kernel(from: &OwnedFd, to: &OwnedFd, offset: u64, bytes: usize) -> Result<usize, Reason> {
    let (mut there, mut here) = (offset, offset);
    let answer = retry_on_intr(|| copy_file_range(from, Some(&mut there), to, Some(&mut here), bytes));
    answer.map_err(|errno| match errno {
        // Different kinds of file system, or one that lacks the call (copy_file_range(2)).
        Errno::XDEV | Errno::INVAL | Errno::OPNOTSUPP | Errno::NOSYS => {
            let text =
                format!("copy_file_range between these directories: {errno}; use -p method=read_write");
            Reason::new(Cause::Missing, text)
        }
        errno => refused(&format!("copying at offset {offset}"), errno),
    })
}
