//! Opens the driver and one of its devices, and prepares and checks the device's memory.

use std::path::Path;
use std::sync::Arc;

use seatrial_model::{Cause, Reason};
use seatrial_sys::gpu::cuda::Cuda;
use seatrial_sys::gpu::nvml::Nvml;
use seatrial_sys::gpu::{DeviceMemory, Driver, Gpu, GpuError, Span, Stream};
use serde_json::json;

use super::copy::{Starter, TimedStream};
use super::pattern::Pattern;
use super::{Checks, fault, kernel::Kernels, kernel::Tally};

/// A GPU, and what its memory is filled and checked with.
#[derive(Debug)]
pub struct Device {
    pub stream: Stream,
    pub tally: Tally,
    pub kernels: Kernels,
    pub gpu: Gpu,
    /// PCI address, the device's name in messages.
    pub address: String,
}

const ALLOCATING: &str = "allocating device memory";

impl Device {
    pub fn driver(path: Option<&Path>) -> Result<Arc<dyn Driver>, Reason> {
        path.map_or_else(Cuda::open, Cuda::open_at).map_err(fault::preparing("GPU", "opening the driver"))
    }

    pub fn at(driver: &Arc<dyn Driver>, address: &str) -> Result<Self, Reason> {
        let refused = |what: &str| fault::preparing(address, what);
        let found = Gpu::at(driver, address).map_err(refused("opening the GPU"))?;
        let gpu = found.ok_or_else(|| {
            let text = format!(
                "{address}: {} does not show this GPU to this process; check CUDA_VISIBLE_DEVICES, the \
                 devices of the container, and in MIG mode whether a MIG instance exists",
                driver.runtime()
            );
            Reason::new(Cause::Missing, text)
        })?;
        let kernels = Kernels::load(&gpu).map_err(refused("translating the kernels"))?;
        let stream = Stream::new(&gpu).map_err(refused("making a stream"))?;
        let tally = Tally::take(&gpu).map_err(refused(ALLOCATING))?;
        Ok(Self { stream, tally, kernels, gpu, address: address.to_owned() })
    }

    /// An error of the driver while the part prepares.
    pub fn refused(&self, what: &str) -> impl Fn(GpuError) -> Reason + use<> {
        fault::preparing(&self.address, what)
    }

    pub fn take(&self, bytes: usize) -> Result<Arc<DeviceMemory>, Reason> {
        DeviceMemory::take(&self.gpu, bytes).map_err(self.refused(ALLOCATING))
    }

    pub fn timed_stream(&self) -> Result<TimedStream, Reason> {
        TimedStream::new(&self.gpu, &self.kernels).map_err(self.refused("making a stream"))
    }

    pub fn starter(&self) -> Result<Starter, Reason> {
        Starter::new(&self.gpu).map_err(self.refused("making a gate"))
    }

    /// Fills every block of the memory with the pattern, and waits.
    pub fn fill(&self, memory: &Arc<DeviceMemory>, block: usize, pattern: Pattern) -> Result<(), GpuError> {
        for offset in (0..memory.len()).step_by(block) {
            self.kernels.fill(&self.stream, Span::Device(memory, offset), block / 8, pattern)?;
        }
        self.stream.finish()
    }

    /// Overwrites the start of a copy's target and waits, so that a copy that did nothing is found.
    pub fn overwrite(&self, target: &Arc<DeviceMemory>, bytes: usize) -> Result<(), GpuError> {
        self.set(target, 0x5a, bytes)
    }

    /// Sets the first bytes of the memory to `value`, and waits.
    pub fn set(&self, memory: &Arc<DeviceMemory>, value: u8, bytes: usize) -> Result<(), GpuError> {
        self.stream.set(Span::Device(memory, 0), value, bytes)?;
        self.stream.finish()
    }

    /// The word of 8 bytes at this offset.
    pub fn word(&self, memory: &Arc<DeviceMemory>, offset: usize) -> Result<u64, GpuError> {
        let mut bytes = [0_u8; 8];
        self.stream.copy_out(&mut bytes, Span::Device(memory, offset))?;
        Ok(u64::from_ne_bytes(bytes))
    }

    /// Checks the `bytes` from the offset on; `what` tells what wrote them.
    pub fn check(
        &self,
        (memory, offset): (&Arc<DeviceMemory>, usize),
        bytes: usize,
        pattern: Pattern,
        checks: &mut Checks,
        what: impl FnOnce() -> String,
    ) -> Result<(), GpuError> {
        let at = Span::Device(memory, offset);
        let wrong = self.kernels.check(&self.stream, &self.tally, at, bytes / 8, pattern)?;
        checks.note_words(bytes as u64, wrong, offset as u64, what);
        Ok(())
    }

    pub fn evidence(&self, driver: &Arc<dyn Driver>) -> serde_json::Value {
        let properties = self.gpu.properties();
        json!({
            "runtime": driver.runtime(),
            "runtime_version": driver.version().ok(),
            "name": properties.name,
            "address": self.address,
            "processors": properties.processors,
            "capability": format!("{}.{}", properties.capability.0, properties.capability.1),
            "l2_bytes": properties.l2_bytes,
            "copy_engines": properties.copy_engines,
        })
    }

    /// Fails when less than `bytes` and a reserve are free on the device.
    pub fn require(&self, bytes: u64) -> Result<(), Reason> {
        let (free, total) = self.gpu.memory().map_err(self.refused("reading its memory size"))?;
        if free < bytes {
            let text = format!(
                "{}: {} of device memory are needed, but only {} of {} are free; another process may use the \
                 rest (nvidia-smi)",
                self.address,
                seatrial_model::Bytes(bytes).rounded(),
                seatrial_model::Bytes(free).rounded(),
                seatrial_model::Bytes(total).rounded()
            );
            return Err(Reason::new(Cause::NoSpace, text));
        }
        Ok(())
    }

    /// The management library (NVML) of the system, or the one at `path`.
    pub fn nvml(path: Option<&Path>) -> Result<Nvml, String> {
        path.map_or_else(Nvml::open, Nvml::open_at).map_err(|error| error.to_string())
    }
}
