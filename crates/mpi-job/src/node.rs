//! What the part of a node does for a job that another part started: runs the launcher's command, and passes on what its
//! ranks and that part say to each other.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::process::{ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use seatrial_model::{Cause, Reason};
use seatrial_sys::process::leave_with_parent;
use socket2::Socket;

use super::environment;
use super::process::{CallListener, Caller, own_program};
use super::wire::{RemoteAnswer, RemoteCommand, send};

/// Connections of a node to the part that starts the job, beside one for each rank: for the launcher's command, and for the
/// ends of phases.
pub const CONNECTIONS: usize = 2;

/// Time of the part that starts the job to tell why it ended, before this one tells that it did.
const OTHER_REASON: Duration = Duration::from_secs(2);

/// The exit code of ssh(1) where it has none of the command.
pub const NO_EXIT_CODE: u8 = 255;

/// The node's end of a job.
pub struct NodeEnd {
    phases: TcpStream,
}

impl NodeEnd {
    /// Serves these connections, in the order of their numbers: [`CONNECTIONS`], then one for each rank of the node.
    pub fn start(streams: Vec<TcpStream>) -> Result<Self, Reason> {
        let failed = |error: io::Error| Reason::new(Cause::Launcher, format!("cannot serve ranks: {error}"));
        let mut streams = streams.into_iter();
        let (Some(commands), Some(phases)) = (streams.next(), streams.next()) else {
            return Err(Reason::new(Cause::Protocol, "the connections of a node are missing"));
        };
        let calls = Arc::new(CallListener::open().map_err(failed)?);
        send(&commands, &calls.call()).map_err(failed)?;
        let is_over = Arc::new(AtomicBool::new(false));
        let (listener, over) = (Arc::clone(&calls), Arc::clone(&is_over));
        spawn("launcher", move || {
            serve_commands(commands.into(), &listener);
            over.store(true, Ordering::Relaxed);
        })
        .map_err(failed)?;
        spawn("ranks", move || {
            for stream in streams {
                let called = calls.accept(|| Ok(is_over.load(Ordering::Relaxed)));
                let Ok(Some((rank, process))) = called else { return };
                if join(rank.into(), process, stream.into()).is_err() {
                    return;
                }
            }
        })
        .map_err(failed)?;
        Ok(Self { phases })
    }

    /// Waits until the ranks have ended a phase.
    pub fn wait(&mut self) -> Result<(), Reason> {
        self.phases.read_exact(&mut [0]).map_err(|error| {
            // That part tells why, and its reason is to come first.
            thread::sleep(OTHER_REASON);
            let text = format!("the connection to the part that started the MPI job closed: {error}");
            Reason::new(Cause::PartnerLost, text)
        })
    }
}

pub fn spawn(name: &str, run: impl FnOnce() + Send + 'static) -> io::Result<()> {
    thread::Builder::new().name(name.to_owned()).spawn(run).map(drop)
}

/// Passes all bytes from one connection to another, on a thread, and then closes the other.
pub fn relay(from: &Socket, to: &Socket, then: impl FnOnce() + Send + 'static) -> io::Result<()> {
    let (mut from, mut to) = (from.try_clone()?, to.try_clone()?);
    spawn("relay", move || {
        let _ = io::copy(&mut from, &mut to);
        let _ = to.shutdown(Shutdown::Write);
        then();
    })
}

/// Joins a rank of this node and its connection to the part that started the job. The rank dies with the connection.
fn join(rank: Socket, process: Caller, stream: Socket) -> io::Result<()> {
    relay(&rank, &stream, || ())?;
    let own = rank.try_clone()?;
    relay(&stream, &rank, move || {
        let _ = own.shutdown(Shutdown::Both);
        process.kill();
    })
}

/// Starts the commands that come, one at a time. They end with this thread, which ends with the connection.
pub fn serve_commands(stream: Socket, calls: &CallListener) {
    let Ok(incoming) = stream.try_clone() else { return };
    let mut lines = BufReader::new(incoming).lines().map_while(Result::ok);
    while let Some(command) = lines.next().and_then(|line| serde_json::from_str(&line).ok()) {
        match start(&command, &stream, calls) {
            Ok(None) => {}
            Ok(Some(mut input)) => {
                // All other lines are for this command.
                for line in lines.by_ref() {
                    // Its end is told by its exit code.
                    let _ = writeln!(input, "{line}");
                }
            }
            Err(error) => {
                let text = format!("cannot start the launcher's command: {error}\n");
                let _ = send(&stream, &RemoteAnswer::Printed { text });
                let _ = send(&stream, &RemoteAnswer::Ended { code: NO_EXIT_CODE });
            }
        }
    }
}

/// Starts a command; what goes to the standard input of one that talks.
fn start(command: &RemoteCommand, stream: &Socket, calls: &CallListener) -> io::Result<Option<ChildStdin>> {
    // As ssh does: the line is for a shell. The launcher names this program by its path on the launcher's node.
    let program = own_program();
    let here = |text: &String| text.replace(&command.program, &program);
    let mut shell = Command::new("/bin/sh");
    shell.arg("-c").arg(here(&command.line));
    environment::scrub(&mut shell);
    shell.envs(command.environment.iter().map(|(name, value)| (name, here(value))));
    calls.tell(&mut shell);
    let (mut printed, writer) = io::pipe()?;
    if command.talks {
        shell.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(writer);
    } else {
        shell.stdin(Stdio::null()).stdout(writer.try_clone()?).stderr(writer);
    }
    let mut child = leave_with_parent(&mut shell).spawn()?;
    // The command holds the pipe's other end.
    drop(shell);
    let (input, output) = (child.stdin.take(), child.stdout.take());
    let answers = Arc::new(Mutex::new(stream.try_clone()?));
    let said = output.map(|output| tell_lines(output, Arc::clone(&answers))).transpose()?;
    spawn("command", move || {
        let mut bytes = [0; 4096];
        while let Ok(count @ 1..) = printed.read(&mut bytes) {
            let text = String::from_utf8_lossy(&bytes[..count]).into_owned();
            tell(&answers, &RemoteAnswer::Printed { text });
        }
        // The last line comes before the end.
        let _ = said.map(JoinHandle::join);
        let code = child.wait().ok().as_ref().and_then(ExitStatus::code);
        let code = code.and_then(|code| u8::try_from(code).ok()).unwrap_or(NO_EXIT_CODE);
        tell(&answers, &RemoteAnswer::Ended { code });
    })?;
    Ok(input)
}

fn tell(answers: &Mutex<Socket>, answer: &RemoteAnswer) {
    let _ = send(&*answers.lock().unwrap_or_else(PoisonError::into_inner), answer);
}

/// Tells the lines of a command that talks.
fn tell_lines(output: ChildStdout, answers: Arc<Mutex<Socket>>) -> io::Result<JoinHandle<()>> {
    thread::Builder::new().name("lines".to_owned()).spawn(move || {
        for text in BufReader::new(output).lines().map_while(Result::ok) {
            tell(&answers, &RemoteAnswer::Line { text });
        }
    })
}
