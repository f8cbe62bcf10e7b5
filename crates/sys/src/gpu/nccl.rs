//! NVIDIA's library of collective operations over GPUs (NCCL), loaded at run time, on the driver's primary context: no CUDA
//! runtime is needed.
#![expect(unsafe_code, reason = "calls functions of the library")]

use std::ffi::{CStr, c_char, c_int, c_void};
use std::path::Path;
use std::sync::Arc;

use super::{Gpu, GpuError, GpuFault, Span, Stream};
use crate::library::{Library, table};

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
    }
}

/// `ncclFloat32` and `ncclSum` (nccl.h).
const FLOAT: c_int = 7;
const SUM: c_int = 0;

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

/// The loaded library.
#[derive(Debug)]
pub struct Nccl {
    table: Table,
    last_error: Option<unsafe extern "C" fn(Comm) -> *const c_char>,
}

macro_rules! call {
    ($nccl:expr, $field:ident($($arg:expr),* $(,)?)) => {{
        let nccl: &Nccl = $nccl;
        let entry = nccl.table.$field;
        let function = entry.function.ok_or(GpuError::TooOld { symbol: entry.symbol })?;
        // SAFETY: the arguments are of the types that the function takes; pointers among them lead to variables that live
        // through the call, or to device memory that the stream keeps until its work is done.
        let code = unsafe { function($($arg),*) };
        nccl.answer(entry.symbol, code)
    }};
}

impl Nccl {
    pub const LIBRARY: &'static str = "libnccl.so.2";

    /// Loads the library from where the dynamic linker looks.
    ///
    /// # Errors
    /// When it is not there or cannot be loaded.
    pub fn open() -> Result<Arc<Self>, GpuError> {
        Self::start(&Library::open(Self::LIBRARY)?)
    }

    /// Loads the library of this file.
    ///
    /// # Errors
    /// When it is not there or cannot be loaded.
    pub fn open_at(path: &Path) -> Result<Arc<Self>, GpuError> {
        Self::start(&Library::open_at(path)?)
    }

    fn start(library: &Library) -> Result<Arc<Self>, GpuError> {
        let last_error = library.first(&[c"ncclGetLastError"]).map(|address| {
            // SAFETY: the address is that of the function of this name, whose type nccl.h declares so.
            unsafe {
                std::mem::transmute::<*mut c_void, unsafe extern "C" fn(Comm) -> *const c_char>(
                    address.as_ptr(),
                )
            }
        });
        Ok(Arc::new(Self { table: Table::load(library), last_error }))
    }

