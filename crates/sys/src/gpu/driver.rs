//! What a vendor's driver has to offer. CUDA's driver has all of it, and HIP the same calls under other names.
#![expect(unsafe_code, reason = "handles and addresses of the driver are plain numbers")]

use std::ffi::{CStr, c_void};
use std::fmt;

use super::GpuError;

/// What a device is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Properties {
    pub name: String,
    /// Domain, bus, device and function in the kernel's form: `0000:3b:00.0`.
    pub pci_address: String,
    /// Version of the instruction set, as the vendor counts it: `(9, 0)`.
    pub capability: (u32, u32),
    /// Processors that run kernels.
    pub processors: u32,
    /// Second-level cache in bytes; 0 where the driver does not tell.
    pub l2_bytes: u64,
    /// Copy engines that work beside kernels.
    pub copy_engines: u32,
    /// Whether it is a part of the processor and shares its memory.
    pub integrated: bool,
}

/// The context that a device works in; the driver's own number.
pub type Context = usize;

/// The calls that measuring needs. All but the ones that take a device's number work in the context that the calling
/// thread has entered.
///
/// # Safety
/// An implementation does what each method says and nothing else: it keeps to the memory that it is given, and memory
/// that it hands out is its own.
pub unsafe trait Driver: Send + Sync + fmt::Debug {
    /// The runtime's name: `CUDA`.
    fn runtime(&self) -> &'static str;

    /// Version of the driver's interface: `13.0`.
    fn version(&self) -> Result<String, GpuError>;

    /// Number of devices that this process may use.
    fn device_count(&self) -> Result<u32, GpuError>;

    /// What a device is.
    fn properties(&self, device: u32) -> Result<Properties, GpuError>;

    /// Opens the device's own context, or takes part in it.
    fn attach(&self, device: u32) -> Result<Context, GpuError>;

    /// Gives one [`Self::attach`] back.
    fn detach(&self, device: u32);

    /// Makes `context` the one that calls of this thread work in.
    fn enter(&self, context: Context) -> Result<(), GpuError>;

    /// Free and total memory of the device in bytes.
    fn memory(&self) -> Result<(u64, u64), GpuError>;

    /// Memory on the device.
    fn allocate(&self, bytes: usize) -> Result<u64, GpuError>;

    /// Gives it back.
    ///
    /// # Safety
    /// `address` came from [`Self::allocate`] in this context, and nothing uses it any more.
    unsafe fn free(&self, address: u64);

    /// Pins pages of the host and makes them visible to every device; gives the address that devices see.
    ///
    /// # Safety
    /// The memory is mapped, and stays so until [`Self::unpin`].
    unsafe fn pin(&self, host: *mut c_void, bytes: usize) -> Result<u64, GpuError>;

    /// Ends it.
    ///
    /// # Safety
    /// `host` was pinned in this context, and no copy uses it any more.
    unsafe fn unpin(&self, host: *mut c_void);

    /// A queue of work, independent of all others.
    fn stream(&self) -> Result<usize, GpuError>;

    /// Gives it back.
    ///
    /// # Safety
    /// It is a stream of this context.
    unsafe fn drop_stream(&self, stream: usize);

    /// Waits until everything in it is done.
    ///
    /// # Safety
    /// As [`Self::drop_stream`].
    unsafe fn finish(&self, stream: usize) -> Result<(), GpuError>;

    /// Lets the stream wait until the 32-bit word at `address` is `value` or beyond (in the sense of a counter that
    /// wraps).
    ///
    /// # Safety
    /// The word is mapped for the device until the stream went past it.
    unsafe fn hold(&self, stream: usize, address: u64, value: u32) -> Result<(), GpuError>;

    /// A mark that remembers when a stream reached it.
    fn event(&self) -> Result<usize, GpuError>;

    /// Gives it back.
    ///
    /// # Safety
    /// It is an event of this context.
    unsafe fn drop_event(&self, event: usize);

    /// Puts the mark at the end of the stream.
    ///
    /// # Safety
    /// Both belong to this context.
    unsafe fn record(&self, event: usize, stream: usize) -> Result<(), GpuError>;

    /// Nanoseconds of the device's clock from one mark to the other; both must have been reached.
    ///
    /// # Safety
    /// Both are events of this context.
    unsafe fn elapsed_ns(&self, from: usize, to: usize) -> Result<f64, GpuError>;

    /// Copies `bytes`, by the copy engine where the driver sees fit.
    ///
    /// # Safety
    /// Both ranges are mapped for the device until the stream is finished, or the host range is plain memory and the
    /// stream is finished before it goes away.
    unsafe fn copy(&self, to: u64, from: u64, bytes: usize, stream: usize) -> Result<(), GpuError>;

    /// Copies from the memory of one device to that of another, through the host where they cannot reach each other.
    ///
    /// # Safety
    /// As [`Self::copy`]; `to` and `from` belong to their contexts.
    unsafe fn copy_between(
        &self,
        to: (Context, u64),
        from: (Context, u64),
        bytes: usize,
        stream: usize,
    ) -> Result<(), GpuError>;

    /// Sets every byte to `value`.
    ///
    /// # Safety
    /// As [`Self::copy`].
    unsafe fn set(&self, at: u64, value: u8, bytes: usize, stream: usize) -> Result<(), GpuError>;

    /// Translates the text of kernels for the device.
    fn load(&self, text: &CStr) -> Result<usize, GpuError>;

    /// Gives the translation back.
    ///
    /// # Safety
    /// No kernel of it runs.
    unsafe fn unload(&self, module: usize);

    /// The kernel of this name.
    ///
    /// # Safety
    /// The module is loaded in this context.
    unsafe fn function(&self, module: usize, name: &CStr) -> Result<usize, GpuError>;

    /// Puts a kernel at the end of the stream.
    ///
    /// # Safety
    /// The arguments are what the kernel takes, in number and size, and it keeps to memory that stays until the stream
    /// is finished.
    unsafe fn launch(
        &self,
        function: usize,
        blocks: u32,
        threads: u32,
        arguments: &mut [*mut c_void],
        stream: usize,
    ) -> Result<(), GpuError>;

    /// Whether kernels and copies of one device can reach the memory of the other.
    fn reaches(&self, device: u32, peer: u32) -> Result<bool, GpuError>;

    /// Lets the entered context reach the memory of `peer`.
    fn reach(&self, peer: Context) -> Result<(), GpuError>;
}
