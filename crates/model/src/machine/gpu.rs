//! Graphics processors and other accelerators, as far as PCI tells.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::facts::Facts;
use super::{Known, PciDevice};
use crate::param::Params;

/// An accelerator on the PCI bus. Screen adapters of management controllers and hypervisors are not listed, nor are the
/// virtual functions of a card that this kernel manages.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Gpu {
    /// Position among the accelerators, by PCI address. A driver's library may count otherwise.
    pub index: u32,
    /// Who made it.
    pub vendor: Known<String>,
    /// The product's name, where a driver tells it in a file.
    pub model: Known<String>,
    /// The device's own unique id, where a driver tells it in a file.
    pub uuid: Known<String>,
    /// Memory on the device in bytes, where a driver tells it in a file.
    pub memory_bytes: Known<u64>,
    /// The PCI function.
    pub pci: PciDevice,
}

impl Gpu {
    /// The NUMA node it is next to.
    pub fn numa_node(&self) -> Known<u32> {
        self.pci.numa_node.clone()
    }

    /// What stays the same over restarts: its place on the PCI bus.
    pub fn key(&self) -> String {
        format!("pci:{}", self.pci.address)
    }

    /// What a profile may select by.
    pub fn facts(&self) -> Params {
        Facts::of("gpu")
            .count("index", Some(self.index.into()))
            .known("vendor", &self.vendor)
            .known("model", &self.model)
            .known("ids", &self.pci.ids)
            .text("driver", self.pci.driver.as_deref())
            .size("memory", self.memory_bytes.known().copied())
            .count("numa_node", self.numa_node().known().map(|&node| node.into()))
            .done()
    }
}
