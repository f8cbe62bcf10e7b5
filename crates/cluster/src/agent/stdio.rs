//! The agent's standard streams, taken over for frames.

use std::fs::File;
use std::io;
use std::net::TcpStream;
use std::os::fd::{AsFd, OwnedFd};

pub(super) struct Streams {
    pub(super) commands: File,
    pub(super) reports: File,
}

impl Streams {
    /// A TCP connection in place of the standard streams, which are redirected too.
    pub(super) fn over(stream: TcpStream) -> io::Result<Self> {
        claim()?;
        let reports = File::from(OwnedFd::from(stream.try_clone()?));
        Ok(Self { commands: File::from(OwnedFd::from(stream)), reports })
    }
}

/// Takes standard input and output for frames, and replaces them by `/dev/null` and standard error: a library that
/// prints, or a child that reads, would otherwise corrupt the stream of frames.
pub(super) fn claim() -> io::Result<Streams> {
    let commands = io::stdin().as_fd().try_clone_to_owned()?.into();
    let reports = io::stdout().as_fd().try_clone_to_owned()?.into();
    rustix::stdio::dup2_stdin(File::open("/dev/null")?)?;
    rustix::stdio::dup2_stdout(io::stderr())?;
    Ok(Streams { commands, reports })
}