    fn answer(&self, call: &'static str, code: c_int) -> Result<(), GpuError> {
        let name = match code {
            0 => return Ok(()),
            1 => "unhandled CUDA error",
            2 => "system error",
            3 => "internal error",
            4 => "invalid argument",
            5 => "invalid usage",
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

/// Elements of 32-bit floating point in device memory.
#[derive(Clone, Copy, Debug)]
pub struct Floats<'a> {
    pub at: Span<'a>,
    pub count: usize,
}

impl Floats<'_> {
    fn address(self) -> Result<*mut c_void, GpuError> {
        let address = self.at.address(self.count * 4)?;
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
    fn stream(&self, stream: &Stream, memory: [Floats<'_>; 2]) -> Result<CudaStream, GpuError> {
        if !self.gpu.is(stream.gpu()) {
            return Err(GpuError::Foreign { what: "the stream" });
        }
        self.gpu.entered()?;
        memory.iter().for_each(|floats| stream.keep(floats.at));
        Ok(std::ptr::with_exposed_provenance_mut(stream.raw()))
    }

    /// Sums of what all ranks have at `from`, on every rank.
    ///
    /// # Errors
    /// When the library refuses.
    pub fn all_reduce(&self, stream: &Stream, to: Floats<'_>, from: Floats<'_>) -> Result<(), GpuError> {
        let (there, here, raw) = (to.address()?, from.address()?, self.stream(stream, [to, from])?);
        let count = from.count.min(to.count);
        call!(&self.nccl, all_reduce(here, there, count, FLOAT, SUM, self.raw(), raw))
    }

    /// The same on rank 0 alone.
    ///
    /// # Errors
    /// When the library refuses.
    pub fn reduce(&self, stream: &Stream, to: Floats<'_>, from: Floats<'_>) -> Result<(), GpuError> {
        let (there, here, raw) = (to.address()?, from.address()?, self.stream(stream, [to, from])?);
        let count = from.count.min(to.count);
        call!(&self.nccl, reduce(here, there, count, FLOAT, SUM, 0, self.raw(), raw))
    }

    /// What rank 0 has, on every rank.
    ///
    /// # Errors
    /// When the library refuses.
    pub fn broadcast(&self, stream: &Stream, to: Floats<'_>, from: Floats<'_>) -> Result<(), GpuError> {
        let (there, here, raw) = (to.address()?, from.address()?, self.stream(stream, [to, from])?);
        let count = from.count.min(to.count);
        call!(&self.nccl, broadcast(here, there, count, FLOAT, 0, self.raw(), raw))
    }

    /// What all ranks have, one after the other, on every rank: `to` has room for all.
    ///
    /// # Errors
    /// When the library refuses, or there is no room.
    pub fn all_gather(&self, stream: &Stream, to: Floats<'_>, from: Floats<'_>) -> Result<(), GpuError> {
        let count = from.count.min(to.count / self.ranks);
        let (there, here, raw) = (to.address()?, from.address()?, self.stream(stream, [to, from])?);
        call!(&self.nccl, all_gather(here, there, count, FLOAT, self.raw(), raw))
    }

    /// Of the sums of what all ranks have, the part of this rank.
    ///
    /// # Errors
    /// When the library refuses.
    pub fn reduce_scatter(&self, stream: &Stream, to: Floats<'_>, from: Floats<'_>) -> Result<(), GpuError> {
        let count = to.count.min(from.count / self.ranks);
        let (there, here, raw) = (to.address()?, from.address()?, self.stream(stream, [to, from])?);
        call!(&self.nccl, reduce_scatter(here, there, count, FLOAT, SUM, self.raw(), raw))
    }

    /// A part of `from` to each rank, in their order, and as many into `to`.
    ///
    /// # Errors
    /// When the library refuses.
    pub fn all_to_all(&self, stream: &Stream, to: Floats<'_>, from: Floats<'_>) -> Result<(), GpuError> {
        let count = from.count.min(to.count) / self.ranks;
        let (there, here, raw) = (to.address()?, from.address()?, self.stream(stream, [to, from])?);
        let part =
            |of: *mut c_void, rank: usize| of.cast::<f32>().wrapping_add(rank * count).cast::<c_void>();
        self.grouped(|| {
            for rank in 0..self.ranks {
                let peer = rank as c_int;
                call!(&self.nccl, send(part(here, rank), count, FLOAT, peer, self.raw(), raw))?;
                call!(&self.nccl, receive(part(there, rank), count, FLOAT, peer, self.raw(), raw))?;
            }
            Ok(())
        })
    }

    /// To the next rank, and from the one before.
    ///
    /// # Errors
    /// When the library refuses.
    pub fn send_receive(&self, stream: &Stream, to: Floats<'_>, from: Floats<'_>) -> Result<(), GpuError> {
        let count = from.count.min(to.count);
        let (there, here, raw) = (to.address()?, from.address()?, self.stream(stream, [to, from])?);
        let (next, before) = ((self.rank + 1) % self.ranks, (self.rank + self.ranks - 1) % self.ranks);
        self.grouped(|| {
            call!(&self.nccl, send(here, count, FLOAT, next as c_int, self.raw(), raw))?;
            call!(&self.nccl, receive(there, count, FLOAT, before as c_int, self.raw(), raw))
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
        let missing = Nccl::open_at(Path::new("/nowhere/libnccl.so.2")).expect_err("no such library");
        assert_eq!(missing.to_string(), "/nowhere/libnccl.so.2 not found");
        assert_eq!(missing.fault(), GpuFault::NoDevice);
    }

    #[test]
    fn an_id_has_the_size_that_the_library_takes_by_value() {
        assert_eq!(size_of::<RawId>(), RendezvousId::BYTES);
    }
}
