//! NVIDIA's library of collective operations over GPUs (NCCL), loaded at run time, on the driver's primary context: no CUDA
//! runtime is needed.
#![expect(unsafe_code, reason = "calls functions of the library")]

use std::ffi::{CStr, OsStr, c_char, c_int, c_void};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::{Gpu, GpuError, GpuFault, Span, Stream, find};
use crate::library::table;

type Comm = *mut c_void;
type CudaStream = *mut c_void;

/// `ncclUniqueId`, which is passed by value.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(crate) struct RawId([c_char; RendezvousId::BYTES]);

table! {
    /// Without `ncclGetLastError`, which returns a pointer.
    Table {
        version(*mut c_int) = c"ncclGetVersion";
        unique_id(*mut RawId) = c"ncclGetUniqueId";
        join(*mut Comm, c_int, RawId, c_int) = c"ncclCommInitRank";
        destroy(Comm) = c"ncclCommDestroy";
        all_reduce(*const c_void, *mut c_void, usize, c_int, c_int, Comm, CudaStream) = c"ncclAllReduce";
        reduce(*const c_void, *mut c_void, usize, c_int, c_int, c_int, Comm, CudaStream) = c"ncclReduce";
        broadcast(*const c_void, *mut c_void, usize, c_int, c_int, Comm, CudaStream) = c"ncclBroadcast";
        all_gather(*const c_void, *mut c_void, usize, c_int, Comm, CudaStream) = c"ncclAllGather";
        reduce_scatter(*const c_void, *mut c_void, usize, c_int, c_int, Comm, CudaStream) = c"ncclReduceScatter";
        send(*const c_void, usize, c_int, c_int, Comm, CudaStream) = c"ncclSend";
        receive(*mut c_void, usize, c_int, c_int, Comm, CudaStream) = c"ncclRecv";
        group_start() = c"ncclGroupStart";
        group_end() = c"ncclGroupEnd";
        reset_log() = c"ncclResetDebugInit";
    }
}

/// `ncclSum` (nccl.h).
const SUM: c_int = 0;

/// Types of the elements of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NcclType {
    Fp32,
    Fp16,
    Bf16,
    Fp64,
    Int32,
}

impl NcclType {
    /// `ncclDataType_t` (nccl.h).
    const fn code(self) -> c_int {
        match self {
            Self::Int32 => 2,
            Self::Fp16 => 6,
            Self::Fp32 => 7,
            Self::Fp64 => 8,
            Self::Bf16 => 9,
        }
    }

    pub const fn bytes(self) -> usize {
        match self {
            Self::Fp16 | Self::Bf16 => 2,
            Self::Fp32 | Self::Int32 => 4,
            Self::Fp64 => 8,
        }
    }
}

/// `ncclInvalidUsage`: when joining, two ranks have the same GPU.
pub const INVALID_USAGE: i32 = 5;

/// `ncclRemoteError`: a peer died.
const REMOTE: c_int = 6;

/// What all ranks of a job need to find each other: made by one of them, who has to live until all have joined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RendezvousId([u8; Self::BYTES]);

impl RendezvousId {
    pub const BYTES: usize = 128;

    pub const fn to_bytes(self) -> [u8; Self::BYTES] {
        self.0
    }

    pub const fn from_bytes(bytes: [u8; Self::BYTES]) -> Self {
        Self(bytes)
    }
}

/// Sets a variable that steers the library, of which it takes notice at its first call.
pub fn set(name: &str, value: &OsStr) {
    // SAFETY: Rust's own functions lock the environment. The library's threads read it too: they do not exist before its
    // first call, and later glibc replaces only the pointer to an entry of the same name and keeps the old text.
    unsafe { std::env::set_var(name, value) };
}

/// The loaded library.
#[derive(Debug)]
pub struct Nccl {
    table: Table,
    last_error: Option<unsafe extern "C" fn(Comm) -> *const c_char>,
    path: PathBuf,
}

macro_rules! call {
    ($nccl:expr, $field:ident($($arg:expr),* $(,)?)) => {{
        let nccl: &Nccl = $nccl;
        let entry = nccl.table.$field;
        let function = entry.function.ok_or(GpuError::TooOld { what: "NCCL", symbol: entry.symbol })?;
        // SAFETY: the arguments are of the types that the function takes; pointers among them lead to variables that live
        // through the call, or to device memory that the stream keeps until its work is done.
        let code = unsafe { function($($arg),*) };
        nccl.answer(entry.symbol, code)
    }};
}

