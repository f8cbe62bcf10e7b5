//! Versions, modes and counts that outlive a process.
#![expect(unsafe_code, reason = "calls functions of the library")]

use std::ffi::c_uint;
use std::ptr;

use super::library::{Handle, NvmlError, ask};
use super::reading::Clock;
use crate::library::text;

/// `NVML_ERROR_INSUFFICIENT_SIZE`.
const INSUFFICIENT_SIZE: i32 = 7;

/// Rows of memory that were replaced by spare ones (`nvmlDeviceGetRemappedRows`), on compute capability 8.0 and later.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RemappedRows {
    /// After corrected and after uncorrected errors.
    pub remapped: u32,
    /// A reset of the device will replace a row.
    pub is_pending: bool,
    /// A row could not be replaced.
    pub has_failed: bool,
}

macro_rules! words {
    ($($name:ident = $field:ident),+) => {
        $(pub fn $name(&self) -> Result<String, NvmlError> {
            let mut version = [0; 96];
            ask!(self.nvml, $field(self.device, version.as_mut_ptr(), version.len() as c_uint))?;
            Ok(text(&version))
        })+
    };
}

impl Handle<'_> {
    words! { vbios = vbios, inforom = inforom }

    /// Whether memory is protected by ECC now.
    pub fn ecc(&self) -> Result<bool, NvmlError> {
        let (mut now, mut later): (c_uint, c_uint) = (0, 0);
        ask!(self.nvml, ecc_mode(self.device, &raw mut now, &raw mut later))?;
        Ok(now == 1)
    }

    /// The power limit that the device has by default, in milliwatts.
    pub fn default_power_limit_mw(&self) -> Result<u32, NvmlError> {
        let mut value: c_uint = 0;
        ask!(self.nvml, default_power_limit(self.device, &raw mut value))?;
        Ok(value)
    }

    /// Pages of the memory that are not used any more, after corrected and uncorrected errors; before compute capability
    /// 8.0 only.
    pub fn retired_pages(&self) -> Result<u32, NvmlError> {
        let mut all = 0;
        for cause in [0, 1] {
            let mut count: c_uint = 0;
            // Without room the function tells how many there are, as an error where there are some.
            match ask!(self.nvml, retired_pages(self.device, cause, &raw mut count, ptr::null_mut())) {
                Ok(()) | Err(NvmlError::Refused { code: INSUFFICIENT_SIZE, .. }) => all += count,
                Err(error) => return Err(error),
            }
        }
        Ok(all)
    }

    /// Clock that programs run at, and the one that the device has by default, in MHz.
    pub fn application_clocks(&self) -> Result<(u32, u32), NvmlError> {
        let (mut now, mut own): (c_uint, c_uint) = (0, 0);
        ask!(self.nvml, application_clock(self.device, Clock::Processors as c_uint, &raw mut now))?;
        ask!(self.nvml, default_application_clock(self.device, Clock::Processors as c_uint, &raw mut own))?;
        Ok((now, own))
    }

    pub fn remapped_rows(&self) -> Result<RemappedRows, NvmlError> {
        let (mut corrected, mut uncorrected, mut pending, mut failed): (c_uint, c_uint, c_uint, c_uint) =
            (0, 0, 0, 0);
        ask!(
            self.nvml,
            remapped_rows(
                self.device,
                &raw mut corrected,
                &raw mut uncorrected,
                &raw mut pending,
                &raw mut failed
            )
        )?;
        Ok(RemappedRows {
            remapped: corrected.saturating_add(uncorrected),
            is_pending: pending != 0,
            has_failed: failed != 0,
        })
    }
}
