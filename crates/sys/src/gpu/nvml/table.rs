//! The functions of the library that are used.
#![expect(unsafe_code, reason = "makes functions of addresses")]

use std::ffi::{c_char, c_int, c_uint, c_void};

use super::layout::{EventData, FieldValue, Memory, PciInfo, ProcessInfo};
use crate::gpu::library::table;

/// `nvmlDevice_t`.
pub(super) type Device = *mut c_void;
/// `nvmlEventSet_t`.
pub(super) type EventSet = *mut c_void;

table! {
    /// The library's functions. `nvmlErrorString` returns a pointer and is not among them: the numbers are named here.
    Table {
        init() = c"nvmlInit_v2";
        driver_version(*mut c_char, c_uint) = c"nvmlSystemGetDriverVersion";
        count(*mut c_uint) = c"nvmlDeviceGetCount_v2";
        by_index(c_uint, *mut Device) = c"nvmlDeviceGetHandleByIndex_v2";
        pci(Device, *mut PciInfo) = c"nvmlDeviceGetPciInfo_v3";
        name(Device, *mut c_char, c_uint) = c"nvmlDeviceGetName";
        uuid(Device, *mut c_char, c_uint) = c"nvmlDeviceGetUUID";
        memory(Device, *mut Memory) = c"nvmlDeviceGetMemoryInfo";
        clock(Device, c_uint, *mut c_uint) = c"nvmlDeviceGetClockInfo";
        max_clock(Device, c_uint, *mut c_uint) = c"nvmlDeviceGetMaxClockInfo";
        throttle(Device, *mut u64) =
            c"nvmlDeviceGetCurrentClocksEventReasons", c"nvmlDeviceGetCurrentClocksThrottleReasons";
        bus_width(Device, *mut c_uint) = c"nvmlDeviceGetMemoryBusWidth";
        link_generation(Device, *mut c_uint) = c"nvmlDeviceGetCurrPcieLinkGeneration";
        link_width(Device, *mut c_uint) = c"nvmlDeviceGetCurrPcieLinkWidth";
        max_link_generation(Device, *mut c_uint) = c"nvmlDeviceGetMaxPcieLinkGeneration";
        max_link_width(Device, *mut c_uint) = c"nvmlDeviceGetMaxPcieLinkWidth";
        replays(Device, *mut c_uint) = c"nvmlDeviceGetPcieReplayCounter";
        ecc_errors(Device, c_uint, c_uint, *mut u64) = c"nvmlDeviceGetTotalEccErrors";
        persistence(Device, *mut c_uint) = c"nvmlDeviceGetPersistenceMode";
        mig(Device, *mut c_uint, *mut c_uint) = c"nvmlDeviceGetMigMode";
        compute_mode(Device, *mut c_uint) = c"nvmlDeviceGetComputeMode";
        temperature(Device, c_uint, *mut c_uint) = c"nvmlDeviceGetTemperature";
        nvlink_state(Device, c_uint, *mut c_uint) = c"nvmlDeviceGetNvLinkState";
        nvlink_remote(Device, c_uint, *mut PciInfo) = c"nvmlDeviceGetNvLinkRemotePciInfo_v2";
        fields(Device, c_int, *mut FieldValue) = c"nvmlDeviceGetFieldValues";
        processes(Device, *mut c_uint, *mut ProcessInfo) =
            c"nvmlDeviceGetComputeRunningProcesses_v3", c"nvmlDeviceGetComputeRunningProcesses_v2";
        event_set(*mut EventSet) = c"nvmlEventSetCreate";
        register_events(Device, u64, EventSet) = c"nvmlDeviceRegisterEvents";
        event_wait(EventSet, *mut EventData, c_uint) = c"nvmlEventSetWait_v2";
        event_set_free(EventSet) = c"nvmlEventSetFree";
    }
}
