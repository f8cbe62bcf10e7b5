//! The management library of the same devices.

use std::ffi::{c_char, c_int, c_uint, c_void};

use crate::put;
use crate::world::with;

type Device = *mut c_void;

fn number(key: &str, default: f64) -> u64 {
    with(|world| world.config.number(key, default) as u64)
}

#[unsafe(no_mangle)]
pub extern "C" fn nvmlInit_v2() -> c_int {
    with(|world| world.planned("nvmlInit", 0)).unwrap_or(0)
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlSystemGetDriverVersion(text: *mut c_char, room: c_uint) -> c_int {
    unsafe { put("550.54", text, room as usize) };
    0
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetCount_v2(count: *mut c_uint) -> c_int {
    unsafe { *count = with(|world| world.config.devices) as c_uint };
    0
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetHandleByIndex_v2(index: c_uint, device: *mut Device) -> c_int {
    unsafe { *device = (index as usize + 1) as Device };
    0
}

/// `nvmlPciInfo_t`: the numbers are words 4 to 6.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetPciInfo_v3(device: Device, info: *mut u32) -> c_int {
    unsafe {
        *info.add(4) = 0;
        *info.add(5) = 0x10 + device as u32 - 1;
        *info.add(6) = 0;
    }
    0
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetName(_: Device, text: *mut c_char, room: c_uint) -> c_int {
    unsafe { put("Fake GPU", text, room as usize) };
    0
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetUUID(device: Device, text: *mut c_char, room: c_uint) -> c_int {
    unsafe { put(&format!("GPU-fake-{}", device as usize - 1), text, room as usize) };
    0
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetMemoryInfo(_: Device, memory: *mut u64) -> c_int {
    let total = with(|world| world.config.memory) as u64;
    unsafe {
        *memory = total;
        *memory.add(1) = total;
        *memory.add(2) = 0;
    }
    0
}

macro_rules! numbers {
    ($($name:ident $key:literal $default:literal;)*) => {
        $(#[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name(_: Device, value: *mut c_uint) -> c_int {
            unsafe { *value = number($key, $default) as c_uint };
            0
        })*
    };
}

numbers! {
    nvmlDeviceGetMemoryBusWidth "bus" 1000.0;
    nvmlDeviceGetNumGpuCores "cores" 512.0;
    nvmlDeviceGetPowerUsage "power" 300000.0;
    nvmlDeviceGetEnforcedPowerLimit "power_limit" 700000.0;
    nvmlDeviceGetCurrPcieLinkGeneration "gen_now" 5.0;
    nvmlDeviceGetCurrPcieLinkWidth "width_now" 16.0;
    nvmlDeviceGetMaxPcieLinkGeneration "gen" 5.0;
    nvmlDeviceGetMaxPcieLinkWidth "width" 16.0;
    nvmlDeviceGetPcieReplayCounter "replays" 0.0;
    nvmlDeviceGetPersistenceMode "persistence" 1.0;
    nvmlDeviceGetComputeMode "mode" 0.0;
    nvmlDeviceGetPowerManagementDefaultLimit "default_power_limit" 700000.0;
    nvmlDeviceGetPowerManagementLimit "power_limit" 700000.0;
}

/// Functions that set what the reading ones of [`numbers!`] tell.
macro_rules! setters {
    ($($name:ident $key:literal;)*) => {
        $(#[unsafe(no_mangle)]
        pub extern "C" fn $name(_: Device, value: c_uint) -> c_int {
            with(|world| match world.planned(stringify!($name), 0) {
                None => {
                    world.config.numbers.insert($key.to_owned(), f64::from(value));
                    0
                }
                Some(code) => code,
            })
        })*
    };
}

setters! {
    nvmlDeviceSetPersistenceMode "persistence";
    nvmlDeviceSetComputeMode "mode";
    nvmlDeviceSetPowerManagementLimit "power_limit";
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetApplicationsClock(_: Device, which: c_uint, value: *mut c_uint) -> c_int {
    let (key, default) = if which == 2 { ("memory_clock", 2619.0) } else { ("clock", 1980.0) };
    unsafe { *value = number(key, default) as c_uint };
    0
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetDefaultApplicationsClock(_: Device, _: c_uint, value: *mut c_uint) -> c_int {
    unsafe { *value = 1980 };
    0
}

#[unsafe(no_mangle)]
pub extern "C" fn nvmlDeviceSetApplicationsClocks(_: Device, memory: c_uint, processors: c_uint) -> c_int {
    with(|world| {
        world.config.numbers.insert("memory_clock".to_owned(), f64::from(memory));
        world.config.numbers.insert("clock".to_owned(), f64::from(processors));
    });
    0
}

/// As many pages of each of the two causes as are configured; there is never room for them.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetRetiredPages(_: Device, _: c_uint, count: *mut c_uint, _: *mut u64) -> c_int {
    let pages = number("retired", 0.0) as c_uint;
    unsafe { *count = pages };
    if pages == 0 { 0 } else { 7 }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetNvLinkErrorCounter(
    _: Device,
    link: c_uint,
    _: c_uint,
    count: *mut u64,
) -> c_int {
    if link >= 2 {
        return 3;
    }
    unsafe { *count = number("link_errors", 0.0) };
    0
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetClockInfo(_: Device, _: c_uint, value: *mut c_uint) -> c_int {
    let left = with(|world| {
        let left = world.config.numbers.entry("rising".to_owned()).or_insert(0.0);
        *left = (*left - 1.0).max(0.0);
        *left
    });
    unsafe { *value = if left > 0.0 { 300 + (700.0 / left) as c_uint } else { 1000 } };
    0
}

/// 5000 MHz x 2 x 1000 bit / 8 = 1250 GB/s.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetMaxClockInfo(_: Device, _: c_uint, value: *mut c_uint) -> c_int {
    unsafe { *value = 5000 };
    0
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetCurrentClocksThrottleReasons(_: Device, bits: *mut u64) -> c_int {
    unsafe { *bits = number("throttle", 0.0) };
    0
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetTotalEccErrors(
    _: Device,
    _: c_uint,
    _: c_uint,
    count: *mut u64,
) -> c_int {
    unsafe { *count = 0 };
    0
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetMigMode(_: Device, now: *mut c_uint, later: *mut c_uint) -> c_int {
    unsafe {
        *now = number("mig", 0.0) as c_uint;
        *later = *now;
    }
    0
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetEccMode(_: Device, now: *mut c_uint, later: *mut c_uint) -> c_int {
    unsafe {
        *now = number("ecc", 1.0) as c_uint;
        *later = 1;
    }
    0
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetVbiosVersion(_: Device, text: *mut c_char, room: c_uint) -> c_int {
    unsafe { put("96.00.01.00.01", text, room as usize) };
    0
}

/// After corrected and uncorrected errors, pending, failed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetRemappedRows(
    _: Device,
    corrected: *mut c_uint,
    uncorrected: *mut c_uint,
    pending: *mut c_uint,
    failed: *mut c_uint,
) -> c_int {
    unsafe {
        *corrected = number("rows", 0.0) as c_uint;
        *uncorrected = 0;
        *pending = number("pending", 0.0) as c_uint;
        *failed = 0;
    }
    0
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetTemperature(_: Device, _: c_uint, value: *mut c_uint) -> c_int {
    unsafe { *value = 40 };
    0
}

/// Two links, to a switch.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetNvLinkState(_: Device, link: c_uint, active: *mut c_uint) -> c_int {
    unsafe { *active = u32::from(link < 2) };
    0
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetNvLinkRemotePciInfo_v2(_: Device, _: c_uint, info: *mut u32) -> c_int {
    unsafe {
        *info.add(4) = 0;
        *info.add(5) = 0xc1;
        *info.add(6) = 0;
    }
    0
}

/// `nvmlFieldValue_t`: word 0 the field, word 6 the type of the value, word 7 the answer, word 8 the value.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetFieldValues(_: Device, _: c_int, field: *mut u32) -> c_int {
    unsafe {
        let (value, answer) = match *field {
            164 => (250_000, 0),
            91 => (3, 0),
            _ => (0, 3),
        };
        *field.add(6) = 1;
        *field.add(7) = answer;
        *field.add(8) = value;
    }
    0
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlEventSetCreate(set: *mut Device) -> c_int {
    unsafe { *set = std::ptr::without_provenance_mut(1) };
    0
}

#[unsafe(no_mangle)]
pub extern "C" fn nvmlDeviceRegisterEvents(_: Device, _: u64, _: Device) -> c_int {
    with(|world| world.planned("nvmlDeviceRegisterEvents", 0)).unwrap_or(0)
}

/// `nvmlEventData_t`: word 1 the kind, word 2 the number. The event comes once, then nothing but timeouts.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlEventSetWait_v2(_: Device, event: *mut u64, _: c_uint) -> c_int {
    match with(|world| world.config.numbers.remove("xid")) {
        None => 10,
        Some(number) => {
            unsafe {
                *event.add(1) = 8;
                *event.add(2) = number as u64;
            }
            0
        }
    }
}

#[unsafe(no_mangle)]
pub extern "C" fn nvmlEventSetFree(_: Device) -> c_int {
    0
}

/// `nvmlProcessInfo_t`: 24 bytes, the process first. This one, others that have a context of the same devices, and as many
/// more as are configured.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetComputeRunningProcesses_v3(
    _: Device,
    count: *mut c_uint,
    list: *mut [u32; 6],
) -> c_int {
    let own = std::process::id();
    let strangers = (1..=number("others", 0.0) as u32).map(|at| 4_000_000 + at);
    let with_context = crate::world::with_context().into_iter().filter(|pid| *pid != own);
    let all: Vec<u32> = std::iter::once(own).chain(with_context).chain(strangers).collect();
    unsafe {
        all.iter().enumerate().for_each(|(at, pid)| (*list.add(at))[0] = *pid);
        *count = all.len() as c_uint;
    }
    0
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetCudaComputeCapability(_: Device, major: *mut c_int, minor: *mut c_int) -> c_int {
    unsafe {
        *major = number("capability", 9.0) as c_int;
        *minor = 0;
    }
    0
}
