//! A driver of GPUs that do not exist, for tests: the functions of `libcuda.so.1`, `libnvidia-ml.so.1`, `libnccl.so.2` and
//! `libcublas.so` that Seatrial uses. Memory of a device is memory of the process, copies move real bytes and kernels, known
//! by their names, do their work on the CPU, so that checks of data are real. Time is simulated: each piece of work takes
//! what the configuration says, which the marks in streams tell exactly.
//!
//! It is not a member of the workspace: tests compile it (`compile.rs`). Its configuration is the file beside it whose
//! name has `.conf` added, words of the form `key=value`:
//!
//! | key | means | default |
//! |---|---|---|
//! | `devices` | how many there are, at 0000:10:00.0, 0000:11:00.0 ... | 1 |
//! | `memory` | bytes of each | 256 MiB |
//! | `h2d`, `d2h`, `local`, `peer` | GB/s of copies, of kernels that reach there, per array | 50, 40, 1000, 400 |
//! | `node`, `far` | the NUMA node of every device, and the percentage that is left of a rate from and to other nodes | any, 50 |
//! | `copy_ns` | what each copy takes besides | 0 |
//! | `load_ns` | one load of a chase: local; from the host twice, from a peer three times that | 500 |
//! | `blas` | first number of the version of `libcublas.so` | 13 |
//! | `tflops` | of matrix products; they are made, so that few of them should fill a slice | 0.00005 |
//! | `idle` | products write nothing | |
//! | `flip` | the product of this number, counted from 0, has a wrong bit in its first sum | none |
//! | `stuck` | the word of this number of every memory that is checked has a bit that reads as 1 | none |
//! | `apart` | streams have times of their own, as those of several processes | |
//! | `busbw` | GB/s of a collective operation, besides 10 us | 100 |
//! | `nccl_flip` | the rank of this number receives a wrong first element | none |
//! | `patience` | seconds that a rank waits for the others at most | 20 |
//! | `processes` | ranks are processes, which exchange what they send through files; operations of one call only | |
//! | `fail` | `SYMBOL[@DEVICE]:CODE[:AFTER]`: answers CODE from the call AFTER (0) on; may stand several times. CODE `hang`: a function of NCCL never answers | |
//! | `corrupt` | `N:BYTE`: the copy N, counted from 0, has a bit wrong at BYTE of its target; all from N on | |
//! | `pin` | bytes of the host that can be pinned | no limit |
//! | `no_peers` | devices do not reach each other | |
//! | `mig`, `mode`, `gen_now`, `width_now`, `throttle`, `replays` | what the management library tells | 0, 0, 5, 16, 0, 0 |
//! | `others` | processes that compute on each device, besides those that have a context of this copy | 0 |
//! | `capability` | the compute capability before the point | 9 |
//! | `xid` | an error of this number is reported once | |
//! | `rising` | looks at the processors' clock until it is at 1000 MHz, from 300 on | 0 |
//!
//! `--cfg without="SYMBOL"` compiles a driver that is too old for the function.
#![expect(non_snake_case, reason = "the functions have the names of the driver's")]

mod between;
mod blas;
mod kernels;
mod nccl;
mod nvml;
mod product;
mod world;

use std::cell::Cell;
use std::ffi::{CStr, c_char, c_int, c_uint, c_void};

use world::{Op, World, with};

thread_local! {
    /// The device whose context this thread is in, plus 1.
    static CURRENT: Cell<usize> = const { Cell::new(0) };
}

const INVALID: c_int = 1;
const OUT_OF_MEMORY: c_int = 2;
const NO_CONTEXT: c_int = 201;

pub fn current() -> usize {
    CURRENT.get().wrapping_sub(1)
}

/// A function of the driver: answers the planned failure, or does its work.
fn call(symbol: &str, work: impl FnOnce(&mut World) -> c_int) -> c_int {
    with(|world| match world.planned(symbol, current()) {
        Some(code) => code,
        None => work(world),
    })
}

fn ok(_: ()) -> c_int {
    0
}

