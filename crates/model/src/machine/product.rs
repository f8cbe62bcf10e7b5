//! What was sold: the system, its board and its firmware.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Known;

/// The product, as its firmware names it. In a virtual machine these are the hypervisor's inventions.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Product {
    /// Who sold the system.
    pub vendor: Known<String>,
    /// The system's name; where there is no DMI table, the model that the device tree names.
    pub name: Known<String>,
    /// Who made the board.
    pub board_vendor: Known<String>,
    /// Name of the mainboard as DMI tells it.
    pub board_name: Known<String>,
    /// Who wrote the firmware.
    pub firmware_vendor: Known<String>,
    /// Version of the firmware.
    pub firmware_version: Known<String>,
    /// Date of the firmware, as it writes it: `09/15/2023`.
    pub firmware_date: Known<String>,
}
