//! The configuration of both ends, read from the case.

use super::plan;
use seatrial_bench::Endpoint;
use seatrial_bench::pingpong::{Buffers, Mode};
use seatrial_model::{Case, PartPlacement, Reason};
use std::sync::Arc;

pub struct PingPongConfig {
    pub mode: Mode,
    pub sizes: Vec<u64>,
    pub region: usize,
    pub endpoint: Endpoint,
}

impl PingPongConfig {
    pub fn of(case: &Case, place: &PartPlacement) -> Result<Self, Reason> {
        let region = case.planned.bytes("region").ok().flatten();
        let mut endpoint = Endpoint::of(case, place);
        // Before connecting: the TCP window scale is negotiated from the buffer sizes.
        if let Some(bytes) = case.params.bytes("socket_buffer")? {
            endpoint.options = Arc::new(move |socket| {
                socket.set_send_buffer_size(bytes.get() as usize)?;
                socket.set_recv_buffer_size(bytes.get() as usize)
            });
        }
        Ok(Self {
            mode: plan::mode(case)?,
            sizes: plan::sizes_of(case)?,
            region: region.map_or(0, |bytes| bytes.get() as usize),
            endpoint,
        })
    }

    pub fn buffers(&self) -> Result<Buffers, Reason> {
        Buffers::new(self.largest(), self.region, self.region > 0)
    }

    pub fn largest(&self) -> usize {
        self.sizes.last().copied().unwrap_or(1) as usize
    }

    /// One connection, or in stream mode one for the commands and a fresh one for each size.
    pub fn connections(&self) -> usize {
        if self.mode == Mode::Stream { 1 + self.sizes.len() } else { 1 }
    }
}
