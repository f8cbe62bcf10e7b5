//! A child process as a launcher holds it: started out of the terminal's reach, drained, ended in bounded time.

use std::io;
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use crate::agent::{Output, signal_name};

/// How long a process that ended its stream may take to exit before it is killed.
const EXITING: Duration = Duration::from_secs(1);

/// A running child. Dropping it ends the process.
pub(super) struct Process {
    child: Child,
    stderr: Output,
}

/// The pipes of a fresh child.
pub(super) struct Pipes {
    pub(super) stdin: ChildStdin,
    pub(super) stdout: ChildStdout,
}

impl Process {
    /// Starts `command` with pipes for its three streams.
    pub(super) fn start(command: &mut Command) -> Result<(Self, Pipes), String> {
        let program = command.get_program().to_string_lossy().into_owned();
        let command = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        // Out of the terminal's foreground group: Ctrl-C is for the controller, which then decides.
        let mut child =
            command.process_group(0).spawn().map_err(|error| format!("starting '{program}': {error}"))?;
        let taken = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let made = match taken {
            (Some(stdin), Some(stdout), Some(stderr)) => {
                Output::drain(stderr).map(|stderr| (stderr, Pipes { stdin, stdout }))
            }
            _ => Err(io::ErrorKind::BrokenPipe.into()),
        };
        match made {
            Ok((stderr, pipes)) => Ok((Self { child, stderr }, pipes)),
            Err(error) => {
                let _ = child.kill();
                let _ = child.wait();
                Err(format!("starting the threads that serve it: {error}"))
            }
        }
    }

    pub(super) fn has_ended(&mut self) -> bool {
        matches!(self.child.try_wait(), Ok(Some(_)) | Err(_))
    }

    /// Asks it to leave.
    pub(super) fn terminate(&self) {
        if let Some(pid) = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw) {
            let _ = kill_process(pid, Signal::TERM);
        }
    }

    /// Ends the process, waiting a bounded time, and says how it ended and what it said last. The last words are what
    /// a person needs most: "command not found" and "permission denied" arrive there.
    pub(super) fn exit_report(&mut self) -> String {
        let status = self.ended_within(EXITING).or_else(|| self.kill());
        let ended = status.map_or_else(|| "does not die".to_owned(), describe);
        format!("its process {ended}; {}", self.stderr_tail())
    }

    /// What it printed last on standard error, as it is; waits a moment for words that are on their way.
    pub(super) fn said(&self) -> String {
        self.stderr.stderr_tail(Duration::from_millis(200))
    }

    /// The same in words.
    pub(super) fn stderr_tail(&self) -> String {
        let words = self.said();
        if words.is_empty() { "it printed nothing".to_owned() } else { format!("its last words: {words}") }
    }

    fn kill(&mut self) -> Option<ExitStatus> {
        let _ = self.child.kill();
        self.ended_within(EXITING)
    }

    /// Polls, since a process that does not even die by SIGKILL must not hold up its controller.
    pub(super) fn ended_within(&mut self, limit: Duration) -> Option<ExitStatus> {
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

impl Drop for Process {
    fn drop(&mut self) {
        if !self.has_ended() {
            self.kill();
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
