//! The launcher of our own for MPICH and its relatives on one node: starts ranks and serves PMI-1.

use std::io::{self, BufRead, BufReader, Write};
use std::os::fd::AsRawFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, ExitCode, ExitStatus, Stdio};
use std::sync::mpsc::{Sender, channel};

use rustix::io::{FdFlags, fcntl_setfd};
use seatrial_sys::process::tie_to_parent;

use super::node::spawn;
use super::pmi::{PmiAnswer, PmiServer};
use super::process::rank_command;

/// A rank that a signal ended has this and the number of the signal as its exit code, as in a shell.
const SIGNALLED: i32 = 128;

/// What comes of a rank, by its number.
enum RankEvent {
    Line(usize, String),
    Closed(usize),
}

struct LaunchedRank {
    child: Child,
    stream: UnixStream,
}

/// Runs this process as the launcher of so many ranks.
pub fn launch(ranks: usize) -> ExitCode {
    let ended = run(ranks);
    if let Err(error) = &ended {
        #[expect(clippy::print_stderr, reason = "the worker reads what its launcher prints")]
        {
            eprintln!("seatrial: cannot start the ranks: {error}");
        }
    }
    ExitCode::from(ended.ok().and_then(|code| u8::try_from(code).ok()).unwrap_or(1))
}

/// The exit code of the first rank that failed; 0 where all ended well.
fn run(ranks: usize) -> io::Result<i32> {
    let (report, events) = channel();
    let mut all = Vec::new();
    for rank in 0..ranks {
        all.push(start(rank, ranks, report.clone())?);
    }
    drop(report);
    let mut server = PmiServer::new(ranks);
    // Ends when the connections of all ranks are closed.
    for event in events {
        let failed = match event {
            RankEvent::Line(rank, line) => match server.answer(&line) {
                PmiAnswer::Line(answer) => {
                    all[rank].tell(&answer);
                    None
                }
                PmiAnswer::ToAll(answer) => {
                    all.iter_mut().for_each(|rank| rank.tell(&answer));
                    None
                }
                PmiAnswer::Wait => None,
                PmiAnswer::Abort(code) => Some(code.into()),
            },
            RankEvent::Closed(rank) => Some(code_of(all[rank].child.wait()?)).filter(|code| *code != 0),
        };
        if let Some(code) = failed {
            for rank in &mut all {
                let _ = rank.child.kill();
                let _ = rank.child.wait();
            }
            return Ok(code);
        }
    }
    Ok(0)
}

fn code_of(status: ExitStatus) -> i32 {
    status.code().unwrap_or_else(|| SIGNALLED + status.signal().unwrap_or(0))
}

/// Starts a rank with its connection, whose lines are reported by a thread.
fn start(rank: usize, ranks: usize, report: Sender<RankEvent>) -> io::Result<LaunchedRank> {
    let (stream, theirs) = UnixStream::pair()?;
    fcntl_setfd(&theirs, FdFlags::empty())?;
    let mut command = rank_command();
    command.stdin(Stdio::null());
    for (name, value) in [("PMI_FD", theirs.as_raw_fd() as usize), ("PMI_RANK", rank), ("PMI_SIZE", ranks)] {
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
    Ok(LaunchedRank { child, stream })
}

impl LaunchedRank {
    fn tell(&mut self, line: &str) {
        // A rank that is gone is told by the end of its connection.
        let _ = self.stream.write_all(format!("{line}\n").as_bytes());
    }
}
