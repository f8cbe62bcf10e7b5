//! Versions, modes and counts that outlive a process.
#![expect(unsafe_code, reason = "calls functions of the library")]

use std::ffi::c_uint;

use super::library::{Handle, NvmlError, ask};
use crate::library::text;

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
