//! Serial numbers of the system and its memory modules. They identify a machine for its vendor, and for anybody else.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Serial numbers that the firmware lists; only root can read most of them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Serials {
    /// Of the system.
    pub system: Option<String>,
    /// Of the memory modules, in the order of the firmware.
    pub modules: Vec<ModuleSerial>,
}

/// The serial number of one memory module.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ModuleSerial {
    /// Slot name on the board.
    pub locator: String,
    /// Bank name on the board.
    pub bank: Option<String>,
    /// Vendor of the module.
    pub vendor: Option<String>,
    /// Part number of the module.
    pub part: Option<String>,
    /// Serial number of the module.
    pub serial: String,
}

impl Serials {
    /// Whether no serial number was read.
    pub const fn is_empty(&self) -> bool {
        self.system.is_none() && self.modules.is_empty()
    }
}
