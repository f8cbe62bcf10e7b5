//! The driver functions that Seatrial uses, and their types.
#![expect(unsafe_code, reason = "makes functions of addresses")]

use std::ffi::{c_char, c_int, c_uint, c_void};

use crate::library::table;

pub(super) type CuDevice = c_int;
/// `CUcontext`, `CUstream`, `CUevent`, `CUmodule`, `CUfunction`: opaque pointers.
pub(super) type Handle = *mut c_void;
/// `CUdeviceptr` of the `_v2` functions: 64 bits on every 64-bit system.
pub(super) type Address = u64;

// Pointers and addresses have the same size in all functions below.
const _: () = assert!(size_of::<Handle>() == size_of::<Address>());
// Enumerations are passed as C's int.
const _: () = assert!(size_of::<c_int>() == 4 && size_of::<c_uint>() == 4);

table! {
    Table {
        init(c_uint) = c"cuInit";
        driver_version(*mut c_int) = c"cuDriverGetVersion";
        error_name(c_int, *mut *const c_char) = c"cuGetErrorName";
        error_string(c_int, *mut *const c_char) = c"cuGetErrorString";
        device_count(*mut c_int) = c"cuDeviceGetCount";
        device_get(*mut CuDevice, c_int) = c"cuDeviceGet";
        device_name(*mut c_char, c_int, CuDevice) = c"cuDeviceGetName";
        device_pci(*mut c_char, c_int, CuDevice) = c"cuDeviceGetPCIBusId";
        device_attribute(*mut c_int, c_int, CuDevice) = c"cuDeviceGetAttribute";
        primary_retain(*mut Handle, CuDevice) = c"cuDevicePrimaryCtxRetain";
        primary_release(CuDevice) = c"cuDevicePrimaryCtxRelease_v2", c"cuDevicePrimaryCtxRelease";
        set_current(Handle) = c"cuCtxSetCurrent";
        memory_info(*mut usize, *mut usize) = c"cuMemGetInfo_v2";
        allocate(*mut Address, usize) = c"cuMemAlloc_v2";
        free(Address) = c"cuMemFree_v2";
        host_register(*mut c_void, usize, c_uint) = c"cuMemHostRegister_v2";
        host_unregister(*mut c_void) = c"cuMemHostUnregister";
        host_device_pointer(*mut Address, *mut c_void, c_uint) = c"cuMemHostGetDevicePointer_v2";
        stream_create(*mut Handle, c_uint) = c"cuStreamCreate";
        stream_destroy(Handle) = c"cuStreamDestroy_v2";
        stream_synchronize(Handle) = c"cuStreamSynchronize";
        stream_wait_value(Handle, Address, u32, c_uint) = c"cuStreamWaitValue32_v2", c"cuStreamWaitValue32";
        event_create(*mut Handle, c_uint) = c"cuEventCreate";
        event_destroy(Handle) = c"cuEventDestroy_v2";
        event_record(Handle, Handle) = c"cuEventRecord";
        event_elapsed(*mut f32, Handle, Handle) = c"cuEventElapsedTime_v2", c"cuEventElapsedTime";
        copy(Address, Address, usize, Handle) = c"cuMemcpyAsync";
        copy_peer(Address, Handle, Address, Handle, usize, Handle) = c"cuMemcpyPeerAsync";
        set(Address, u8, usize, Handle) = c"cuMemsetD8Async";
        module_load(*mut Handle, *const c_void, c_uint, *mut c_int, *mut *mut c_void) = c"cuModuleLoadDataEx";
        module_unload(Handle) = c"cuModuleUnload";
        module_function(*mut Handle, Handle, *const c_char) = c"cuModuleGetFunction";
        function_attribute(Handle, c_int, c_int) = c"cuFuncSetAttribute";
        launch(
            Handle, c_uint, c_uint, c_uint, c_uint, c_uint, c_uint, c_uint, Handle, *mut *mut c_void, *mut *mut c_void
        ) = c"cuLaunchKernel";
        can_access_peer(*mut c_int, CuDevice, CuDevice) = c"cuDeviceCanAccessPeer";
        enable_peer(Handle, c_uint) = c"cuCtxEnablePeerAccess";
    }
}
