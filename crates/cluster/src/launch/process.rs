//! A child process of a launcher: outside the terminal's foreground group, drained, ended in bounded time.

use std::io;
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use crate::agent::{Output, signal_name};

/// Time for a process that closed its stream to exit before it is killed.
const EXITING: Duration = Duration::from_secs(1);

/// Time for a launcher whose agents have exited to do the same, and again after SIGTERM.
const ENDING: Duration = Duration::from_secs(5);

/// A running child. Dropping it kills the process.
pub(super) struct Process {
    child: Child,
    stderr: Output,
}

pub(super) struct Pipes {
    pub(super) stdin: ChildStdin,
    pub(super) stdout: ChildStdout,
}

impl Process {
    pub(super) fn start(command: &mut Command) -> Result<(Self, Pipes), String> {
        let program = command.get_program().to_string_lossy().into_owned();
        let command = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        // Outside the terminal's foreground group: Ctrl-C is for the controller, which decides.
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

    pub(super) fn terminate(&self) {
        if let Some(pid) = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw) {
            let _ = kill_process(pid, Signal::TERM);
        }
    }

    /// Ends the process in bounded time; returns how it ended with the end of its output, such as "permission
    /// denied".
    pub(super) fn exit_report(&mut self) -> String {
        let status = self.ended_within(EXITING).or_else(|| self.kill());
        let ended = status.map_or_else(|| "does not die".to_owned(), describe);
        format!("its process {ended}; {}", self.stderr_tail())
    }

    /// End of its standard error, unchanged; waits a moment for output in the pipe.
    pub(super) fn said(&self) -> String {
        self.stderr.stderr_tail(Duration::from_millis(200))
    }

    /// The end of its standard error as a phrase.
    pub(super) fn stderr_tail(&self) -> String {
        let words = self.said();
        if words.is_empty() {
            "its stderr is empty".to_owned()
        } else {
            format!("end of its stderr: {words}")
        }
    }

    /// Closes its input and gives it time to end, by itself and on SIGTERM, before it is killed: an srun that is killed
    /// leaves the job that it asked for.
    pub(super) fn end(&mut self, stdin: ChildStdin) {
        drop(stdin);
        if self.ended_within(ENDING).is_none() {
            self.terminate();
            let _ = self.ended_within(ENDING);
        }
    }

    fn kill(&mut self) -> Option<ExitStatus> {
        let _ = self.child.kill();
        self.ended_within(EXITING)
    }

    /// Polls, since a process that survives SIGKILL must not block the controller.
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
