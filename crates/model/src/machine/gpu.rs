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
    /// The vendor: `NVIDIA`, `AMD` or `Intel`.
    pub vendor: Known<String>,
    /// The product's name, where a driver tells it in a file.
    pub model: Known<String>,
    /// The device's own unique id, where a driver tells it in a file.
    pub uuid: Known<String>,
    /// Memory on the device in bytes, where a driver tells it in a file.
    pub memory_bytes: Known<u64>,
    /// Highest clock of its memory in MHz, where the vendor's library tells. Data move twice in a cycle.
    pub memory_clock_mhz: Known<u32>,
    /// Width of its memory's bus in bits, where the vendor's library tells.
    pub memory_bus_bits: Known<u32>,
    /// Highest generation of PCI Express that it and its slot can do, where the vendor's library tells.
    pub link_generation: Known<u32>,
    /// Most lanes that it and its slot can do, where the vendor's library tells.
    pub link_width: Known<u32>,
    /// Where each active NVLink leads: the PCI address of a GPU or of a switch, or `?`.
    pub nvlinks: Known<Vec<String>>,
    /// What an NVLink carries in one direction in MB/s, where the vendor's library tells.
    pub nvlink_megabytes_per_second: Known<u64>,
    /// Whether it is cut into instances (MIG).
    pub is_cut: Known<bool>,
    /// Who may compute on it: `default`, `exclusive`, `prohibited`.
    pub compute_mode: Known<String>,
    /// Whether its driver stays loaded while nobody uses it.
    pub persistence: Known<bool>,
    /// Bytes of data that a packet over its link carries at most, as it is set.
    pub payload_bytes: Known<u32>,
    /// How the kernel translates the addresses it uses: `DMA`, `DMA-FQ`, `identity`, or `none` without an IOMMU.
    pub translation: Known<String>,
    /// Ports above it that redirect what devices send each other to the processor (access control services).
    pub redirected_by: Known<Vec<String>>,
    /// The PCI function with its link and NUMA node.
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
