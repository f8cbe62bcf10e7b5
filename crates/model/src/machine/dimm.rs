//! Memory modules (DIMMs), as the firmware lists them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The memory modules of a machine, and the source of the list.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Dimms {
    /// Source of the list.
    pub source: DimmSource,
    /// Slots on the board, empty ones included.
    pub slots: u32,
    /// Modules present, in the order of the firmware.
    pub modules: Vec<Dimm>,
}

/// Source of a list of memory modules.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum DimmSource {
    /// SMBIOS table of the firmware (memory device, type 17), read directly; needs root.
    #[default]
    Smbios,
    /// The same table as udev stored it at boot; readable without privilege.
    Udev,
}

impl DimmSource {
    /// Name of the source, for a limit derived from the list.
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
    /// Slot name on the board.
    pub locator: String,
    /// Bank name on the board.
    pub bank: Option<String>,
    /// Memory channel, socket and letter or number such as `P0 A`, if the names tell it without contradiction.
    /// Several slots may share a channel.
    pub channel: Option<String>,
    /// Size in bytes; null if the firmware does not know.
    pub size_bytes: Option<u64>,
    /// Technology as SMBIOS names it: `DDR4`, `DDR5`, `HBM3`.
    pub kind: Option<String>,
    /// Rated speed in million transfers a second.
    pub rated_mts: Option<u32>,
    /// Configured speed in million transfers a second.
    pub configured_mts: Option<u32>,
    /// Data bits of one transfer, without ECC bits.
    pub data_width_bits: Option<u32>,
}
