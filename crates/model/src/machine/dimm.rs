//! Memory modules, as the firmware lists them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The memory modules of a machine and where that knowledge comes from.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Dimms {
    /// Where the list was read.
    pub source: DimmSource,
    /// Slots on the board, empty ones included.
    pub slots: u32,
    /// Modules present, in the firmware's order.
    pub modules: Vec<Dimm>,
}

/// Where a list of memory modules was read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum DimmSource {
    /// The firmware's SMBIOS table (memory device, type 17), read directly; needs root.
    #[default]
    Smbios,
    /// The same table as udev wrote it down at boot; anybody may read it.
    Udev,
}

impl DimmSource {
    /// The provenance in words, for a limit derived from it.
    pub const fn provenance(self) -> &'static str {
        match self {
            Self::Smbios => "dmi",
            Self::Udev => "dmi by udev",
        }
    }
}

/// One memory module as DMI tells it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Dimm {
    /// The board's name of the slot.
    pub locator: String,
    /// The board's name of the bank.
    pub bank: Option<String>,
    /// The memory channel, if the names tell it without contradiction: socket and letter or number, such as
    /// `P0 A`. Slots are not channels: several may share one.
    pub channel: Option<String>,
    /// Size in bytes; none if the firmware does not know.
    pub size_bytes: Option<u64>,
    /// Technology as SMBIOS names it: `DDR4`, `DDR5`, `HBM3`.
    pub kind: Option<String>,
    /// What the module is made for, in million transfers a second.
    pub rated_mts: Option<u32>,
    /// What it runs at, in million transfers a second.
    pub configured_mts: Option<u32>,
    /// Bits that carry data in one transfer, error correction not counted.
    pub data_width_bits: Option<u32>,
}
