//! Processes that this program starts of itself, and the socket by which they are reached.

use std::io;
use std::os::fd::OwnedFd;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixListener, UnixStream};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::net::sockopt::socket_peercred;
use rustix::process::{Pid, PidfdFlags, Signal, getpid, getuid, kill_process, pidfd_open, pidfd_send_signal};
use seatrial_sys::clock::now_ns;
use seatrial_sys::process::leave_with_parent;

use super::output::Output;
use super::{SOCKET, SUBCOMMAND};

/// Between two looks at processes and sockets that do not wake anybody.
const POLL_INTERVAL: Duration = Duration::from_millis(5);

/// Time of a launcher to end its ranks and remove its files after SIGTERM.
const LEAVE: Duration = Duration::from_secs(2);

/// This program as other programs start it: the running file, even if its path has another file meanwhile.
pub fn own_program() -> String {
    format!("/proc/{}/exe", getpid().as_raw_nonzero())
}

/// Started processes, what they print, and where their ranks call.
pub struct Started {
    pub child: Child,
    pub output: Output,
    listener: UnixListener,
}

/// A process that called back. Its handle names no other process, not even after its end.
pub struct Caller(OwnedFd);

impl Started {
    /// Starts `command`, whose processes call back. The command ends when the calling thread does.
    pub fn start(mut command: Command) -> io::Result<Self> {
        let name = format!("seatrial-mpi-{}-{}", getpid().as_raw_nonzero(), now_ns());
        let listener = UnixListener::bind_addr(&SocketAddr::from_abstract_name(&name)?)?;
        listener.set_nonblocking(true)?;
        let (printed, writer) = io::pipe()?;
        command.env(SOCKET, &name).stdin(Stdio::null()).stdout(writer.try_clone()?).stderr(writer);
        let child = leave_with_parent(&mut command).spawn()?;
        // The command holds the pipe's other end.
        drop(command);
        Ok(Self { child, output: Output::drain(printed)?, listener })
    }

    /// Waits until a process calls, and returns the connection and its process; `None` at `until`, or as soon as the
    /// command has ended.
    pub fn accept(&mut self, until: Instant) -> io::Result<Option<(UnixStream, Caller)>> {
        loop {
            match self.listener.accept() {
                Ok((stream, _)) => {
                    let peer = socket_peercred(&stream)?;
                    if peer.uid == getuid() {
                        stream.set_nonblocking(false)?;
                        let handle = pidfd_open(peer.pid, PidfdFlags::empty())?;
                        return Ok(Some((stream, Caller(handle))));
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    if Instant::now() >= until || self.child.try_wait()?.is_some() {
                        return Ok(None);
                    }
                    std::thread::sleep(POLL_INTERVAL);
                }
                Err(error) => return Err(error),
            }
        }
    }

    /// Whether the command has ended.
    pub fn is_over(&mut self) -> bool {
        !matches!(self.child.try_wait(), Ok(None))
    }

    /// The exit code of a command that ended by itself.
    pub fn exit_code(&mut self) -> Option<i32> {
        self.child.try_wait().ok().flatten()?.code()
    }

    /// Waits until the command has ended and all is read that it printed; whether it did by `until`.
    pub fn ended(&mut self, until: Instant) -> bool {
        loop {
            let is_over = self.is_over();
            if is_over && self.output.is_complete() {
                self.output.end();
                return true;
            }
            if Instant::now() >= until {
                return is_over;
            }
            std::thread::sleep(POLL_INTERVAL);
        }
    }

    /// Ends the command, which may remove its files first, and the processes of `ranks`.
    pub fn kill(&mut self, callers: &[Caller]) {
        if !self.is_over() {
            let _ = kill_process(Pid::from_child(&self.child), Signal::TERM);
            self.ended(Instant::now() + LEAVE);
        }
        for caller in callers {
            let _ = pidfd_send_signal(&caller.0, Signal::KILL);
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
        self.ended(Instant::now() + POLL_INTERVAL);
    }
}

/// A command that starts this program as a rank.
pub fn rank_command() -> Command {
    let mut command = Command::new(own_program());
    command.arg(SUBCOMMAND);
    command
}

/// The worker's end of the socket that the environment names.
pub fn call_worker() -> io::Result<UnixStream> {
    let name = std::env::var_os(SOCKET).ok_or_else(|| {
        io::Error::new(
            io::ErrorKind::NotFound,
            format!("{SOCKET} is not set: a benchmark starts this command"),
        )
    })?;
    let stream = UnixStream::connect_addr(&SocketAddr::from_abstract_name(name.as_encoded_bytes())?)?;
    if socket_peercred(&stream)?.uid == getuid() {
        return Ok(stream);
    }
    Err(io::Error::new(io::ErrorKind::PermissionDenied, "the socket is that of another user"))
}
