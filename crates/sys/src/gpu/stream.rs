//! Streams of a device and events in them.
#![expect(unsafe_code, reason = "hands addresses to the driver")]

use std::any::Any;
use std::cell::RefCell;
use std::ffi::c_void;
use std::sync::Arc;

use super::{DeviceMemory, Function, Gate, Gpu, GpuError, Span};

/// A stream. It keeps the memory that its work uses until the work is finished; drop opens its gates and finishes it.
///
/// Only one thread may use it: [`Stream::finish`] would release the memory of work that another thread queued
/// meanwhile.
///
/// ```compile_fail,E0277
/// fn is_shared<T: Sync>() {}
/// is_shared::<seatrial_sys::gpu::Stream>();
/// ```
#[derive(Debug)]
pub struct Stream {
    gpu: Gpu,
    raw: usize,
    kept: RefCell<Kept>,
}

#[derive(Debug, Default)]
struct Kept {
    memory: Vec<Arc<dyn Any + Send + Sync>>,
    gates: Vec<Arc<Gate>>,
}

impl Stream {
    pub fn new(gpu: &Gpu) -> Result<Self, GpuError> {
        let raw = gpu.entered()?.stream()?;
        Ok(Self { gpu: gpu.clone(), raw, kept: RefCell::default() })
    }

    pub const fn gpu(&self) -> &Gpu {
        &self.gpu
    }

    /// Makes all work queued from now on wait for the gate; without support,
    /// [`GpuFault::NotSupported`](super::GpuFault::NotSupported).
    pub fn hold(&self, gate: &Arc<Gate>) -> Result<(), GpuError> {
        let driver = self.gpu.entered()?;
        self.keep_gate(gate);
        // SAFETY: the gate, and with it its word, is kept until this stream is finished.
        unsafe { driver.hold(self.raw, gate.address(), gate.wanted()) }
    }

    pub fn copy(&self, to: Span<'_>, from: Span<'_>, bytes: usize) -> Result<(), GpuError> {
        let (there, here) = (to.address(bytes)?, from.address(bytes)?);
        let driver = self.gpu.entered()?;
        self.keep(to);
        self.keep(from);
        // SAFETY: both ranges were checked, and their memory is kept until this stream is finished.
        unsafe { driver.copy(there, here, bytes, self.raw) }
    }

    pub fn copy_between(
        &self,
        to: (&Arc<DeviceMemory>, usize),
        from: (&Arc<DeviceMemory>, usize),
        bytes: usize,
    ) -> Result<(), GpuError> {
        let (target, source) = (Span::Device(to.0, to.1), Span::Device(from.0, from.1));
        let there = (to.0.gpu().context(), target.address(bytes)?);
        let here = (from.0.gpu().context(), source.address(bytes)?);
        let driver = self.gpu.entered()?;
        self.keep(target);
        self.keep(source);
        // SAFETY: as in `copy`, and each address belongs to the context of its memory.
        unsafe { driver.copy_between(there, here, bytes, self.raw) }
    }

    pub fn copy_in(&self, to: Span<'_>, from: &[u8]) -> Result<(), GpuError> {
        let there = to.address(from.len())?;
        let driver = self.gpu.entered()?;
        self.keep(to);
        // SAFETY: the range on the device was checked and is kept; the slice lives through `finish`, also when it fails.
        let queued = unsafe { driver.copy(there, from.as_ptr().addr() as u64, from.len(), self.raw) };
        self.finish().and(queued)
    }

    pub fn copy_out(&self, to: &mut [u8], from: Span<'_>) -> Result<(), GpuError> {
        let here = from.address(to.len())?;
        let driver = self.gpu.entered()?;
        self.keep(from);
        // SAFETY: as in `copy_in`; the borrow is exclusive.
        let queued = unsafe { driver.copy(to.as_mut_ptr().addr() as u64, here, to.len(), self.raw) };
        self.finish().and(queued)
    }

    pub fn set(&self, at: Span<'_>, value: u8, bytes: usize) -> Result<(), GpuError> {
        let there = at.address(bytes)?;
        let driver = self.gpu.entered()?;
        self.keep(at);
        // SAFETY: as in `copy`.
        unsafe { driver.set(there, value, bytes, self.raw) }
    }

