//! The ranks of this node.

use std::io::{self, BufRead, BufReader, Write};
use std::os::fd::{AsFd, AsRawFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Stdio};
use std::sync::mpsc::Sender;

use rustix::io::{FdFlags, fcntl_setfd};
use seatrial_sys::process::tie_to_parent;

use super::{Block, RankEvent};
use crate::node::spawn;
use crate::process::rank_command;

/// A rank that a signal ended has this and the number of the signal as its exit code, as in a shell.
const SIGNALLED: i32 = 128;

/// Started ranks, which end when this is dropped.
pub struct LocalRanks {
    first: usize,
    ranks: Vec<LaunchedRank>,
}

struct LaunchedRank {
    child: Child,
    stream: UnixStream,
}

impl LocalRanks {
    pub fn start(block: Block, report: &Sender<RankEvent>) -> io::Result<Self> {
        let mut started = Self { first: block.first, ranks: Vec::new() };
        for rank in block.first..block.first + block.count {
            started.ranks.push(LaunchedRank::start(rank, block.of, report.clone())?);
        }
        Ok(started)
    }

    pub fn count(&self) -> usize {
        self.ranks.len()
    }

    pub fn tell(&mut self, rank: usize, line: &str) {
        if let Some(rank) = rank.checked_sub(self.first).and_then(|at| self.ranks.get_mut(at)) {
            // A rank that is gone is told by the end of its connection.
            let _ = rank.stream.write_all(format!("{line}\n").as_bytes());
        }
    }

    /// The exit code of a rank whose connection is closed.
    pub fn code_of(&mut self, rank: usize) -> io::Result<i32> {
        let status = self.ranks[rank - self.first].child.wait()?;
        Ok(status.code().unwrap_or_else(|| SIGNALLED + status.signal().unwrap_or(0)))
    }
}

impl Drop for LocalRanks {
    fn drop(&mut self) {
        for rank in &mut self.ranks {
            let _ = rank.child.kill();
            let _ = rank.child.wait();
        }
    }
}

impl LaunchedRank {
    /// Starts a rank with its connection, whose lines are reported by a thread.
    fn start(rank: usize, of: usize, report: Sender<RankEvent>) -> io::Result<Self> {
        let (stream, theirs) = UnixStream::pair()?;
        fcntl_setfd(&theirs, FdFlags::empty())?;
        let mut command = rank_command();
        // Standard output is for the launcher.
        command.stdin(Stdio::null()).stdout(io::stderr().as_fd().try_clone_to_owned()?);
        for (name, value) in [("PMI_FD", theirs.as_raw_fd() as usize), ("PMI_RANK", rank), ("PMI_SIZE", of)] {
            command.env(name, value.to_string());
        }
        let child = tie_to_parent(&mut command).spawn()?;
        // The next rank must not have it too.
        drop(theirs);
        let lines = BufReader::new(stream.try_clone()?).lines();
        spawn("pmi", move || {
            for line in lines.map_while(Result::ok) {
                if report.send(RankEvent::Line(rank, line)).is_err() {
                    return;
                }
            }
            let _ = report.send(RankEvent::Closed(rank));
        })?;
        Ok(Self { child, stream })
    }
}