impl Nccl {
    /// NCCL, and RCCL of AMD, which has functions of the same names.
    const NAMES: [&str; 2] = ["libnccl.so.2", "librccl.so.1"];

    /// Loads the library of this file or folder; if none is named, from where the dynamic linker looks, and from Python
    /// wheels, NVIDIA's HPC SDK and ROCm.
    ///
    /// # Errors
    /// When it is not there or cannot be loaded.
    pub fn open(named: Option<&Path>) -> Result<Arc<Self>, GpuError> {
        let library = find::open(&Self::NAMES, &[], named)?;
        let last_error = library.first(&[c"ncclGetLastError"]).map(|address| {
            // SAFETY: the address is that of the function of this name, whose type nccl.h declares so.
            unsafe {
                std::mem::transmute::<*mut c_void, unsafe extern "C" fn(Comm) -> *const c_char>(
                    address.as_ptr(),
                )
            }
        });
        let path = find::path_of(&library, c"ncclGetVersion");
        Ok(Arc::new(Self { table: Table::load(&library), last_error, path }))
    }

    /// The file that was loaded.
    pub fn path(&self) -> &Path {
        &self.path
    }

    fn answer(&self, call: &'static str, code: c_int) -> Result<(), GpuError> {
        let name = match code {
            0 => return Ok(()),
            1 => "unhandled CUDA error",
            2 => "system error",
            3 => "internal error",
            4 => "invalid argument",
            INVALID_USAGE => "invalid usage",
            REMOTE => "a peer failed",
            7 => "in progress",
            8 => "timeout",
            _ => "unknown result",
        };
        let text = self.last_error.map(|function| {
            // SAFETY: without a communicator the function tells the last error of this thread or an empty text, which stays.
            let text = unsafe { function(std::ptr::null_mut()) };
            if text.is_null() {
                return String::new();
            }
            // SAFETY: see above.
            unsafe { CStr::from_ptr(text) }.to_string_lossy().trim().to_owned()
        });
        let fault = if code == REMOTE { GpuFault::Lost } else { GpuFault::Other };
        Err(GpuError::Refused { call, code, name: name.to_owned(), text: text.unwrap_or_default(), fault })
    }

    /// The library's version, for example `2.28.9`.
    ///
    /// # Errors
    /// When the library does not tell.
    pub fn version(&self) -> Result<String, GpuError> {
        let mut code = 0;
        call!(self, version(&raw mut code))?;
        // Two forms of the number: NCCL_VERSION in nccl.h.
        let (major, minor, patch) = match code {
            ..10_000 => (code / 1000, code / 100 % 10, code % 100),
            _ => (code / 10_000, code / 100 % 100, code % 100),
        };
        Ok(format!("{major}.{minor}.{patch}"))
    }

    /// Makes the library write its log to `file`: what it made of the machine and which ways the ranks have to each other,
    /// and, where the log can be stopped, what it chose for each operation. To be called before any other function; `false`
    /// where the user has the log already: `NCCL_DEBUG` is set.
    pub fn log_to(&self, file: &Path) -> bool {
        if std::env::var_os("NCCL_DEBUG").is_some() {
            return false;
        }
        let subsystems = if self.can_stop_log() { "INIT,GRAPH,NET,TUNING" } else { "INIT,GRAPH,NET" };
        set("NCCL_DEBUG", "INFO".as_ref());
        set("NCCL_DEBUG_SUBSYS", subsystems.as_ref());
        set("NCCL_DEBUG_FILE", file.as_os_str());
        true
    }

    /// Whether the log can be stopped: from 2.24 on. The line on each operation costs about a microsecond.
    const fn can_stop_log(&self) -> bool {
        self.table.reset_log.function.is_some()
    }

    /// Ends the log that [`Self::log_to`] began, where that is possible; warnings go on.
    pub fn stop_log(&self) {
        if let Some(function) = self.table.reset_log.function {
            set("NCCL_DEBUG", "WARN".as_ref());
            // SAFETY: the function takes nothing. It has no result: the number is not read.
            unsafe { function() };
        }
    }

