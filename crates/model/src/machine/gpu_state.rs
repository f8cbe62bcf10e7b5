//! Versions, modes and error counts of a GPU.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Known;

/// What the vendor's library tells of a GPU besides its speeds: versions, modes, errors.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct GpuState {
    /// Version of the driver.
    pub driver: Known<String>,
    /// Version of the firmware of the card (VBIOS).
    pub vbios: Known<String>,
    /// Version of the configuration and error store of the card (InfoROM).
    pub inforom: Known<String>,
    /// Whether the memory is protected by ECC.
    pub ecc: Known<bool>,
    /// The highest power that is allowed, in mW.
    pub power_limit_milliwatts: Known<u32>,
    /// The power limit that the card has by default, in mW.
    pub default_power_limit_milliwatts: Known<u32>,
    /// Memory errors that were corrected, since the driver was loaded.
    pub corrected_errors: Known<u64>,
    /// Memory errors that could not be corrected, since the driver was loaded.
    pub uncorrected_errors: Known<u64>,
    /// Rows of the memory that were replaced by spare rows.
    pub remapped_rows: Known<u32>,
    /// Whether a row is to be replaced at the next reset.
    pub is_remap_pending: Known<bool>,
    /// Whether a row could not be replaced.
    pub has_remap_failed: Known<bool>,
    /// Pages of the memory that are not used any more after errors; of GPUs that do not replace rows.
    pub retired_pages: Known<u32>,
    /// Errors of all NVLinks since the driver was loaded.
    pub nvlink_errors: Known<u64>,
    /// Clock of the multiprocessors that programs run at, in MHz.
    pub application_clock_mhz: Known<u32>,
    /// The application clock that the card has by default, in MHz.
    pub default_application_clock_mhz: Known<u32>,
}

impl GpuState {
    /// A state of which nothing is known.
    pub fn unknown(why: &str) -> Self {
        Self {
            driver: Known::unknown(why),
            vbios: Known::unknown(why),
            inforom: Known::unknown(why),
            ecc: Known::unknown(why),
            power_limit_milliwatts: Known::unknown(why),
            default_power_limit_milliwatts: Known::unknown(why),
            corrected_errors: Known::unknown(why),
            uncorrected_errors: Known::unknown(why),
            remapped_rows: Known::unknown(why),
            is_remap_pending: Known::unknown(why),
            has_remap_failed: Known::unknown(why),
            retired_pages: Known::unknown(why),
            nvlink_errors: Known::unknown(why),
            application_clock_mhz: Known::unknown(why),
            default_application_clock_mhz: Known::unknown(why),
        }
    }
}