#[unsafe(no_mangle)]
pub extern "C" fn cuInit(_: c_uint) -> c_int {
    call("cuInit", |world| if world.config.devices == 0 { 100 } else { 0 })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuDriverGetVersion(version: *mut c_int) -> c_int {
    call("cuDriverGetVersion", |_| ok(unsafe { *version = 12040 }))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGetErrorName(code: c_int, text: *mut *const c_char) -> c_int {
    let name: &CStr = match code {
        1 => c"CUDA_ERROR_INVALID_VALUE",
        2 => c"CUDA_ERROR_OUT_OF_MEMORY",
        46 => c"CUDA_ERROR_DEVICE_UNAVAILABLE",
        100 => c"CUDA_ERROR_NO_DEVICE",
        222 => c"CUDA_ERROR_UNSUPPORTED_PTX_VERSION",
        304 => c"CUDA_ERROR_OPERATING_SYSTEM",
        719 => c"CUDA_ERROR_LAUNCH_FAILED",
        801 => c"CUDA_ERROR_NOT_SUPPORTED",
        _ => c"CUDA_ERROR_OF_THE_FAKE",
    };
    unsafe { *text = name.as_ptr() };
    0
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGetErrorString(_: c_int, text: *mut *const c_char) -> c_int {
    unsafe { *text = c"as planned by the test".as_ptr() };
    0
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuDeviceGetCount(count: *mut c_int) -> c_int {
    call("cuDeviceGetCount", |world| ok(unsafe { *count = world.config.devices as c_int }))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuDeviceGet(device: *mut c_int, number: c_int) -> c_int {
    call("cuDeviceGet", |world| match (number as usize) < world.config.devices {
        true => ok(unsafe { *device = number }),
        false => 101,
    })
}

unsafe fn put(text: &str, to: *mut c_char, room: usize) {
    let bytes = text.as_bytes();
    let count = bytes.len().min(room - 1);
    unsafe {
        std::ptr::copy_nonoverlapping(bytes.as_ptr().cast(), to, count);
        *to.add(count) = 0;
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuDeviceGetName(name: *mut c_char, room: c_int, _: c_int) -> c_int {
    call("cuDeviceGetName", |_| ok(unsafe { put("Fake GPU", name, room as usize) }))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuDeviceGetPCIBusId(id: *mut c_char, room: c_int, device: c_int) -> c_int {
    let text = format!("0000:{:02X}:00.0", 0x10 + device);
    call("cuDeviceGetPCIBusId", |_| ok(unsafe { put(&text, id, room as usize) }))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuDeviceGetAttribute(value: *mut c_int, which: c_int, _: c_int) -> c_int {
    let answer = match which {
        16 => 4,       // processors
        38 => 1 << 16, // second-level cache
        40 => 2,       // copy engines
        75 => with(|world| world.config.number("capability", 9.0)) as c_int,
        76 => 0,
        18 => 0,
        _ => return INVALID,
    };
    call("cuDeviceGetAttribute", |_| ok(unsafe { *value = answer }))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuDevicePrimaryCtxRetain(context: *mut *mut c_void, device: c_int) -> c_int {
    with(|world| match world.planned("cuDevicePrimaryCtxRetain", device as usize) {
        Some(code) => code,
        None => {
            world::note("contexts");
            ok(unsafe { *context = (device as usize + 1) as *mut c_void })
        }
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn cuDevicePrimaryCtxRelease_v2(_: c_int) -> c_int {
    0
}

#[unsafe(no_mangle)]
pub extern "C" fn cuCtxSetCurrent(context: *mut c_void) -> c_int {
    CURRENT.set(context as usize);
    0
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemGetInfo_v2(free: *mut usize, total: *mut usize) -> c_int {
    call("cuMemGetInfo", |world| {
        let used = world.used(current());
        unsafe {
            *total = world.config.memory;
            *free = world.config.memory.saturating_sub(used);
        }
        0
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemAlloc_v2(address: *mut u64, bytes: usize) -> c_int {
    call("cuMemAlloc", |world| {
        if current() >= world.config.devices {
            return NO_CONTEXT;
        }
        if world.used(current()) + bytes > world.config.memory {
            return OUT_OF_MEMORY;
        }
        ok(unsafe { *address = world.allocate(current(), bytes) })
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn cuMemFree_v2(address: u64) -> c_int {
    with(|world| world.memory.remove(&address).map_or(INVALID, |_| 0))
}

#[cfg(not(without = "cuMemHostRegister"))]
#[unsafe(no_mangle)]
pub extern "C" fn cuMemHostRegister_v2(host: *mut c_void, bytes: usize, _: c_uint) -> c_int {
    call("cuMemHostRegister", |world| {
        let pinned: usize = world.pinned.values().sum();
        if pinned + bytes > world.config.pin {
            return OUT_OF_MEMORY;
        }
        world.pinned.insert(host as u64, bytes);
        0
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn cuMemHostUnregister(host: *mut c_void) -> c_int {
    with(|world| world.pinned.remove(&(host as u64)).map_or(713, |_| 0))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemHostGetDevicePointer_v2(at: *mut u64, host: *mut c_void, _: c_uint) -> c_int {
    ok(unsafe { *at = host as u64 })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuStreamCreate(stream: *mut *mut c_void, _: c_uint) -> c_int {
    call("cuStreamCreate", |world| ok(unsafe { *stream = world.stream(current()) as *mut c_void }))
}

#[unsafe(no_mangle)]
pub extern "C" fn cuStreamDestroy_v2(stream: *mut c_void) -> c_int {
    with(|world| world.streams.remove(&(stream as usize)).map_or(INVALID, |_| 0))
}

#[unsafe(no_mangle)]
pub extern "C" fn cuStreamSynchronize(stream: *mut c_void) -> c_int {
    call("cuStreamSynchronize", |world| world.finish(stream as usize))
}

#[cfg(not(without = "cuStreamWaitValue32"))]
#[unsafe(no_mangle)]
pub extern "C" fn cuStreamWaitValue32_v2(stream: *mut c_void, at: u64, value: u32, _: c_uint) -> c_int {
    call("cuStreamWaitValue32", |world| world.queue(stream as usize, Op::Wait { at, value }))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuEventCreate(event: *mut *mut c_void, _: c_uint) -> c_int {
    call("cuEventCreate", |world| ok(unsafe { *event = world.event() as *mut c_void }))
}

#[unsafe(no_mangle)]
pub extern "C" fn cuEventDestroy_v2(event: *mut c_void) -> c_int {
    with(|world| world.events.remove(&(event as usize)).map_or(INVALID, |_| 0))
}

#[unsafe(no_mangle)]
pub extern "C" fn cuEventRecord(event: *mut c_void, stream: *mut c_void) -> c_int {
    call("cuEventRecord", |world| world.queue(stream as usize, Op::Mark { event: event as usize }))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuEventElapsedTime(ms: *mut f32, from: *mut c_void, to: *mut c_void) -> c_int {
    call("cuEventElapsedTime", |world| {
        let at = |event: *mut c_void| world.events.get(&(event as usize)).copied().flatten();
        match (at(from), at(to)) {
            (Some(from), Some(to)) => ok(unsafe { *ms = ((to - from) / 1e6) as f32 }),
            _ => 600,
        }
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn cuMemcpyAsync(to: u64, from: u64, bytes: usize, stream: *mut c_void) -> c_int {
    call("cuMemcpyAsync", |world| world.queue(stream as usize, Op::Copy { to, from, bytes }))
}

#[unsafe(no_mangle)]
pub extern "C" fn cuMemcpyPeerAsync(
    to: u64,
    _: *mut c_void,
    from: u64,
    _: *mut c_void,
    bytes: usize,
    stream: *mut c_void,
) -> c_int {
    call("cuMemcpyPeerAsync", |world| world.queue(stream as usize, Op::Copy { to, from, bytes }))
}

#[unsafe(no_mangle)]
pub extern "C" fn cuMemsetD8Async(at: u64, value: u8, bytes: usize, stream: *mut c_void) -> c_int {
    call("cuMemsetD8Async", |world| world.queue(stream as usize, Op::Set { at, value, bytes }))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuModuleLoadDataEx(
    module: *mut *mut c_void,
    text: *const c_void,
    _: c_uint,
    _: *mut c_int,
    values: *mut *mut c_void,
) -> c_int {
    let text = unsafe { CStr::from_ptr(text.cast()) }.to_string_lossy().into_owned();
    call("cuModuleLoadDataEx", |world| ok(unsafe { *module = world.module(&text) as *mut c_void })).min_with(
        || {
            let said = "ptxas fatal: as planned by the test";
            unsafe { put(said, (*values).cast(), *values.add(1) as usize) };
        },
    )
}

/// Does something when the answer is a failure.
trait OnFailure {
    fn min_with(self, say: impl FnOnce()) -> Self;
}

impl OnFailure for c_int {
    fn min_with(self, say: impl FnOnce()) -> Self {
        if self != 0 {
            say();
        }
        self
    }
}

#[unsafe(no_mangle)]
pub extern "C" fn cuModuleUnload(_: *mut c_void) -> c_int {
    0
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuModuleGetFunction(
    function: *mut *mut c_void,
    module: *mut c_void,
    name: *const c_char,
) -> c_int {
    let name = unsafe { CStr::from_ptr(name) }.to_string_lossy().into_owned();
    call("cuModuleGetFunction", |world| match world.function(module as usize, &name) {
        Some(found) => ok(unsafe { *function = found as *mut c_void }),
        None => 500,
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn cuFuncSetAttribute(_: *mut c_void, _: c_int, _: c_int) -> c_int {
    call("cuFuncSetAttribute", |_| 0)
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuLaunchKernel(
    function: *mut c_void,
    blocks: c_uint,
    _: c_uint,
    _: c_uint,
    threads: c_uint,
    _: c_uint,
    _: c_uint,
    _: c_uint,
    stream: *mut c_void,
    arguments: *mut *mut c_void,
    _: *mut *mut c_void,
) -> c_int {
    call("cuLaunchKernel", |world| {
        let Some(name) = world.functions.get(&(function as usize)).cloned() else { return 400 };
        let count = kernels::arguments(&name);
        let arguments = (0..count).map(|at| unsafe { *(*arguments.add(at)).cast::<u64>() }).collect();
        world.queue(stream as usize, Op::Kernel { name, blocks, threads, arguments })
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuDeviceCanAccessPeer(can: *mut c_int, _: c_int, _: c_int) -> c_int {
    call("cuDeviceCanAccessPeer", |world| ok(unsafe { *can = c_int::from(!world.config.no_peers) }))
}

#[unsafe(no_mangle)]
pub extern "C" fn cuCtxEnablePeerAccess(_: *mut c_void, _: c_uint) -> c_int {
    call("cuCtxEnablePeerAccess", |world| if world.config.no_peers { 217 } else { 0 })
}
