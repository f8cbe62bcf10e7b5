//! Values of a GPU that can be set.
//!
//! Below a test root a value is the file `/gpu/ADDRESS/NAME`.
#![expect(unsafe_code, reason = "calls functions of the library")]

use std::ffi::c_uint;

use rustix::io::Errno;

use super::library::{Handle, Nvml, NvmlError, ask};
use super::reading::Clock;
use crate::library::LibraryError;
use crate::root::{ReadError, SysRoot};

/// A value of a GPU that is read and set as a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GpuValue {
    /// `1` or `0`.
    Persistence,
    /// `default`, `exclusive` or `prohibited`.
    ComputeMode,
    /// In W.
    PowerLimit,
    /// Of the multiprocessors, in MHz.
    ApplicationClock,
}

impl GpuValue {
    /// The value of this name: the last part of the id of its setting.
    pub fn named(name: &str) -> Option<Self> {
        Some(match name {
            "persistence" => Self::Persistence,
            "compute_mode" => Self::ComputeMode,
            "power_limit" => Self::PowerLimit,
            "application_clock" => Self::ApplicationClock,
            _ => return None,
        })
    }

    pub fn text(self, device: &Handle<'_>) -> Result<String, NvmlError> {
        Ok(match self {
            Self::Persistence => u32::from(device.persistence()?).to_string(),
            Self::ComputeMode => device.compute_mode()?.to_owned(),
            Self::PowerLimit => {
                let mut milliwatts: c_uint = 0;
                ask!(device.nvml, own_power_limit(device.device, &raw mut milliwatts))?;
                (f64::from(milliwatts) / 1000.0).to_string()
            }
            Self::ApplicationClock => application_clock(device, Clock::Processors)?.to_string(),
        })
    }

    pub fn set(self, device: &Handle<'_>, text: &str) -> Result<(), Errno> {
        let (nvml, handle) = (device.nvml, device.device);
        let number = || text.parse::<c_uint>().map_err(|_| Errno::INVAL);
        let done = match self {
            Self::Persistence => ask!(nvml, set_persistence(handle, number()?)),
            Self::ComputeMode => {
                let mode = match text {
                    "default" => 0,
                    "prohibited" => 2,
                    "exclusive" => 3,
                    _ => return Err(Errno::INVAL),
                };
                ask!(nvml, set_compute_mode(handle, mode))
            }
            Self::PowerLimit => {
                let watts: f64 = text.parse().map_err(|_| Errno::INVAL)?;
                ask!(nvml, set_power_limit(handle, (watts * 1000.0).round() as c_uint))
            }
            // The memory keeps its clock.
            Self::ApplicationClock => {
                let clock = number()?;
                application_clock(device, Clock::Memory)
                    .and_then(|memory| ask!(nvml, set_application_clocks(handle, memory, clock)))
            }
        };
        done.map_err(|error| errno(&error))
    }
}

fn application_clock(device: &Handle<'_>, which: Clock) -> Result<u32, NvmlError> {
    let mut clock: c_uint = 0;
    ask!(device.nvml, application_clock(device.device, which as c_uint, &raw mut clock))?;
    Ok(clock)
}

/// The number of the system that says the same.
const fn errno(error: &NvmlError) -> Errno {
    match error {
        NvmlError::Refused { code: 2, .. } => Errno::INVAL,
        NvmlError::Refused { code: 3, .. } | NvmlError::TooOld { .. } => Errno::OPNOTSUPP,
        NvmlError::Refused { code: 4, .. } => Errno::PERM,
        NvmlError::Refused { code: 19, .. } => Errno::BUSY,
        _ => Errno::IO,
    }
}

fn path(address: &str, name: &str) -> String {
    format!("/gpu/{address}/{name}")
}

/// Without library or driver there are no values. A library that fails, such as one of another version than the driver, says
/// nothing of them.
fn not_open(path: String, error: &NvmlError) -> ReadError {
    match error {
        NvmlError::Library(LibraryError::NotFound { .. }) | NvmlError::Refused { code: NO_DRIVER, .. } => {
            ReadError::Missing { path }
        }
        error => ReadError::Unreadable { path, errno: errno(error) },
    }
}

/// `NVML_ERROR_DRIVER_NOT_LOADED` (nvml.h).
const NO_DRIVER: i32 = 9;

impl Nvml {
    /// The value `name` of the GPU at this PCI address.
    pub fn value(root: &SysRoot, address: &str, name: &str) -> Result<String, ReadError> {
        let path = path(address, name);
        if !root.is_live() {
            return root.text(path);
        }
        let missing = || ReadError::Missing { path: path.clone() };
        let value = GpuValue::named(name).ok_or_else(missing)?;
        let library = Self::open().map_err(|error| not_open(path.clone(), &error))?;
        let device = library.at(address).ok_or_else(missing)?;
        value.text(&device).map_err(|error| match errno(&error) {
            Errno::OPNOTSUPP => missing(),
            errno => ReadError::Unreadable { path: path.clone(), errno },
        })
    }

    /// Sets the value `name` of the GPU at this PCI address; needs root.
    pub fn set_value(root: &SysRoot, address: &str, name: &str, text: &str) -> Result<(), Errno> {
        if !root.is_live() {
            return root.write(path(address, name), &format!("{text}\n"));
        }
        let value = GpuValue::named(name).ok_or(Errno::OPNOTSUPP)?;
        let library = Self::open().map_err(|_| Errno::NODEV)?;
        let device = library.at(address).ok_or(Errno::NODEV)?;
        value.set(&device, text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_library_that_fails_does_not_say_that_the_gpu_is_gone() {
        let refused = |code| {
            not_open(path("x", "power_limit"), &NvmlError::Refused { call: "nvmlInit_v2", code, name: "" })
        };
        // Another version than the driver; unknown; no driver.
        assert!(!refused(18).is_missing() && !refused(999).is_missing() && refused(9).is_missing());
    }
}
