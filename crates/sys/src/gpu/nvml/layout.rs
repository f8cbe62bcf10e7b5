//! Structures as nvml.h lays them out.

use std::ffi::{c_char, c_uint};

/// `nvmlPciInfo_t` of the functions with `_v3` (and `_v2` of the remote end of an NVLink).
#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct PciInfo {
    pub bus_id_legacy: [c_char; 16],
    pub domain: c_uint,
    pub bus: c_uint,
    pub device: c_uint,
    pub pci_device_id: c_uint,
    pub pci_subsystem_id: c_uint,
    pub bus_id: [c_char; 32],
}

const _: () = assert!(size_of::<PciInfo>() == 68 && align_of::<PciInfo>() == 4);
const _: () = assert!(std::mem::offset_of!(PciInfo, domain) == 16);
const _: () = assert!(std::mem::offset_of!(PciInfo, bus_id) == 36);

impl PciInfo {
    pub const EMPTY: Self = Self {
        bus_id_legacy: [0; 16],
        domain: 0,
        bus: 0,
        device: 0,
        pci_device_id: 0,
        pci_subsystem_id: 0,
        bus_id: [0; 32],
    };
}

/// `nvmlMemory_t`.
#[repr(C)]
#[derive(Clone, Copy, Default)]
pub(super) struct Memory {
    pub total: u64,
    pub free: u64,
    pub used: u64,
}

const _: () = assert!(size_of::<Memory>() == 24);

/// `nvmlFieldValue_t`; the value is a union of 8 bytes.
#[repr(C)]
#[derive(Clone, Copy, Default)]
pub(super) struct FieldValue {
    pub field: c_uint,
    pub scope: c_uint,
    pub timestamp_us: i64,
    pub latency_us: i64,
    pub value_type: c_uint,
    pub answer: c_uint,
    pub value: [u8; 8],
}

const _: () = assert!(size_of::<FieldValue>() == 40 && align_of::<FieldValue>() == 8);
const _: () = assert!(std::mem::offset_of!(FieldValue, timestamp_us) == 8);
const _: () = assert!(std::mem::offset_of!(FieldValue, value_type) == 24);
const _: () = assert!(std::mem::offset_of!(FieldValue, value) == 32);

/// `nvmlEventData_t`.
#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct EventData {
    pub device: *mut std::ffi::c_void,
    pub kind: u64,
    pub data: u64,
    pub gpu_instance: c_uint,
    pub compute_instance: c_uint,
}

const _: () = assert!(size_of::<EventData>() == 32);
const _: () = assert!(std::mem::offset_of!(EventData, kind) == 8);
const _: () = assert!(std::mem::offset_of!(EventData, gpu_instance) == 24);

impl Default for EventData {
    fn default() -> Self {
        Self { device: std::ptr::null_mut(), kind: 0, data: 0, gpu_instance: 0, compute_instance: 0 }
    }
}

/// `nvmlProcessInfo_t` of the functions with `_v2` and `_v3`.
#[repr(C)]
#[derive(Clone, Copy, Default)]
pub(super) struct ProcessInfo {
    pub pid: c_uint,
    pub used: u64,
    pub gpu_instance: c_uint,
    pub compute_instance: c_uint,
}

const _: () = assert!(size_of::<ProcessInfo>() == 24);
const _: () = assert!(std::mem::offset_of!(ProcessInfo, used) == 8);
