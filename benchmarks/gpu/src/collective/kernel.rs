//! Fills what a rank sends and checks what it received, on the device.
#![expect(unsafe_code, reason = "kernels work on addresses")]

use std::sync::Arc;

use seatrial_sys::gpu::{DeviceMemory, Function, GpuError, Module, Span};

use super::operation::Received;
use super::ptx;
use crate::Device;
use crate::pattern::Wrong;

/// Blocks and threads of these kernels.
const MANY: (u32, u32) = (1024, 256);

/// What target memory holds before an operation: no whole number.
const POISON: u8 = 0x5a;

#[derive(Debug)]
pub struct Contents {
    fill: Function,
    check: Function,
}

impl Contents {
    pub fn load(device: &Device) -> Result<Self, GpuError> {
        let module = Module::load(&device.gpu, &ptx::module())?;
        Ok(Self { fill: module.function(c"fill_floats")?, check: module.function(c"check_floats")? })
    }

    /// What `rank` sends, and poison where it receives. Waits.
    pub fn prepare(
        &self,
        device: &Device,
        (out, count): (&Arc<DeviceMemory>, usize),
        (into, room): (&Arc<DeviceMemory>, usize),
        rank: usize,
    ) -> Result<(), GpuError> {
        let span = Span::Device(out, 0);
        let arguments = [span.address(4 * count)?, count as u64, rank as u64];
        // SAFETY: three numbers; writes `count` elements of 4 bytes, which the span has.
        unsafe { device.stream.launch(&self.fill, MANY, &arguments, &[span])? };
        device.set(into, POISON, 4 * room)
    }

    /// Elements that are not what `received` says.
    pub fn wrong(
        &self,
        device: &Device,
        (into, count): (&Arc<DeviceMemory>, usize),
        received: Received,
        ranks: usize,
    ) -> Result<Option<Wrong>, GpuError> {
        let span = Span::Device(into, 0);
        let address = span.address(4 * count)?;
        device.tally.count(&device.stream, |tally| {
            let Received { sums, each, source, first } = received;
            let [each, source, first, ranks] =
                [each.max(1), source, first, ranks].map(|number| number as u64);
            let arguments =
                [address, count as u64, sums.into(), each, source, first, ranks, tally.address(16)?];
            // SAFETY: eight numbers; reads `count` elements, which the span has, and writes 16 bytes of the tally.
            unsafe { device.stream.launch(&self.check, MANY, &arguments, &[span, tally]) }
        })
    }
}
