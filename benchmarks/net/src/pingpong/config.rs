//! The configuration of both ends, read from the case.

use super::plan;
use crate::{max_segment, rails};
use seatrial_bench::Endpoint;
use seatrial_bench::pingpong::{Buffers, Mode};
use seatrial_model::{Case, PartPlacement, Reason};
use std::sync::Arc;

pub struct PingPongConfig {
    pub mode: Mode,
    pub sizes: Vec<u64>,
    pub region: usize,
    pub alone: bool,
    /// The endpoint of each interface, with its number of connections.
    pub paths: Vec<(Endpoint, usize)>,
}

impl PingPongConfig {
    pub fn of(case: &Case, place: &PartPlacement) -> Result<Self, Reason> {
        let (mode, sizes) = (plan::mode(case)?, plan::sizes_of(case)?);
        let mut endpoint = Endpoint::of(case, place);
        let buffer = case.params.bytes("socket_buffer")?;
        let mtu = max_segment::asked(&case.params).filter(|_| place.part == "leader");
        // Before connecting: the TCP window scale is negotiated from the buffer sizes.
        endpoint.options = Arc::new(move |socket| {
            if let Some(bytes) = buffer {
                socket.set_send_buffer_size(bytes.get() as usize)?;
                socket.set_recv_buffer_size(bytes.get() as usize)?;
            }
            mtu.map_or(Ok(()), |mtu| max_segment::set(&socket, mtu))
        });
        // One for all sizes, or in stream mode one for the commands and a fresh one for each size.
        let count = if mode == Mode::Stream { 1 + sizes.len() } else { 1 };
        let on = |rail| {
            let endpoint = Endpoint { interface: Some(rail), ..endpoint.clone() };
            (if rails::are_crossed(case) { rails::strict(endpoint) } else { endpoint }, count)
        };
        let mut paths: Vec<_> = rails::at(case, place).into_iter().map(on).collect();
        if paths.is_empty() {
            paths.push((endpoint, count));
        }
        Ok(Self { mode, sizes, region: plan::region_of(case), alone: case.nodes.len() == 1, paths })
    }

    pub fn buffers(&self) -> Result<Buffers, Reason> {
        Buffers::new(self.largest(), self.region, self.region > 0)
    }

    pub fn largest(&self) -> usize {
        self.sizes.last().copied().unwrap_or(1) as usize
    }
}
