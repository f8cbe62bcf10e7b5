//! The NVML functions that Seatrial uses.
#![expect(unsafe_code, reason = "makes functions of addresses")]

use std::ffi::{c_char, c_int, c_uint, c_void};

use super::layout::{EventData, FieldValue, Memory, PciInfo, ProcessInfo};
use crate::library::table;

pub(super) type NvmlDevice = *mut c_void;
pub(super) type EventSet = *mut c_void;

table! {
    /// NVML's functions, without `nvmlErrorString`, which returns a pointer: the codes are named here.
    Table {
        init() = c"nvmlInit_v2";
        driver_version(*mut c_char, c_uint) = c"nvmlSystemGetDriverVersion";
        count(*mut c_uint) = c"nvmlDeviceGetCount_v2";
        by_index(c_uint, *mut NvmlDevice) = c"nvmlDeviceGetHandleByIndex_v2";
        pci(NvmlDevice, *mut PciInfo) = c"nvmlDeviceGetPciInfo_v3";
        name(NvmlDevice, *mut c_char, c_uint) = c"nvmlDeviceGetName";
        uuid(NvmlDevice, *mut c_char, c_uint) = c"nvmlDeviceGetUUID";
        memory(NvmlDevice, *mut Memory) = c"nvmlDeviceGetMemoryInfo";
        clock(NvmlDevice, c_uint, *mut c_uint) = c"nvmlDeviceGetClockInfo";
        max_clock(NvmlDevice, c_uint, *mut c_uint) = c"nvmlDeviceGetMaxClockInfo";
        throttle(NvmlDevice, *mut u64) =
            c"nvmlDeviceGetCurrentClocksEventReasons", c"nvmlDeviceGetCurrentClocksThrottleReasons";
        cores(NvmlDevice, *mut c_uint) = c"nvmlDeviceGetNumGpuCores";
        capability(NvmlDevice, *mut c_int, *mut c_int) = c"nvmlDeviceGetCudaComputeCapability";
        power(NvmlDevice, *mut c_uint) = c"nvmlDeviceGetPowerUsage";
        power_limit(NvmlDevice, *mut c_uint) = c"nvmlDeviceGetEnforcedPowerLimit";
        bus_width(NvmlDevice, *mut c_uint) = c"nvmlDeviceGetMemoryBusWidth";
        link_generation(NvmlDevice, *mut c_uint) = c"nvmlDeviceGetCurrPcieLinkGeneration";
        link_width(NvmlDevice, *mut c_uint) = c"nvmlDeviceGetCurrPcieLinkWidth";
        max_link_generation(NvmlDevice, *mut c_uint) = c"nvmlDeviceGetMaxPcieLinkGeneration";
        max_link_width(NvmlDevice, *mut c_uint) = c"nvmlDeviceGetMaxPcieLinkWidth";
        replays(NvmlDevice, *mut c_uint) = c"nvmlDeviceGetPcieReplayCounter";
        ecc_errors(NvmlDevice, c_uint, c_uint, *mut u64) = c"nvmlDeviceGetTotalEccErrors";
        persistence(NvmlDevice, *mut c_uint) = c"nvmlDeviceGetPersistenceMode";
        mig(NvmlDevice, *mut c_uint, *mut c_uint) = c"nvmlDeviceGetMigMode";
        compute_mode(NvmlDevice, *mut c_uint) = c"nvmlDeviceGetComputeMode";
        vbios(NvmlDevice, *mut c_char, c_uint) = c"nvmlDeviceGetVbiosVersion";
        inforom(NvmlDevice, *mut c_char, c_uint) = c"nvmlDeviceGetInforomImageVersion";
        ecc_mode(NvmlDevice, *mut c_uint, *mut c_uint) = c"nvmlDeviceGetEccMode";
        default_power_limit(NvmlDevice, *mut c_uint) = c"nvmlDeviceGetPowerManagementDefaultLimit";
        remapped_rows(NvmlDevice, *mut c_uint, *mut c_uint, *mut c_uint, *mut c_uint) = c"nvmlDeviceGetRemappedRows";
        set_persistence(NvmlDevice, c_uint) = c"nvmlDeviceSetPersistenceMode";
        set_compute_mode(NvmlDevice, c_uint) = c"nvmlDeviceSetComputeMode";
        set_power_limit(NvmlDevice, c_uint) = c"nvmlDeviceSetPowerManagementLimit";
        own_power_limit(NvmlDevice, *mut c_uint) = c"nvmlDeviceGetPowerManagementLimit";
        application_clock(NvmlDevice, c_uint, *mut c_uint) = c"nvmlDeviceGetApplicationsClock";
        default_application_clock(NvmlDevice, c_uint, *mut c_uint) = c"nvmlDeviceGetDefaultApplicationsClock";
        set_application_clocks(NvmlDevice, c_uint, c_uint) = c"nvmlDeviceSetApplicationsClocks";
        retired_pages(NvmlDevice, c_uint, *mut c_uint, *mut u64) = c"nvmlDeviceGetRetiredPages";
        nvlink_errors(NvmlDevice, c_uint, c_uint, *mut u64) = c"nvmlDeviceGetNvLinkErrorCounter";
        temperature(NvmlDevice, c_uint, *mut c_uint) = c"nvmlDeviceGetTemperature";
        nvlink_state(NvmlDevice, c_uint, *mut c_uint) = c"nvmlDeviceGetNvLinkState";
        nvlink_remote(NvmlDevice, c_uint, *mut PciInfo) = c"nvmlDeviceGetNvLinkRemotePciInfo_v2";
        fields(NvmlDevice, c_int, *mut FieldValue) = c"nvmlDeviceGetFieldValues";
        processes(NvmlDevice, *mut c_uint, *mut ProcessInfo) =
            c"nvmlDeviceGetComputeRunningProcesses_v3", c"nvmlDeviceGetComputeRunningProcesses_v2";
        event_set(*mut EventSet) = c"nvmlEventSetCreate";
        register_events(NvmlDevice, u64, EventSet) = c"nvmlDeviceRegisterEvents";
        event_wait(EventSet, *mut EventData, c_uint) = c"nvmlEventSetWait_v2";
        event_set_free(EventSet) = c"nvmlEventSetFree";
    }
}
