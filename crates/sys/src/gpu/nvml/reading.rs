//! Values that change while a GPU works, and its modes.

use std::ffi::{c_int, c_uint};

use super::layout::ProcessInfo;
use super::library::{Handle, NvmlError, ask};

const MOST_PROCESSES: usize = 256;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Clock {
    Processors = 1,
    /// Memory clock. Data move twice in a cycle.
    Memory = 2,
}

/// Why clocks are lower than possible (`nvmlClocksEventReasons…`), as a bit mask.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Throttle(pub u64);

impl Throttle {
    /// Bits for power or heat limits and their text. Idle clocks and clocks set by an administrator are not among
    /// them.
    const HELD_BACK: [(u64, &'static str); 5] = [
        (0x04, "power cap"),
        (0x08, "hardware slowdown"),
        (0x20, "heat (software)"),
        (0x40, "heat (hardware)"),
        (0x80, "power brake"),
    ];

    pub fn causes(self) -> impl Iterator<Item = &'static str> {
        Self::HELD_BACK.into_iter().filter(move |(bit, _)| self.0 & bit != 0).map(|(_, name)| name)
    }
}

/// Errors counted since the driver was loaded; `None` where the device does not count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Errors {
    pub replays: Option<u64>,
    pub corrected: Option<u64>,
    pub uncorrected: Option<u64>,
}

macro_rules! number {
    ($(#[$doc:meta])* $name:ident = $field:ident) => {
        $(#[$doc])*
        pub fn $name(&self) -> Result<u32, NvmlError> {
            let mut value: c_uint = 0;
            ask!(self.nvml, $field(self.device, &raw mut value))?;
            Ok(value)
        }
    };
}

#[expect(unsafe_code, reason = "calls functions of the library")]
impl Handle<'_> {
    number! {
        memory_bus_bits = bus_width
    }
    number! {
        /// Arithmetic units for single precision.
        cores = cores
    }
    number! {
        /// What the device takes, in milliwatts: a mean over up to a second (NVML, nvmlDeviceGetPowerUsage).
        power_mw = power
    }
    number! {
        /// The most that it may take, in milliwatts: the lowest of all limits that are set.
        power_limit_mw = power_limit
    }
    number! {
        link_generation = link_generation
    }
    number! {
        link_width = link_width
    }
    number! {
        /// Highest generation that the device and the slot it is in can do.
        max_link_generation = max_link_generation
    }
    number! {
        /// Most lanes that the device and the slot it is in can do.
        max_link_width = max_link_width
    }

    /// Compute capability: before and after the point.
    pub fn capability(&self) -> Result<(u32, u32), NvmlError> {
        let (mut major, mut minor): (c_int, c_int) = (0, 0);
        ask!(self.nvml, capability(self.device, &raw mut major, &raw mut minor))?;
        Ok((u32::try_from(major).unwrap_or(0), u32::try_from(minor).unwrap_or(0)))
    }

    pub fn clock_mhz(&self, which: Clock) -> Result<u32, NvmlError> {
        let mut value: c_uint = 0;
        ask!(self.nvml, clock(self.device, which as c_uint, &raw mut value))?;
        Ok(value)
    }

    pub fn max_clock_mhz(&self, which: Clock) -> Result<u32, NvmlError> {
        let mut value: c_uint = 0;
        ask!(self.nvml, max_clock(self.device, which as c_uint, &raw mut value))?;
        Ok(value)
    }

    pub fn throttle(&self) -> Result<Throttle, NvmlError> {
        let mut bits = 0;
        ask!(self.nvml, throttle(self.device, &raw mut bits))?;
        Ok(Throttle(bits))
    }

    pub fn temperature(&self) -> Result<u32, NvmlError> {
        let mut value: c_uint = 0;
        ask!(self.nvml, temperature(self.device, 0, &raw mut value))?;
        Ok(value)
    }

    pub fn errors(&self) -> Errors {
        let mut replays: c_uint = 0;
        let replays = ask!(self.nvml, replays(self.device, &raw mut replays)).ok().map(|()| replays.into());
        let ecc = |kind: c_uint| {
            let mut count = 0;
            // Volatile counters: since the driver was loaded.
            ask!(self.nvml, ecc_errors(self.device, kind, 0, &raw mut count)).ok().map(|()| count)
        };
        Errors { replays, corrected: ecc(0), uncorrected: ecc(1) }
    }

    /// Host PIDs of the processes that compute on the device; an error above 256.
    pub fn processes(&self) -> Result<Vec<u32>, NvmlError> {
        let mut list = [ProcessInfo::default(); MOST_PROCESSES];
        let mut count = list.len() as c_uint;
        ask!(self.nvml, processes(self.device, &raw mut count, list.as_mut_ptr()))?;
        Ok(list.iter().take(count as usize).map(|process| process.pid).collect())
    }

    /// Whether persistence mode keeps the driver loaded while nobody uses the device.
    pub fn persistence(&self) -> Result<bool, NvmlError> {
        let mut value: c_uint = 0;
        ask!(self.nvml, persistence(self.device, &raw mut value))?;
        Ok(value == 1)
    }

    /// Whether the device is partitioned into instances (MIG); false for devices without MIG.
    pub fn is_cut(&self) -> Result<bool, NvmlError> {
        let (mut now, mut later): (c_uint, c_uint) = (0, 0);
        match ask!(self.nvml, mig(self.device, &raw mut now, &raw mut later)) {
            Ok(()) => Ok(now == 1),
            Err(NvmlError::Refused { code: 3, .. }) => Ok(false),
            Err(error) => Err(error),
        }
    }

    pub fn compute_mode(&self) -> Result<&'static str, NvmlError> {
        let mut value: c_uint = 0;
        ask!(self.nvml, compute_mode(self.device, &raw mut value))?;
        match value {
            0 => Ok("default"),
            2 => Ok("prohibited"),
            1 | 3 => Ok("exclusive"),
            other => {
                Err(NvmlError::Garbage { call: "nvmlDeviceGetComputeMode", what: format!("mode {other}") })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn idleness_and_set_clocks_hold_nothing_back() {
        assert_eq!(Throttle(0x01 | 0x02 | 0x10).causes().count(), 0);
        let both: Vec<_> = Throttle(0x04 | 0x40).causes().collect();
        assert_eq!(both, ["power cap", "heat (hardware)"]);
    }
}
