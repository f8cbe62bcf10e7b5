//! Device memory, and pinned host memory that devices can access.
#![expect(unsafe_code, reason = "gives back what the driver handed out")]

use std::sync::Arc;

use super::{Gpu, GpuError};
use crate::memory::Mapping;

/// Device memory; freed on drop. Streams that use it keep it alive until they are finished.
#[derive(Debug)]
pub struct DeviceMemory {
    gpu: Gpu,
    address: u64,
    bytes: usize,
}

impl DeviceMemory {
    /// Allocates `bytes` on the device, uninitialised.
    pub fn take(gpu: &Gpu, bytes: usize) -> Result<Arc<Self>, GpuError> {
        let address = gpu.entered()?.allocate(bytes)?;
        Ok(Arc::new(Self { gpu: gpu.clone(), address, bytes }))
    }

    pub const fn address(&self) -> u64 {
        self.address
    }

    pub const fn len(&self) -> usize {
        self.bytes
    }

    pub const fn is_empty(&self) -> bool {
        self.bytes == 0
    }

    pub const fn gpu(&self) -> &Gpu {
        &self.gpu
    }
}

impl Drop for DeviceMemory {
    fn drop(&mut self) {
        if let Ok(driver) = self.gpu.entered() {
            // SAFETY: the address is from `allocate` in this context; streams that use it would have kept it.
            unsafe { driver.free(self.address) };
        }
    }
}

/// Pinned host memory that every device can access. Streams that use it keep it alive until they are finished, so
/// that its only holder can read it: see [`Self::words`] and [`Self::words_mut`].
#[derive(Debug)]
pub struct PinnedMemory {
    gpu: Gpu,
    map: Mapping,
    address: u64,
}

impl PinnedMemory {
    /// Pins `map`, within `RLIMIT_MEMLOCK` and the control group.
    pub fn pin(gpu: &Gpu, mut map: Mapping) -> Result<Arc<Self>, GpuError> {
        let start = map.as_mut_slice::<u8>().as_mut_ptr();
        // SAFETY: the mapping is ours and stays until after `unpin` in `drop`.
        let address = unsafe { gpu.entered()?.pin(start.cast(), map.len())? };
        Ok(Arc::new(Self { gpu: gpu.clone(), map, address }))
    }

    pub const fn address(&self) -> u64 {
        self.address
    }

    pub const fn len(&self) -> usize {
        self.map.len()
    }

    pub const fn is_empty(&self) -> bool {
        self.map.is_empty()
    }

    /// The content; `None` while a stream may still use it.
    pub fn words(this: &mut Arc<Self>) -> Option<&[u64]> {
        Arc::get_mut(this).map(|alone| alone.map.as_slice())
    }

    pub fn words_mut(this: &mut Arc<Self>) -> Option<&mut [u64]> {
        Arc::get_mut(this).map(|alone| alone.map.as_mut_slice())
    }

    pub(super) const fn map(&self) -> &Mapping {
        &self.map
    }
}

impl Drop for PinnedMemory {
    fn drop(&mut self) {
        let start = self.map.as_mut_slice::<u8>().as_mut_ptr();
        if let Ok(driver) = self.gpu.entered() {
            // SAFETY: it was pinned in this context, and streams that use it would have kept it.
            unsafe { driver.unpin(start.cast()) };
        }
    }
}

#[derive(Clone, Copy, Debug)]
pub enum Span<'a> {
    Device(&'a Arc<DeviceMemory>, usize),
    Pinned(&'a Arc<PinnedMemory>, usize),
}

impl Span<'_> {
    /// The device address; an error unless `bytes` from there on exist.
    pub fn address(&self, bytes: usize) -> Result<u64, GpuError> {
        let (start, offset, size) = match self {
            Self::Device(memory, offset) => (memory.address, *offset, memory.bytes),
            Self::Pinned(memory, offset) => (memory.address, *offset, memory.len()),
        };
        match offset.checked_add(bytes) {
            Some(end) if end <= size => Ok(start + offset as u64),
            _ => Err(GpuError::Beyond { offset, bytes, size }),
        }
    }
}
