//! Processes that this program starts of itself, and the socket by which they are reached.

use std::io;
use std::os::fd::OwnedFd;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixListener, UnixStream};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use rustix::net::sockopt::socket_peercred;
use rustix::process::{Pid, PidfdFlags, Signal, getpid, getuid, kill_process, pidfd_open, pidfd_send_signal};
use rustix::time::Timespec;
use seatrial_model::Nanos;
use seatrial_sys::clock::now_ns;
use seatrial_sys::process::leave_with_parent;
use serde::{Deserialize, Serialize};

use super::output::Output;
use super::{PROGRAM, SOCKET, SUBCOMMAND};

/// Between two looks at processes and sockets that do not wake anybody.
const POLL_INTERVAL: Duration = Duration::from_millis(5);

/// Time of a launcher to end its ranks and remove its files after SIGTERM.
const LEAVE: Duration = Duration::from_secs(2);

/// This program as other programs start it: the running file, even if its path has another file meanwhile.
pub fn own_program() -> String {
    format!("/proc/{}/exe", getpid().as_raw_nonzero())
}

/// This program as the worker that started the launcher names it.
pub fn launcher_program() -> String {
    std::env::var(PROGRAM).unwrap_or_default()
}

/// Started processes, what they print, and where their ranks call.
pub struct Started {
    pub child: Child,
    pub output: Output,
    /// When [`Self::ended`] saw the end of the command.
    pub over_since: Option<Nanos>,
    listener: Arc<CallListener>,
}

/// Where processes of this user call; an abstract socket (unix(7)), so that nothing has to be removed.
pub struct CallListener {
    listener: UnixListener,
    name: String,
}

/// How ranks of a node call the part there, and find this program.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct NodeCall {
    pub socket: String,
    pub program: String,
}

/// A process that called back. Its handle names no other process, not even after its end; `None` where it has ended already.
pub struct Caller(Option<OwnedFd>);

impl CallListener {
    pub fn open() -> io::Result<Self> {
        let name = format!("seatrial-mpi-{}-{}", getpid().as_raw_nonzero(), now_ns());
        let listener = UnixListener::bind_addr(&SocketAddr::from_abstract_name(&name)?)?;
        listener.set_nonblocking(true)?;
        Ok(Self { listener, name })
    }

    /// Lets the ranks of `command` call here and find this program.
    pub fn tell(&self, command: &mut Command) {
        self.tell_as(SOCKET, command);
        command.env(PROGRAM, own_program());
    }

    pub fn call(&self) -> NodeCall {
        NodeCall { socket: self.name.clone(), program: own_program() }
    }

    /// Names the socket to `command` by the variable `socket`.
    pub fn tell_as(&self, socket: &str, command: &mut Command) {
        command.env(socket, &self.name);
    }

    /// Waits until a process calls, and returns the connection and its process; `None` as soon as `is_over`.
    pub fn accept(
        &self,
        mut is_over: impl FnMut() -> io::Result<bool>,
    ) -> io::Result<Option<(UnixStream, Caller)>> {
        loop {
            match self.listener.accept() {
                Ok((stream, _)) => {
                    let peer = socket_peercred(&stream)?;
                    if peer.uid == getuid() {
                        stream.set_nonblocking(false)?;
                        let handle = pidfd_open(peer.pid, PidfdFlags::empty()).ok();
                        return Ok(Some((stream, Caller(handle))));
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    if is_over()? {
                        return Ok(None);
                    }
                    let at_most = Timespec::try_from(POLL_INTERVAL).unwrap_or_default();
                    match poll(&mut [PollFd::new(&self.listener, PollFlags::IN)], Some(&at_most)) {
                        Ok(_) | Err(Errno::INTR) => {}
                        Err(error) => return Err(error.into()),
                    }
                }
                Err(error) => return Err(error),
            }
        }
    }
}

impl Caller {
    pub fn kill(&self) {
        if let Some(handle) = &self.0 {
            let _ = pidfd_send_signal(handle, Signal::KILL);
        }
    }
}

impl Started {
    /// Starts `command`, whose processes call back. The command ends when the calling thread does.
    pub fn start(command: Command) -> io::Result<Self> {
        Self::start_at(Arc::new(CallListener::open()?), command)
    }

    /// The same of processes that call at `listener`.
    pub fn start_at(listener: Arc<CallListener>, mut command: Command) -> io::Result<Self> {
        listener.tell(&mut command);
        let (printed, writer) = io::pipe()?;
        command.stdin(Stdio::null()).stdout(writer.try_clone()?).stderr(writer);
        let child = leave_with_parent(&mut command).spawn()?;
        // The command holds the pipe's other end.
        drop(command);
        Ok(Self { child, output: Output::drain(printed)?, over_since: None, listener })
    }

    /// Waits until a process calls, and returns the connection and its process; `None` at `until`, or as soon as the
    /// command has ended.
    pub fn accept(&mut self, until: Instant) -> io::Result<Option<(UnixStream, Caller)>> {
        let child = &mut self.child;
        self.listener.accept(|| Ok(Instant::now() >= until || child.try_wait()?.is_some()))
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
        if !self.is_over() {
            self.rest(until);
        }
        loop {
            let is_over = self.is_over();
            if is_over {
                self.over_since.get_or_insert_with(|| Nanos(now_ns()));
            }
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

    /// Sleeps until the command, which has not been waited for, has ended.
    fn rest(&self, until: Instant) {
        let left = until.saturating_duration_since(Instant::now());
        let left = Timespec { tv_sec: left.as_secs() as i64, tv_nsec: left.subsec_nanos().into() };
        if let Ok(process) = pidfd_open(Pid::from_child(&self.child), PidfdFlags::empty()) {
            let _ = poll(&mut [PollFd::new(&process, PollFlags::IN)], Some(&left));
        }
    }

    /// Ends the command, which may remove its files first, and the processes of `ranks`.
    pub fn kill(&mut self, callers: &[Caller]) {
        if !self.is_over() {
            let _ = kill_process(Pid::from_child(&self.child), Signal::TERM);
            self.ended(Instant::now() + LEAVE);
        }
        for caller in callers {
            caller.kill();
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

/// A connection to the worker, by the socket that the environment variable `socket` names.
pub fn call_worker(socket: &str) -> io::Result<UnixStream> {
    let name = std::env::var_os(socket).ok_or_else(|| {
        io::Error::new(
            io::ErrorKind::NotFound,
            format!("{socket} is not set: a benchmark starts this command"),
        )
    })?;
    let stream = UnixStream::connect_addr(&SocketAddr::from_abstract_name(name.as_encoded_bytes())?)?;
    if socket_peercred(&stream)?.uid == getuid() {
        return Ok(stream);
    }
    Err(io::Error::new(io::ErrorKind::PermissionDenied, "the socket is that of another user"))
}
