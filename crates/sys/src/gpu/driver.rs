//! The driver calls that measuring needs. CUDA has all of them, and HIP the same calls under other names.
#![expect(unsafe_code, reason = "handles and addresses of the driver are plain numbers")]

use std::ffi::{CStr, c_void};
use std::fmt;

use super::GpuError;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Properties {
    pub name: String,
    /// Domain, bus, device and function in the kernel's form: `0000:3b:00.0`.
    pub pci_address: String,
    /// Compute capability or the vendor's equivalent: `(9, 0)`.
    pub capability: (u32, u32),
    /// Multiprocessors (SMs, compute units).
    pub processors: u32,
    /// Second-level cache in bytes; 0 where the driver does not report it.
    pub l2_bytes: u64,
    pub copy_engines: u32,
    pub integrated: bool,
}

/// The context that a device works in; the driver's own number.
pub type Context = usize;

/// A vendor's driver. All calls but those that take a device number work in the context that the calling thread has
/// entered.
///
/// # Safety
/// An implementation does what each method says and nothing else: it accesses only the memory that it is given, and
/// memory that it allocates is its own.
pub unsafe trait Driver: Send + Sync + fmt::Debug {
    fn runtime(&self) -> &'static str;

    fn version(&self) -> Result<String, GpuError>;

    fn device_count(&self) -> Result<u32, GpuError>;

    fn properties(&self, device: u32) -> Result<Properties, GpuError>;

    /// Retains the device's primary context.
    fn attach(&self, device: u32) -> Result<Context, GpuError>;

    /// Releases the context of one [`Self::attach`].
    fn detach(&self, device: u32);

    fn enter(&self, context: Context) -> Result<(), GpuError>;

    fn memory(&self) -> Result<(u64, u64), GpuError>;

    fn allocate(&self, bytes: usize) -> Result<u64, GpuError>;

    /// Frees device memory.
    ///
    /// # Safety
    /// `address` came from [`Self::allocate`] in this context, and nothing uses it any more.
    unsafe fn free(&self, address: u64);

    /// Pins host pages and maps them for every device; returns the device address.
    ///
    /// # Safety
    /// The memory is mapped, and stays so until [`Self::unpin`].
    unsafe fn pin(&self, host: *mut c_void, bytes: usize) -> Result<u64, GpuError>;

    /// Unpins host pages.
    ///
    /// # Safety
    /// `host` was pinned in this context, and no copy uses it any more.
    unsafe fn unpin(&self, host: *mut c_void);

    fn stream(&self) -> Result<usize, GpuError>;

    /// Destroys a stream.
    ///
    /// # Safety
    /// `stream` is a stream of this context.
    unsafe fn drop_stream(&self, stream: usize);

    /// Waits until all work in the stream is done.
    ///
    /// # Safety
    /// As [`Self::drop_stream`].
    unsafe fn finish(&self, stream: usize) -> Result<(), GpuError>;

    /// Makes the stream wait until the 32-bit word at `address` is `value` or beyond (as a counter that wraps).
    ///
    /// # Safety
    /// The word is mapped for the device until the stream has passed it.
    unsafe fn hold(&self, stream: usize, address: u64, value: u32) -> Result<(), GpuError>;

    fn event(&self) -> Result<usize, GpuError>;

    /// Destroys an event.
    ///
    /// # Safety
    /// `event` is an event of this context.
    unsafe fn drop_event(&self, event: usize);

    /// Records the event at the end of the stream.
    ///
    /// # Safety
    /// Both belong to this context.
    unsafe fn record(&self, event: usize, stream: usize) -> Result<(), GpuError>;

    /// Nanoseconds of the device's clock between two completed events.
    ///
    /// # Safety
    /// Both are events of this context.
    unsafe fn elapsed_ns(&self, from: usize, to: usize) -> Result<f64, GpuError>;

    /// Copies `bytes`, with the copy engine where the driver chooses so.
    ///
    /// # Safety
    /// Both ranges are mapped for the device until the stream is finished, or the host range is plain memory that
    /// lives until the stream is finished.
    unsafe fn copy(&self, to: u64, from: u64, bytes: usize, stream: usize) -> Result<(), GpuError>;

    /// Copies from the memory of one device to another's, through the host where peer access is not possible.
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

    fn load(&self, text: &CStr) -> Result<usize, GpuError>;

    /// Unloads a module.
    ///
    /// # Safety
    /// No kernel of the module runs.
    unsafe fn unload(&self, module: usize);

    /// The kernel of this name.
    ///
    /// # Safety
    /// The module is loaded in this context.
    unsafe fn function(&self, module: usize, name: &CStr) -> Result<usize, GpuError>;

    /// Lets blocks of a kernel have so many bytes of shared memory.
    ///
    /// # Safety
    /// The function is of a module that is loaded in this context.
    unsafe fn allow_shared(&self, function: usize, bytes: u32) -> Result<(), GpuError>;

    /// Queues a kernel launch: so many blocks of so many threads and bytes of shared memory.
    ///
    /// # Safety
    /// The arguments match the kernel's parameters in number and size, and the kernel accesses only memory that lives
    /// until the stream is finished.
    unsafe fn launch(
        &self,
        function: usize,
        of_blocks: (u32, u32, u32),
        arguments: &mut [*mut c_void],
        stream: usize,
    ) -> Result<(), GpuError>;

    fn reaches(&self, device: u32, peer: u32) -> Result<bool, GpuError>;

    fn reach(&self, peer: Context) -> Result<(), GpuError>;
}
