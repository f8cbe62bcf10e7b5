//! Fills what a rank sends and checks what it received, on the device.
#![expect(unsafe_code, reason = "kernels work on addresses")]

use std::ffi::CString;

use seatrial_sys::gpu::nccl::NcclElements;
use seatrial_sys::gpu::{Function, GpuError, Module};

use super::item::ItemType;
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
    /// All elements are below it.
    modulus: u64,
    bytes: usize,
}

impl Contents {
    pub fn load(device: &Device, element: ItemType, modulus: u64) -> Result<Self, GpuError> {
        let module = Module::load(&device.gpu, &ptx::module(element))?;
        let function = |what: &str| {
            let name =
                CString::new(format!("{what}_{}", element.name())).expect("our names hold no zero byte");
            module.function(&name)
        };
        let bytes = element.bytes() as usize;
        Ok(Self { fill: function("fill")?, check: function("check")?, modulus, bytes })
    }

    /// Poison where a rank receives, and then what `rank` sends. Waits.
    pub fn prepare(
        &self,
        device: &Device,
        from: NcclElements<'_>,
        to: NcclElements<'_>,
        rank: usize,
    ) -> Result<(), GpuError> {
        device.stream.set(to.at, POISON, self.bytes * to.count)?;
        let address = from.at.address(self.bytes * from.count)?;
        let arguments = [address, from.count as u64, rank as u64, self.modulus];
        // SAFETY: four numbers; writes `count` elements of so many bytes, which the span has.
        unsafe { device.stream.launch(&self.fill, MANY, &arguments, &[from.at])? };
        device.stream.finish()
    }

    /// Elements that are not what `received` says.
    pub fn wrong(
        &self,
        device: &Device,
        to: NcclElements<'_>,
        received: Received,
        ranks: usize,
    ) -> Result<Option<Wrong>, GpuError> {
        let address = to.at.address(self.bytes * to.count)?;
        device.tally.count(&device.stream, |tally| {
            let Received { sums, each, source, first } = received;
            let [each, source, first, ranks, count] =
                [each.max(1), source, first, ranks, to.count].map(|number| number as u64);
            let tally_at = tally.address(16)?;
            let arguments = [address, count, sums.into(), each, source, first, ranks, self.modulus, tally_at];
            // SAFETY: nine numbers; reads `count` elements, which the span has, and writes 16 bytes of the tally.
            unsafe { device.stream.launch(&self.check, MANY, &arguments, &[to.at, tally]) }
        })
    }
}
