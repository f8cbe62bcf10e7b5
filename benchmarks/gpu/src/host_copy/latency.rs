//! Latency of the smallest copies and of single loads.

use std::sync::Arc;

use seatrial_model::{Cause, Nanos, Params, Quantity, Reason, Sample};
use seatrial_sys::clock::now_ns;
use seatrial_sys::gpu::{DeviceMemory, GpuError, Span};
use seatrial_sys::memory::Pages;

use crate::copy::{CopyError, Flow, Split, Starter, TimedStream};
use crate::pattern::Pattern;
use crate::{Block, Device, Ring, during};
use seatrial_bench::Sink;

/// Bytes per small copy.
const SMALL: usize = 8;

const COPIES: usize = 24;

/// Ring size in bytes, as in nvbandwidth.
const RING: usize = 2 << 20;

/// Loads per chase by one multiprocessor: about 10 ms.
const LOADS: u64 = 8192;

pub struct Latency {
    host: Block,
    memory: Arc<DeviceMemory>,
    ring: Ring,
    turn: u32,
}

/// Channel, start and end, and how many copies or loads.
type Samples = Vec<(&'static str, (Nanos, Nanos), u64)>;

impl Latency {
    pub fn new(device: &Device, node: Option<u32>) -> Result<Self, Reason> {
        let block =
            |bytes| Block::take(device, bytes, &[Pages::Transparent, Pages::Base], node, Pattern::of(14));
        let ring = Ring::on_host(block(RING)?.memory)
            .ok_or_else(|| Reason::new(Cause::Protocol, "memory that was just allocated is in use"))?;
        Ok(Self { host: block(4096)?, memory: device.take(4096)?, ring, turn: 0 })
    }

    pub fn round(
        &mut self,
        device: &Device,
        timed: &mut TimedStream,
        starter: &mut Starter,
        out: Option<&mut dyn Sink>,
    ) -> Result<(), Reason> {
        let failed = during(&device.address, "small copies");
        let mut samples = Vec::new();
        self.copies(timed, &mut samples).map_err(&failed)?;
        self.chase(device, timed, starter, &mut samples).map_err(|error| failed(error.error))?;
        if let Some(out) = out {
            for (channel, span, count) in samples {
                out.sample(Sample::new(channel, Params::default(), span, Quantity::count(count)));
            }
        }
        Ok(())
    }

    fn copies(&self, timed: &TimedStream, samples: &mut Samples) -> Result<(), GpuError> {
        let (host, device) = (Span::Pinned(&self.host.memory, 0), Span::Device(&self.memory, 0));
        for (channel, to, from) in [("h2d_latency", device, host), ("d2h_latency", host, device)] {
            for _ in 0..COPIES {
                let start = Nanos(now_ns());
                timed.stream.copy(to, from, SMALL)?;
                timed.stream.finish()?;
                samples.push((channel, (start, Nanos(now_ns())), 1));
            }
        }
        Ok(())
    }

    fn chase(
        &mut self,
        device: &Device,
        timed: &mut TimedStream,
        starter: &mut Starter,
        samples: &mut Samples,
    ) -> Result<(), CopyError> {
        self.turn = self.turn.wrapping_add(1);
        let Self { ring, turn, .. } = self;
        let flow = Flow::new(0, timed, (1, 8), |stream, _| {
            device.kernels.chase(stream, ring, LOADS, &device.tally, (*turn, 1))
        });
        let times = starter.run(vec![flow], Split { pieces: 1, each: 1 }, || ())?;
        samples.extend(times.pieces.last().map(|piece| ("latency", piece.span, LOADS)));
        Ok(())
    }
}
