//! The worker's main function: ties itself to its supervisor, learns its task, runs the part.

use std::any::Any;
use std::os::fd::{OwnedFd, RawFd};
use std::os::unix::net::UnixStream;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;
use std::sync::mpsc;
use std::thread;

use rustix::process::{Signal, getppid};
use seatrial_bench::Registry;
use seatrial_model::{Cause, Reason};
use seatrial_sys::{lifetime, process};

use super::control::{Control, WorkerOrder};
use super::outbox::Outbox;
use super::phase_stop::PhaseStop;
use super::phases::{Task, serve};
use crate::frame::FrameReader;
use crate::message::{FromWorker, ToWorker};

/// What a worker exits with when its part could not go on; the reason went to the supervisor before.
const PART_FAILED: u8 = 1;

/// What a worker exits with when it was started by hand, or by something that is no supervisor.
const NO_SUPERVISOR: u8 = 2;

/// Serves one part of one trial on the socket inherited as descriptor `fd`, to its end.
///
/// Takes the process over: descriptor `fd`, the signals, its threads. Call it before anything else is started. When
/// the socket closes, the process kills itself and its process group, whatever the part is doing.
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
        // Without a thread for the part there is nobody left who could say so but the exit code.
        Ok(Err(_)) | Err(_) => ExitCode::from(PART_FAILED),
    }
}

/// Two ropes, because each can be cut: the end of the socket ends the worker through its control thread, unless
/// that thread cannot run; the parent-death signal ends it when the parent itself is the supervisor, which it is
/// not under mpirun, srun or a wrapper.
fn tie_to_supervisor(channel: &UnixStream) {
    // Ctrl-C reaches every process of the foreground group; what it means is the controller's decision.
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
        Err(panic) => refuse(&mut outbox, Cause::Crash, format!("the part panicked: {}", words(&*panic))),
    }
}

fn refuse(outbox: &mut Outbox, cause: Cause, text: String) -> ExitCode {
    // What is too long to send is not a reason that anybody could read.
    let text = if text.len() > 4096 { text.chars().take(4096).collect() } else { text };
    if let Err(reason) = outbox.send(&FromWorker::Failed { reason: Reason::new(cause, text) }) {
        tracing::error!("cannot tell the supervisor why the part failed: {reason}");
    }
    ExitCode::from(PART_FAILED)
}

fn words(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("without words")
}
