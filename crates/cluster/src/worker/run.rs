//! Main function of the worker: ties it to its supervisor, reads its task, runs the part.

use std::os::fd::{OwnedFd, RawFd};
use std::os::unix::net::UnixStream;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;
use std::sync::mpsc;
use std::thread;

use rustix::process::{Signal, getppid};
use seatrial_bench::{Registry, panic_text};
use seatrial_model::{Cause, Reason};
use seatrial_sys::{lifetime, process};

use super::control::{Control, WorkerOrder};
use super::outbox::Outbox;
use super::phase_stop::PhaseStop;
use super::phases::{Task, serve};
use crate::frame::FrameReader;
use crate::message::{FromWorker, ToWorker};

/// Exit code when the part failed; the reason was sent before.
const PART_FAILED: u8 = 1;

/// Exit code when the worker was started by hand or by anything but a supervisor.
const NO_SUPERVISOR: u8 = 2;

/// Serves one part of one trial on the socket inherited as descriptor `fd`.
///
/// Call it first: it takes over descriptor, signals and threads. When the socket closes, the process kills itself and
/// its process group.
pub fn worker_main(registry: &Registry, fd: RawFd) -> ExitCode {
    match process::adopt(fd) {
        Ok(channel) => work(*registry, channel),
        Err(error) => {
            tracing::error!("a worker has no supervisor: {error}");
            ExitCode::from(NO_SUPERVISOR)
        }
    }
}

fn work(registry: Registry, channel: OwnedFd) -> ExitCode {
    let channel = UnixStream::from(channel);
    tie_to_supervisor(&channel);
    let Ok(outgoing) = channel.try_clone() else { return ExitCode::from(NO_SUPERVISOR) };
    let mut outbox = Outbox::new(outgoing);
    let mut frames = FrameReader::new(channel);
    let task = match frames.read() {
        Ok(Some(ToWorker::Task { case, place, trial })) => Task { case, place, trial },
        Ok(Some(other)) => {
            return refuse(&mut outbox, Cause::Protocol, format!("the first message is {other:?}"));
        }
        Ok(None) | Err(_) => lifetime::die_with_group(),
    };
    let (orders, inbox) = mpsc::channel();
    let phase_stop = PhaseStop::default();
    let control = Control::new(frames, orders, phase_stop.clone());
    let started = thread::Builder::new().name("control".to_owned()).spawn(move || control.listen());
    if let Err(error) = started {
        return refuse(
            &mut outbox,
            Cause::Launcher,
            format!("cannot start the worker's control thread: {error}"),
        );
    }
    let part = thread::Builder::new()
        .name("part".to_owned())
        .spawn(move || run_part(&registry, &task, &inbox, phase_stop, outbox));
    match part.map(thread::JoinHandle::join) {
        Ok(Ok(code)) => code,
        // Without a thread for the part, only the exit code can report the failure.
        Ok(Err(_)) | Err(_) => ExitCode::from(PART_FAILED),
    }
}

/// Two mechanisms, since each can fail: the end of the socket, unless the control thread cannot run, and the
/// parent-death signal, unless mpirun, srun or a wrapper is the parent.
fn tie_to_supervisor(channel: &UnixStream) {
    // Ctrl-C reaches the whole foreground group; the controller handles it.
    if let Err(errno) = lifetime::ignore(Signal::INT) {
        tracing::warn!("cannot ignore SIGINT: {errno}");
    }
    let supervisor = rustix::net::sockopt::socket_peercred(channel).ok().map(|peer| peer.pid);
    if let Some(parent) = getppid().filter(|parent| Some(*parent) == supervisor)
        && lifetime::tie_group_to_parent(parent).is_err()
    {
        lifetime::die_with_group();
    }
    let _ = process::name_thread("seatrial-worker");
}

fn run_part(
    registry: &Registry,
    task: &Task,
    inbox: &mpsc::Receiver<WorkerOrder>,
    phase_stop: PhaseStop,
    mut outbox: Outbox,
) -> ExitCode {
    let served = catch_unwind(AssertUnwindSafe(|| serve(registry, task, inbox, phase_stop, &mut outbox)));
    match served {
        Ok(Ok(())) => ExitCode::SUCCESS,
        Ok(Err(Reason { cause, text })) => refuse(&mut outbox, cause, text),
        Err(panic) => {
            refuse(&mut outbox, Cause::Crash, format!("the part panicked: {}", panic_text(&*panic)))
        }
    }
}

fn refuse(outbox: &mut Outbox, cause: Cause, text: String) -> ExitCode {
    // A reason that is too long to send is too long to read.
    let text = if text.len() > 4096 { text.chars().take(4096).collect() } else { text };
    if let Err(reason) = outbox.send(&FromWorker::Failed { reason: Reason::new(cause, text) }) {
        tracing::error!("cannot report to the supervisor why the part failed: {reason}");
    }
    ExitCode::from(PART_FAILED)
}
