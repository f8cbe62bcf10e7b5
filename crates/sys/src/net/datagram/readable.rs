//! Waits for any of several sockets (poll).
#![expect(unsafe_code, reason = "poll with descriptors that are kept, so that waiting allocates nothing")]

use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::time::Duration;

use libc::pollfd;
use rustix::io::Errno;

use crate::last_errno;

pub struct Readable<'a> {
    all: Vec<pollfd>,
    sockets: std::marker::PhantomData<BorrowedFd<'a>>,
}

impl<'a> Readable<'a> {
    pub fn new<S: AsFd + 'a>(sockets: impl IntoIterator<Item = &'a S>) -> Self {
        let one = |socket: &S| pollfd { fd: socket.as_fd().as_raw_fd(), events: libc::POLLIN, revents: 0 };
        Self { all: sockets.into_iter().map(one).collect(), sockets: std::marker::PhantomData }
    }

    /// Waits until a socket is readable or has an error; false after `most` or a signal.
    pub fn wait(&mut self, most: Duration) -> Result<bool, Errno> {
        let millis = libc::c_int::try_from(most.as_millis()).unwrap_or(libc::c_int::MAX);
        // SAFETY: the kernel reads and writes as many entries as it is told, which are there.
        let ready = unsafe { libc::poll(self.all.as_mut_ptr(), self.all.len() as libc::nfds_t, millis) };
        match ready {
            0.. => Ok(ready > 0),
            _ => match last_errno() {
                Errno::INTR => Ok(false),
                error => Err(error),
            },
        }
    }
}
