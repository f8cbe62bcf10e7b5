//! The parameters of a case as both ends need them.

use seatrial_bench::Endpoint;
use seatrial_bench::pingpong::{Buffers, Mode};
use seatrial_model::{Bytes, Reason};
use socket2::SockRef;
use std::io;

/// What both ends know.
#[derive(Clone, Debug)]
pub struct PingPongConfig {
    pub mode: Mode,
    pub sizes: Vec<u64>,
    pub region: usize,
    pub socket_buffer: Option<Bytes>,
    pub interface: Option<String>,
    pub alone: bool,
}

impl PingPongConfig {
    pub fn endpoint<'a>(&'a self, options: &'a dyn Fn(SockRef<'_>) -> io::Result<()>) -> Endpoint<'a> {
        Endpoint { options, ..Endpoint::tcp(self.interface.as_deref(), self.alone) }
    }

    /// Sizes of buffers must be set before the connection is made: the window scale is agreed upon by them.
    pub fn set_buffers(&self, socket: &SockRef<'_>) -> io::Result<()> {
        let Some(bytes) = self.socket_buffer else { return Ok(()) };
        socket.set_send_buffer_size(bytes.get() as usize)?;
        socket.set_recv_buffer_size(bytes.get() as usize)
    }

    pub fn buffers(&self) -> Result<Buffers, Reason> {
        Buffers::new(self.largest(), self.region, self.region > 0)
    }

    /// Bytes of the largest message.
    pub fn largest(&self) -> usize {
        self.sizes.last().copied().unwrap_or(1) as usize
    }

    /// One for everything, or in a stream one for the commands and a fresh one for each size.
    pub fn connections(&self) -> usize {
        if self.mode == Mode::Stream { 1 + self.sizes.len() } else { 1 }
    }
}