    /// Queues a kernel.
    ///
    /// # Safety
    /// The arguments match the kernel's parameters, as 64-bit numbers, and the kernel accesses only the memory of
    /// `spans` and `gates`, and memory that the caller keeps until the stream is finished.
    pub unsafe fn launch(
        &self,
        function: &Function,
        (blocks, threads): (u32, u32),
        arguments: &[u64],
        spans: &[Span<'_>],
    ) -> Result<(), GpuError> {
        if !function.gpu().is(&self.gpu) {
            return Err(GpuError::Foreign { what: "the kernel" });
        }
        let driver = self.gpu.entered()?;
        spans.iter().for_each(|span| self.keep(*span));
        let mut pointers: Vec<*mut c_void> =
            arguments.iter().map(|argument| std::ptr::from_ref(argument).cast_mut().cast()).collect();
        // SAFETY: the caller's promise; the driver copies the arguments before it returns.
        unsafe {
            driver.launch(function.raw(), (blocks, threads, function.shared()), &mut pointers, self.raw)
        }
    }

    /// Waits until all work is done, and releases the memory that it used.
    pub fn finish(&self) -> Result<(), GpuError> {
        let driver = self.gpu.entered()?;
        // SAFETY: the stream is ours.
        unsafe { driver.finish(self.raw) }?;
        // Not after an error: the device may still use it.
        self.kept.take();
        Ok(())
    }

    /// Keeps a gate that a kernel in this stream waits for.
    pub fn keep_gate(&self, gate: &Arc<Gate>) {
        let gates = &mut self.kept.borrow_mut().gates;
        if !gates.iter().any(|kept| Arc::ptr_eq(kept, gate)) {
            gates.push(Arc::clone(gate));
        }
    }

    pub(super) const fn raw(&self) -> usize {
        self.raw
    }

    pub(super) fn keep(&self, span: Span<'_>) {
        let memory: Arc<dyn Any + Send + Sync> = match span {
            Span::Device(memory, _) => Arc::clone(memory) as _,
            Span::Pinned(memory, _) => Arc::clone(memory) as _,
        };
        let kept = &mut self.kept.borrow_mut().memory;
        if !kept.iter().any(|other| std::ptr::addr_eq(Arc::as_ptr(other), Arc::as_ptr(&memory))) {
            kept.push(memory);
        }
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        let kept = self.kept.take();
        // A stream that waits at a gate never ends.
        kept.gates.iter().for_each(|gate| gate.open());
        if let Ok(driver) = self.gpu.entered() {
            // SAFETY: the stream is ours. One that failed is finished too: nothing of it runs any more.
            unsafe {
                let _ = driver.finish(self.raw);
                driver.drop_stream(self.raw);
            }
        }
    }
}

#[derive(Debug)]
pub struct Event {
    gpu: Gpu,
    raw: usize,
}

impl Event {
    pub fn new(gpu: &Gpu) -> Result<Self, GpuError> {
        Ok(Self { gpu: gpu.clone(), raw: gpu.entered()?.event()? })
    }

    pub fn record(&self, stream: &Stream) -> Result<(), GpuError> {
        if !self.gpu.is(&stream.gpu) {
            return Err(GpuError::Foreign { what: "the event" });
        }
        // SAFETY: both belong to this device.
        unsafe { self.gpu.entered()?.record(self.raw, stream.raw) }
    }

    /// Nanoseconds of the device's clock from `self` to `later`. Both streams must be finished.
    pub fn until_ns(&self, later: &Self) -> Result<f64, GpuError> {
        if !self.gpu.is(&later.gpu) {
            return Err(GpuError::Foreign { what: "the event" });
        }
        // SAFETY: both are events of this device.
        unsafe { self.gpu.entered()?.elapsed_ns(self.raw, later.raw) }
    }
}

impl Drop for Event {
    fn drop(&mut self) {
        if let Ok(driver) = self.gpu.entered() {
            // SAFETY: the event is ours.
            unsafe { driver.drop_event(self.raw) };
        }
    }
}
