//! Kernels that the driver compiles from text.
#![expect(unsafe_code, reason = "hands handles to the driver")]

use std::ffi::CStr;
use std::sync::Arc;

use super::{Gpu, GpuError};

#[derive(Clone, Debug)]
pub struct Module(Arc<Loaded>);

#[derive(Debug)]
struct Loaded {
    gpu: Gpu,
    raw: usize,
}

impl Module {
    /// Compiles `text`, which is PTX for CUDA; [`GpuFault::CodeRefused`](super::GpuFault::CodeRefused) has the
    /// driver's log.
    pub fn load(gpu: &Gpu, text: &CStr) -> Result<Self, GpuError> {
        let raw = gpu.entered()?.load(text)?;
        Ok(Self(Arc::new(Loaded { gpu: gpu.clone(), raw })))
    }

    pub fn function(&self, name: &CStr) -> Result<Function, GpuError> {
        // SAFETY: the module is loaded, and stays so while the function lives.
        let raw = unsafe { self.0.gpu.entered()?.function(self.0.raw, name)? };
        Ok(Function { module: self.clone(), raw, shared: 0 })
    }
}

impl Drop for Loaded {
    fn drop(&mut self) {
        if let Ok(driver) = self.gpu.entered() {
            // SAFETY: the driver waits for kernels of the context before it takes their code away (CUDA Driver API,
            // cuModuleUnload).
            unsafe { driver.unload(self.raw) };
        }
    }
}

#[derive(Clone, Debug)]
pub struct Function {
    module: Module,
    raw: usize,
    shared: u32,
}

impl Function {
    pub fn gpu(&self) -> &Gpu {
        &self.module.0.gpu
    }

    /// The same with `bytes` of shared memory for each of its blocks, beside what its text declares.
    pub fn with_shared(self, bytes: u32) -> Result<Self, GpuError> {
        // SAFETY: the module is loaded, and stays so while the function lives.
        unsafe { self.gpu().entered()?.allow_shared(self.raw, bytes)? };
        Ok(Self { shared: bytes, ..self })
    }

    pub(super) const fn raw(&self) -> usize {
        self.raw
    }

    pub(super) const fn shared(&self) -> u32 {
        self.shared
    }
}
