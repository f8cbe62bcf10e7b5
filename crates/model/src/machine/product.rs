//! The system, its mainboard and its firmware.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Known;

/// Product names of the firmware. In a virtual machine the hypervisor invents them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Product {
    /// Vendor of the system.
    pub vendor: Known<String>,
    /// Name of the system; without a DMI table, the model in the device tree.
    pub name: Known<String>,
    /// Vendor of the mainboard.
    pub board_vendor: Known<String>,
    /// Name of the mainboard as DMI tells it.
    pub board_name: Known<String>,
    /// Vendor of the firmware.
    pub firmware_vendor: Known<String>,
    /// Version of the firmware.
    pub firmware_version: Known<String>,
    /// Date of the firmware as written there: `09/15/2023`.
    pub firmware_date: Known<String>,
}