    /// A new rendezvous. The library listens on a port until all ranks have joined.
    ///
    /// # Errors
    /// When there is no interface to listen on.
    pub fn rendezvous(&self) -> Result<RendezvousId, GpuError> {
        let mut id = RawId([0; RendezvousId::BYTES]);
        call!(self, unique_id(&raw mut id))?;
        // `c_char` is signed on x86-64 and unsigned on Arm.
        Ok(RendezvousId(id.0.map(|byte| byte.to_ne_bytes()[0])))
    }

    /// Joins the others as `rank` of `ranks` with `gpu`. Waits until all have joined.
    ///
    /// # Errors
    /// When the ranks do not find each other, or two have the same GPU.
    pub fn join(
        self: &Arc<Self>,
        gpu: &Gpu,
        id: RendezvousId,
        (rank, ranks): (usize, usize),
    ) -> Result<GpuCommunicator, GpuError> {
        // The library takes the device of the thread's current context.
        gpu.entered()?;
        let id = RawId(id.0.map(|byte| c_char::from_ne_bytes([byte])));
        let mut raw: Comm = std::ptr::null_mut();
        let joined = call!(self, join(&raw mut raw, ranks as c_int, id, rank as c_int));
        // The library may have made another context current (nccl issue 2231).
        Gpu::left();
        joined?;
        Ok(GpuCommunicator {
            nccl: Arc::clone(self),
            gpu: gpu.clone(),
            raw: raw.expose_provenance(),
            rank,
            ranks,
        })
    }
}

/// Elements in device memory.
#[derive(Clone, Copy, Debug)]
pub struct NcclElements<'a> {
    pub at: Span<'a>,
    pub count: usize,
    pub kind: NcclType,
}

impl NcclElements<'_> {
    fn address(self) -> Result<*mut c_void, GpuError> {
        let address = self.at.address(self.count * self.kind.bytes())?;
        Ok(std::ptr::with_exposed_provenance_mut(address as usize))
    }
}

/// A rank among others. Every operation is queued in a stream, and has to be called by all ranks in the same order.
#[derive(Debug)]
pub struct GpuCommunicator {
    nccl: Arc<Nccl>,
    gpu: Gpu,
    raw: usize,
    rank: usize,
    ranks: usize,
}

impl GpuCommunicator {
    pub const fn rank(&self) -> usize {
        self.rank
    }

    pub const fn ranks(&self) -> usize {
        self.ranks
    }

    fn raw(&self) -> Comm {
        std::ptr::with_exposed_provenance_mut(self.raw)
    }

