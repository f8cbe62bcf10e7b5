//! The driver and one of its devices, opened by a part.

use std::path::Path;
use std::sync::Arc;

use seatrial_model::{Cause, Reason};
use seatrial_sys::gpu::cuda::Cuda;
use seatrial_sys::gpu::nvml::Nvml;
use seatrial_sys::gpu::{Driver, Gpu};
use serde_json::json;

use super::{fault, kernel::Kernels};

/// A device that is ready to work.
#[derive(Debug)]
pub struct Opened {
    /// Its PCI address: its name in messages.
    pub address: String,
    pub gpu: Gpu,
    /// Our kernels on it.
    pub kernels: Kernels,
}

impl Opened {
    /// Opens the system's driver, or the one at `path`, which is for tests.
    pub fn driver(path: Option<&Path>) -> Result<Arc<dyn Driver>, Reason> {
        path.map_or_else(Cuda::open, Cuda::open_at).map_err(fault::preparing("GPU", "opening the driver"))
    }

    /// Opens the device at `address`.
    pub fn at(driver: &Arc<dyn Driver>, address: &str) -> Result<Self, Reason> {
        let found = Gpu::at(driver, address).map_err(fault::preparing(address, "opening the GPU"))?;
        let gpu = found.ok_or_else(|| {
            let text = format!(
                "{address}: {} does not show this GPU to this process; is it in CUDA_VISIBLE_DEVICES, in the \
                 container's devices, and, when it is cut into instances (MIG), is there one?",
                driver.runtime()
            );
            Reason::new(Cause::Missing, text)
        })?;
        let kernels = Kernels::load(&gpu).map_err(fault::preparing(address, "translating the kernels"))?;
        Ok(Self { address: address.to_owned(), gpu, kernels })
    }

    /// For the record: what the driver says of itself and of the device.
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

    /// Refuses when less than `bytes` and a reserve are free on the device.
    pub fn require(&self, bytes: u64) -> Result<(), Reason> {
        let (free, total) =
            self.gpu.memory().map_err(fault::preparing(&self.address, "asking for memory"))?;
        if free < bytes {
            let text = format!(
                "{}: {} of device memory are wanted, {} of {} are free; another process may hold the rest",
                self.address,
                seatrial_model::Bytes(bytes).rounded(),
                seatrial_model::Bytes(free).rounded(),
                seatrial_model::Bytes(total).rounded()
            );
            return Err(Reason::new(Cause::NoSpace, text));
        }
        Ok(())
    }

    /// The management library, where there is one; or the one at `path`.
    pub fn nvml(path: Option<&Path>) -> Result<Nvml, String> {
        path.map_or_else(Nvml::open, Nvml::open_at).map_err(|error| error.to_string())
    }
}
