//! NVLinks of a GPU.

#![expect(unsafe_code, reason = "calls functions of the library")]

use std::ffi::c_uint;

use super::field::{NVLINK_COUNT, NVLINK_SPEED, NVLINK_SPEED_OF_ALL};
use super::layout::PciInfo;
use super::library::{Handle, NvmlError, address, ask};

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NvLinks {
    pub count: u32,
    /// PCI address of the GPU or switch at the far end of each active link; `None` where NVML does not report it.
    pub active: Vec<Option<String>>,
    /// MB/s of each link in one direction; `None` where NVML does not report it.
    pub megabytes_per_second: Option<u64>,
}

impl Handle<'_> {
    /// Errors of all active links since the driver was loaded: replays, recoveries, and wrong checksums of flits. The counters
    /// of data behind them (3 and 4) are of lanes before the correction: they grow on sound links.
    pub fn nvlink_errors(&self) -> Result<u64, NvmlError> {
        let count = u32::try_from(self.field(NVLINK_COUNT, 0)?).unwrap_or(0);
        let (mut all, mut refused, mut told) = (0_u64, None, 0);
        for (link, counter) in (0..count).flat_map(|link| (0..3).map(move |counter| (link, counter))) {
            let mut errors = 0;
            match ask!(self.nvml, nvlink_errors(self.device, link, counter, &raw mut errors)) {
                Ok(()) => (all, told) = (all.saturating_add(errors), told + 1),
                // A link that is not active, or a counter that the device lacks.
                Err(error) => refused = Some(error),
            }
        }
        refused.filter(|_| told == 0).map_or(Ok(all), Err)
    }

    /// The device's NVLinks; `count` is 0 without any.
    pub fn nvlinks(&self) -> Result<NvLinks, NvmlError> {
        let count = match self.field(NVLINK_COUNT, 0) {
            Ok(count) => u32::try_from(count).unwrap_or(0),
            Err(NvmlError::Refused { code: 3, .. }) => return Ok(NvLinks::default()),
            Err(error) => return Err(error),
        };
        let (mut active, mut speed) = (Vec::new(), None);
        for link in 0..count {
            let mut state: c_uint = 0;
            // NVML_ERROR_INVALID_ARGUMENT: the board lacks this link.
            if ask!(self.nvml, nvlink_state(self.device, link, &raw mut state)).is_ok() && state == 1 {
                let mut remote = PciInfo::EMPTY;
                let told = ask!(self.nvml, nvlink_remote(self.device, link, &raw mut remote));
                // A virtual machine hides the switch at the far end: all bits of its address are set.
                let end = told.ok().filter(|()| remote.domain != u32::MAX);
                active.push(end.map(|()| address(&remote)));
                let told = self.field(NVLINK_SPEED, link).ok().filter(|speed| *speed > 0);
                // The slowest link, should they differ.
                speed = speed.into_iter().chain(told).min();
            }
        }
        let of_all = || self.field(NVLINK_SPEED_OF_ALL, 0).ok().filter(|speed| *speed > 0);
        Ok(NvLinks { count, active, megabytes_per_second: speed.or_else(of_all) })
    }
}