    /// The raw stream, which keeps the memory of an operation until it is done.
    fn stream(&self, stream: &Stream, memory: [NcclElements<'_>; 2]) -> Result<CudaStream, GpuError> {
        if !self.gpu.is(stream.gpu()) {
            return Err(GpuError::Foreign { what: "the stream" });
        }
        self.gpu.entered()?;
        memory.iter().for_each(|elements| stream.keep(elements.at));
        Ok(std::ptr::with_exposed_provenance_mut(stream.raw()))
    }

    /// Sums of what all ranks have at `from`, on every rank.
    ///
    /// # Errors
    /// When the library refuses.
    pub fn all_reduce(
        &self,
        stream: &Stream,
        to: NcclElements<'_>,
        from: NcclElements<'_>,
    ) -> Result<(), GpuError> {
        let (there, here, raw) = (to.address()?, from.address()?, self.stream(stream, [to, from])?);
        let count = from.count.min(to.count);
        call!(&self.nccl, all_reduce(here, there, count, from.kind.code(), SUM, self.raw(), raw))
    }

    /// The same on rank 0 alone.
    ///
    /// # Errors
    /// When the library refuses.
    pub fn reduce(
        &self,
        stream: &Stream,
        to: NcclElements<'_>,
        from: NcclElements<'_>,
    ) -> Result<(), GpuError> {
        let (there, here, raw) = (to.address()?, from.address()?, self.stream(stream, [to, from])?);
        let count = from.count.min(to.count);
        call!(&self.nccl, reduce(here, there, count, from.kind.code(), SUM, 0, self.raw(), raw))
    }

    /// What rank 0 has, on every rank.
    ///
    /// # Errors
    /// When the library refuses.
    pub fn broadcast(
        &self,
        stream: &Stream,
        to: NcclElements<'_>,
        from: NcclElements<'_>,
    ) -> Result<(), GpuError> {
        let (there, here, raw) = (to.address()?, from.address()?, self.stream(stream, [to, from])?);
        let count = from.count.min(to.count);
        call!(&self.nccl, broadcast(here, there, count, from.kind.code(), 0, self.raw(), raw))
    }

    /// What all ranks have, one after the other, on every rank: `to` has room for all.
    ///
    /// # Errors
    /// When the library refuses, or there is no room.
    pub fn all_gather(
        &self,
        stream: &Stream,
        to: NcclElements<'_>,
        from: NcclElements<'_>,
    ) -> Result<(), GpuError> {
        let count = from.count.min(to.count / self.ranks);
        let (there, here, raw) = (to.address()?, from.address()?, self.stream(stream, [to, from])?);
        call!(&self.nccl, all_gather(here, there, count, from.kind.code(), self.raw(), raw))
    }

    /// Of the sums of what all ranks have, the part of this rank.
    ///
    /// # Errors
    /// When the library refuses.
    pub fn reduce_scatter(
        &self,
        stream: &Stream,
        to: NcclElements<'_>,
        from: NcclElements<'_>,
    ) -> Result<(), GpuError> {
        let count = to.count.min(from.count / self.ranks);
        let (there, here, raw) = (to.address()?, from.address()?, self.stream(stream, [to, from])?);
        call!(&self.nccl, reduce_scatter(here, there, count, from.kind.code(), SUM, self.raw(), raw))
    }

    /// A part of `from` to each rank, in their order, and as many into `to`.
    ///
    /// # Errors
    /// When the library refuses.
    pub fn all_to_all(
        &self,
        stream: &Stream,
        to: NcclElements<'_>,
        from: NcclElements<'_>,
    ) -> Result<(), GpuError> {
        let count = from.count.min(to.count) / self.ranks;
        let (there, here, raw) = (to.address()?, from.address()?, self.stream(stream, [to, from])?);
        let part = |of: *mut c_void, rank: usize| of.wrapping_byte_add(rank * count * from.kind.bytes());
        self.grouped(|| {
            for rank in 0..self.ranks {
                let peer = rank as c_int;
                call!(&self.nccl, send(part(here, rank), count, from.kind.code(), peer, self.raw(), raw))?;
                call!(
                    &self.nccl,
                    receive(part(there, rank), count, from.kind.code(), peer, self.raw(), raw)
                )?;
            }
            Ok(())
        })
    }

    /// To the next rank, and from the one before.
    ///
    /// # Errors
    /// When the library refuses.
    pub fn send_receive(
        &self,
        stream: &Stream,
        to: NcclElements<'_>,
        from: NcclElements<'_>,
    ) -> Result<(), GpuError> {
        let count = from.count.min(to.count);
        let (there, here, raw) = (to.address()?, from.address()?, self.stream(stream, [to, from])?);
        let (next, before) = ((self.rank + 1) % self.ranks, (self.rank + self.ranks - 1) % self.ranks);
        self.grouped(|| {
            call!(&self.nccl, send(here, count, from.kind.code(), next as c_int, self.raw(), raw))?;
            call!(&self.nccl, receive(there, count, from.kind.code(), before as c_int, self.raw(), raw))
        })
    }

    /// Several sends and receives as one operation. The group is ended also after an error.
    fn grouped(&self, calls: impl FnOnce() -> Result<(), GpuError>) -> Result<(), GpuError> {
        call!(&self.nccl, group_start())?;
        let called = calls();
        let ended = call!(&self.nccl, group_end());
        called.and(ended)
    }
}

impl Drop for GpuCommunicator {
    fn drop(&mut self) {
        let destroy = || {
            self.gpu.entered()?;
            call!(&self.nccl, destroy(self.raw()))
        };
        let _ = destroy();
        Gpu::left();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_library_that_is_not_there_is_named() {
        let missing = Nccl::open(Some(Path::new("/nowhere/libnccl.so.2"))).expect_err("no such library");
        assert_eq!(missing.to_string(), "/nowhere/libnccl.so.2 not found");
        assert_eq!(missing.fault(), GpuFault::NoDevice);
    }

    #[test]
    fn an_id_has_the_size_that_the_library_takes_by_value() {
        assert_eq!(size_of::<RawId>(), RendezvousId::BYTES);
    }
}
