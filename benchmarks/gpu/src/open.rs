//! Opens the driver and one of its devices.

use std::path::Path;
use std::sync::Arc;

use seatrial_model::{Cause, Reason};
use seatrial_sys::gpu::cuda::Cuda;
use seatrial_sys::gpu::nvml::Nvml;
use seatrial_sys::gpu::{Driver, Gpu};
use serde_json::json;

use super::{fault, kernel::Kernels};

#[derive(Debug)]
pub struct Opened {
    /// PCI address, the device's name in messages.
    pub address: String,
    pub gpu: Gpu,
    pub kernels: Kernels,
}

impl Opened {
    pub fn driver(path: Option<&Path>) -> Result<Arc<dyn Driver>, Reason> {
        path.map_or_else(Cuda::open, Cuda::open_at).map_err(fault::preparing("GPU", "opening the driver"))
    }

    pub fn at(driver: &Arc<dyn Driver>, address: &str) -> Result<Self, Reason> {
        let found = Gpu::at(driver, address).map_err(fault::preparing(address, "opening the GPU"))?;
        let gpu = found.ok_or_else(|| {
            let text = format!(
                "{address}: {} does not show this GPU to this process; check CUDA_VISIBLE_DEVICES, the \
                 devices of the container, and in MIG mode whether a MIG instance exists",
                driver.runtime()
            );
            Reason::new(Cause::Missing, text)
        })?;
        let kernels = Kernels::load(&gpu).map_err(fault::preparing(address, "translating the kernels"))?;
        Ok(Self { address: address.to_owned(), gpu, kernels })
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
        let (free, total) =
            self.gpu.memory().map_err(fault::preparing(&self.address, "reading its memory size"))?;
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
