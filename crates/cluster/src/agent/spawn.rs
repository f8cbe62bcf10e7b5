//! Starts a worker and the threads that serve it.

use std::io;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::process::{Child, Stdio};
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread::{self, JoinHandle};

use rustix::process::Signal;
use seatrial_sys::process::{inherit, socket_pair, tie_to_parent};
use seatrial_sys::storage::{FdStore, Purpose};

use super::group::Group;
use super::output::Output;
use super::reports::Reports;
use super::supervise::{Ask, Supervised};
use crate::frame::{FrameReader, FrameWriter};
use crate::message::{FromWorker, Report, ToWorker, WorkerId};
use crate::own_program::own_program;

pub(super) struct Handle {
    pub(super) tell: Sender<ToWorker>,
    pub(super) ask: Sender<Ask>,
    pub(super) pid: u32,
}

/// Starts a worker. Call on the agent's main thread: the parent-death signal is tied to the thread that forked. The
/// worker leaves files for later workers on `store`.
pub(super) fn start(
    id: WorkerId,
    reports: &Reports,
    fd_store: Option<&FdStore>,
) -> Result<(Handle, Supervised), String> {
    let (ours, theirs) = socket_pair().map_err(|error| format!("cannot make a socket pair: {error}"))?;
    let (output, printed) = io::pipe().map_err(|error| format!("cannot make a pipe: {error}"))?;
    let announced = FdStore::new().map_err(|error| format!("cannot make a socket pair: {error}"))?;
    let child = spawn(theirs, printed, fd_store, &announced)
        .map_err(|error| format!("cannot start a worker process: {error}"))?;
    let group = Group::of(&child);
    serve(id, child, ours, output, announced, reports).map_err(|(mut child, error)| {
        group.signal(Signal::KILL);
        let _ = child.wait();
        format!("cannot start a thread for a worker: {error}")
    })
}

/// The same program, even if its file was replaced meanwhile, in a process group of its own.
fn spawn(
    channel: UnixStream,
    printed: io::PipeWriter,
    fd_store: Option<&FdStore>,
    announced: &FdStore,
) -> io::Result<Child> {
    let mut command = own_program();
    let number = inherit(&mut command, channel);
    command.args(["worker", "--fd", &number.to_string()]);
    if let Some(fd_store) = fd_store {
        fd_store.lend(&mut command, Purpose::Files)?;
    }
    announced.lend(&mut command, Purpose::Leftovers)?;
    // NVIDIA's driver would cache compiled kernels in the home directory; a run leaves nothing on a node.
    command.env("CUDA_CACHE_DISABLE", "1");
    command.stdin(Stdio::null()).stdout(printed.try_clone()?).stderr(printed);
    tie_to_parent(&mut command).process_group(0).spawn()
}

fn serve(
    id: WorkerId,
    child: Child,
    channel: UnixStream,
    output: io::PipeReader,
    announced: FdStore,
    reports: &Reports,
) -> Result<(Handle, Supervised), (Child, io::Error)> {
    let (ask, asked) = mpsc::channel();
    let (tell, told) = mpsc::channel();
    let group = Group::of(&child);
    let threads = || {
        let (incoming, outgoing) = (channel.try_clone()?, channel.try_clone()?);
        let relay = relay(id, incoming, reports.clone(), ask.clone())?;
        let output = Output::drain(output)?;
        thread::Builder::new().name(format!("tell {}", id.0)).spawn(move || pass_on(&told, outgoing))?;
        let exited = ask.clone();
        thread::Builder::new().name(format!("wait {}", id.0)).spawn(move || {
            group.wait_for_leader();
            let _ = exited.send(Ask::Reap);
        })?;
        Ok((relay, output))
    };
    match threads() {
        Ok((relay, output)) => {
            let handle = Handle { tell, ask, pid: group.pid() };
            Ok((handle, Supervised { child, channel, relay, output, asked, announced }))
        }
        Err(error) => Err((child, error)),
    }
}

/// Relays messages of the worker until the end of the stream; returns the error of a malformed message.
fn relay(
    id: WorkerId,
    channel: UnixStream,
    reports: Reports,
    ask: Sender<Ask>,
) -> io::Result<JoinHandle<Option<String>>> {
    thread::Builder::new().name(format!("relay {}", id.0)).spawn(move || {
        let mut frames = FrameReader::new(channel);
        let wrong = loop {
            let passed = match frames.read::<FromWorker>() {
                Ok(Some(message)) => reports.send(&Report::Said { worker: id, message }),
                // A worker that dies in the middle of a message: its death is the explanation.
                Ok(None) => return None,
                Err(error) if error.is_hang_up() => return None,
                Err(error) => Err(error),
            };
            if let Err(error) = passed {
                break error.to_string();
            }
        };
        // The stream is out of sync from here on.
        let _ = ask.send(Ask::KillNow);
        Some(wrong)
    })
}

/// Passes messages to the worker on a thread, since a hung worker does not read.
fn pass_on(told: &Receiver<ToWorker>, channel: UnixStream) {
    let mut frames = FrameWriter::new(channel);
    for message in told {
        if let Err(error) = frames.write(&message) {
            tracing::debug!("cannot send {message:?} to a worker: {error}");
            return;
        }
    }
}
