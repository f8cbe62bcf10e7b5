//! Latency of the smallest copies and of single loads.

use std::sync::Arc;

use seatrial_model::{Cause, Nanos, Params, Quantity, Reason, Sample};
use seatrial_sys::clock::now_ns;
use seatrial_sys::gpu::{DeviceMemory, GpuError, Span};
use seatrial_sys::memory::Pages;

use crate::pattern::Pattern;
use crate::{Block, Opened, Ring, Starter, Tally, TimedStream, during, preparing};
use seatrial_bench::Sink;

/// Bytes per small copy.
const SMALL: usize = 8;

const COPIES: usize = 24;

/// Ring size in bytes, as in nvbandwidth.
const RING: usize = 2 << 20;

/// Loads per chase by one multiprocessor: about 10 ms.
const LOADS: u64 = 8192;

pub struct Latency {
    timed: TimedStream,
    starter: Starter,
    host: Block,
    device: Arc<DeviceMemory>,
    ring: Ring,
    tally: Tally,
    turn: u32,
    kernels: crate::Kernels,
    address: String,
}

impl Latency {
    pub fn new(opened: &Opened, node: Option<u32>) -> Result<Self, Reason> {
        let (gpu, address) = (&opened.gpu, &opened.address);
        let refused = |what: &'static str| preparing(address, what);
        let block = |bytes| {
            Block::take(gpu, address, bytes, &[Pages::Transparent, Pages::Base], node, Pattern::of(14))
        };
        let ring = Ring::on_host(block(RING)?.memory)
            .ok_or_else(|| Reason::new(Cause::Protocol, "memory that was just allocated is in use"))?;
        Ok(Self {
            timed: TimedStream::new(gpu, &opened.kernels).map_err(refused("making a stream"))?,
            starter: Starter::new(gpu).map_err(refused("making a gate"))?,
            host: block(4096)?,
            device: DeviceMemory::take(gpu, 4096).map_err(refused("allocating device memory"))?,
            tally: Tally::take(gpu).map_err(refused("allocating device memory"))?,
            ring,
            turn: 0,
            kernels: opened.kernels.clone(),
            address: address.clone(),
        })
    }

    pub fn round(&mut self, out: Option<&mut (dyn Sink + '_)>) -> Result<(), Reason> {
        let failed = during(&self.address, "small copies");
        let mut samples = Vec::new();
        self.copies(&mut samples).map_err(&failed)?;
        self.chase(&mut samples).map_err(&failed)?;
        if let Some(out) = out {
            for (channel, start, end, count) in samples {
                out.sample(Sample::new(channel, Params::default(), (start, end), Quantity::count(count)));
            }
        }
        Ok(())
    }

    fn copies(&self, samples: &mut Vec<(&'static str, Nanos, Nanos, u64)>) -> Result<(), GpuError> {
        let (host, device) = (Span::Pinned(&self.host.memory, 0), Span::Device(&self.device, 0));
        for (channel, to, from) in [("h2d_latency", device, host), ("d2h_latency", host, device)] {
            for _ in 0..COPIES {
                let start = Nanos(now_ns());
                self.timed.stream.copy(to, from, SMALL)?;
                self.timed.stream.finish()?;
                samples.push((channel, start, Nanos(now_ns()), 1));
            }
        }
        Ok(())
    }

    fn chase(&mut self, samples: &mut Vec<(&'static str, Nanos, Nanos, u64)>) -> Result<(), GpuError> {
        let Self { timed, starter, ring, tally, turn, kernels, .. } = self;
        *turn = turn.wrapping_add(1);
        let queue = |_: usize, stream: &seatrial_sys::gpu::Stream, _: usize| {
            kernels.chase(stream, ring, LOADS, tally, (*turn, 1))
        };
        let run = starter.run(&mut [timed], 1, queue, || ())?;
        let (start, end) = run.piece(0, 0);
        samples.push(("latency", start, end, LOADS));
        Ok(())
    }
}
