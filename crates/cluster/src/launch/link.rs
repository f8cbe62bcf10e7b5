//! One agent as its controller holds it: a child process, two pipes for frames, one for its last words.

use std::io;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver, Sender, SyncSender};
use std::thread;
use std::time::{Duration, Instant};

use crate::agent::{Output, signal_name};
use crate::fleet::{LaunchError, NodeIndex};
use crate::frame::{FrameReader, FrameWriter};
use crate::message::{self, Report};

/// How long an agent that ended its stream may take to exit before it is killed.
const EXITING: Duration = Duration::from_secs(1);

/// What came from an agent's stream: a report, or why there will be none.
pub(super) struct Heard {
    pub(super) node: NodeIndex,
    pub(super) said: Result<Report, String>,
}

/// A running agent. Dropping it kills the process; its workers are tied to it and die with it.
pub(super) struct Link {
    child: Child,
    commands: Option<Sender<message::Command>>,
    stderr: Output,
}

impl Link {
    /// Starts an agent with `command`; what it says goes to `heard`, which is bounded, so that a controller that is
    /// busy slows its agents instead of filling up.
    ///
    /// # Errors
    /// [`LaunchError::Start`].
    pub(super) fn start(
        node: NodeIndex,
        label: &str,
        command: &mut Command,
        heard: SyncSender<Heard>,
    ) -> Result<Self, LaunchError> {
        let program = command.get_program().to_string_lossy().into_owned();
        let failed = |what: &str, error: io::Error| LaunchError::Start {
            node: label.to_owned(),
            why: format!("{what}: {error}"),
        };
        let command = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().map_err(|error| failed(&format!("starting '{program}'"), error))?;
        let pipes = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let threads = || {
            let (Some(stdin), Some(stdout), Some(stderr)) = pipes else {
                return Err(io::ErrorKind::BrokenPipe.into());
            };
            let (commands, queue) = mpsc::channel();
            thread::Builder::new()
                .name("send".to_owned())
                .spawn(move || send_all(&queue, FrameWriter::new(stdin)))?;
            thread::Builder::new()
                .name("hear".to_owned())
                .spawn(move || hear_all(node, FrameReader::new(stdout), &heard))?;
            Ok((commands, Output::drain(stderr)?))
        };
        match threads() {
            Ok((commands, stderr)) => Ok(Self { child, commands: Some(commands), stderr }),
            Err(error) => {
                let _ = child.kill();
                let _ = child.wait();
                Err(failed("starting the threads that serve it", error))
            }
        }
    }

    /// Queues a command; the agent always reads, so the queue stays short. One that is gone swallows it.
    pub(super) fn send(&self, command: message::Command) {
        if let Some(commands) = &self.commands {
            let _ = commands.send(command);
        }
    }

    /// Asks the agent to leave and closes the way to it.
    pub(super) fn quit(&mut self) {
        self.send(message::Command::Quit);
        self.commands = None;
    }

    /// Whether the process has ended.
    pub(super) fn has_ended(&mut self) -> bool {
        matches!(self.child.try_wait(), Ok(Some(_)) | Err(_))
    }

    /// Ends the process, waiting a bounded time, and says how it ended and what it said last. The last words are what
    /// a person needs most: "command not found" and "permission denied" arrive there.
    pub(super) fn obituary(&mut self, why: &str) -> String {
        self.commands = None;
        let status = self.ended_within(EXITING).or_else(|| self.kill());
        let ended = status.map_or_else(|| "does not die".to_owned(), describe);
        let words = self.stderr.last_words(Duration::from_millis(200));
        let words = if words.is_empty() {
            "it printed nothing".to_owned()
        } else {
            format!("its last words: {words}")
        };
        format!("{why}; its process {ended}; {words}")
    }

    fn kill(&mut self) -> Option<ExitStatus> {
        let _ = self.child.kill();
        self.ended_within(EXITING)
    }

    /// Polls, since a process that does not even die by SIGKILL must not hold up its controller.
    fn ended_within(&mut self, limit: Duration) -> Option<ExitStatus> {
        let deadline = Instant::now() + limit;
        loop {
            match self.child.try_wait() {
                Ok(Some(status)) => return Some(status),
                Ok(None) if Instant::now() < deadline => thread::sleep(Duration::from_millis(2)),
                Ok(None) | Err(_) => return None,
            }
        }
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        if !self.has_ended() {
            self.kill();
        }
    }
}

fn send_all(queue: &Receiver<message::Command>, mut frames: FrameWriter<impl io::Write>) {
    for command in queue {
        if let Err(error) = frames.write(&command) {
            // That the agent is gone arrives on its other pipe.
            tracing::debug!("an agent was not sent a command: {error}");
            return;
        }
    }
}

fn hear_all(node: NodeIndex, mut frames: FrameReader<impl io::Read>, heard: &SyncSender<Heard>) {
    loop {
        let said = match frames.read::<Report>() {
            Ok(Some(report)) => Ok(report),
            Ok(None) => Err("the agent closed its pipe".to_owned()),
            Err(error) => Err(format!("the agent said something that is no message: {error}")),
        };
        let last = said.is_err();
        if heard.send(Heard { node, said }).is_err() || last {
            return;
        }
    }
}

fn describe(status: ExitStatus) -> String {
    use std::os::unix::process::ExitStatusExt;
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("exited with code {code}"),
        (None, Some(signal)) => format!("was killed by {}", signal_name(signal)),
        (None, None) => status.to_string(),
    }
}
