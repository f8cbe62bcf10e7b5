//! The functions of the driver that are used, and the types they take.
#![expect(unsafe_code, reason = "makes functions of addresses")]

use std::ffi::{c_char, c_int, c_uint, c_void};

use crate::gpu::library::table;

/// `CUdevice`.
pub(super) type Device = c_int;
/// `CUcontext`, `CUstream`, `CUevent`, `CUmodule`, `CUfunction`: opaque pointers.
pub(super) type Opaque = *mut c_void;
/// `CUdeviceptr` of the `_v2` functions: 64 bits on every 64-bit system.
pub(super) type Address = u64;

// Pointers and addresses are the same size in all functions below.
const _: () = assert!(size_of::<Opaque>() == size_of::<Address>());
// Enumerations are passed as C's int.
const _: () = assert!(size_of::<c_int>() == 4 && size_of::<c_uint>() == 4);

table! {
    Table {
        init(c_uint) = c"cuInit";
        driver_version(*mut c_int) = c"cuDriverGetVersion";
        error_name(c_int, *mut *const c_char) = c"cuGetErrorName";
        error_string(c_int, *mut *const c_char) = c"cuGetErrorString";
        device_count(*mut c_int) = c"cuDeviceGetCount";
        device_get(*mut Device, c_int) = c"cuDeviceGet";
        device_name(*mut c_char, c_int, Device) = c"cuDeviceGetName";
        device_pci(*mut c_char, c_int, Device) = c"cuDeviceGetPCIBusId";
        device_attribute(*mut c_int, c_int, Device) = c"cuDeviceGetAttribute";
        primary_retain(*mut Opaque, Device) = c"cuDevicePrimaryCtxRetain";
        primary_release(Device) = c"cuDevicePrimaryCtxRelease_v2", c"cuDevicePrimaryCtxRelease";
        set_current(Opaque) = c"cuCtxSetCurrent";
        memory_info(*mut usize, *mut usize) = c"cuMemGetInfo_v2";
        allocate(*mut Address, usize) = c"cuMemAlloc_v2";
        free(Address) = c"cuMemFree_v2";
        host_register(*mut c_void, usize, c_uint) = c"cuMemHostRegister_v2";
        host_unregister(*mut c_void) = c"cuMemHostUnregister";
        host_device_pointer(*mut Address, *mut c_void, c_uint) = c"cuMemHostGetDevicePointer_v2";
        stream_create(*mut Opaque, c_uint) = c"cuStreamCreate";
        stream_destroy(Opaque) = c"cuStreamDestroy_v2";
        stream_synchronize(Opaque) = c"cuStreamSynchronize";
        stream_wait_value(Opaque, Address, u32, c_uint) = c"cuStreamWaitValue32_v2", c"cuStreamWaitValue32";
        event_create(*mut Opaque, c_uint) = c"cuEventCreate";
        event_destroy(Opaque) = c"cuEventDestroy_v2";
        event_record(Opaque, Opaque) = c"cuEventRecord";
        event_elapsed(*mut f32, Opaque, Opaque) = c"cuEventElapsedTime_v2", c"cuEventElapsedTime";
        copy(Address, Address, usize, Opaque) = c"cuMemcpyAsync";
        copy_peer(Address, Opaque, Address, Opaque, usize, Opaque) = c"cuMemcpyPeerAsync";
        set(Address, u8, usize, Opaque) = c"cuMemsetD8Async";
        module_load(*mut Opaque, *const c_void, c_uint, *mut c_int, *mut *mut c_void) = c"cuModuleLoadDataEx";
        module_unload(Opaque) = c"cuModuleUnload";
        module_function(*mut Opaque, Opaque, *const c_char) = c"cuModuleGetFunction";
        launch(
            Opaque, c_uint, c_uint, c_uint, c_uint, c_uint, c_uint, c_uint, Opaque, *mut *mut c_void, *mut *mut c_void
        ) = c"cuLaunchKernel";
        can_access_peer(*mut c_int, Device, Device) = c"cuDeviceCanAccessPeer";
        enable_peer(Opaque, c_uint) = c"cuCtxEnablePeerAccess";
    }
}
