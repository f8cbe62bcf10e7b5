//! GPUs and other accelerators on the PCI bus.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::facts::Facts;
use super::{GpuState, Known, PciDevice};
use crate::param::Params;

/// An accelerator on the PCI bus. Display adapters of BMCs and hypervisors, and virtual functions of a card that this
/// kernel manages, are not listed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Gpu {
    /// Index among the accelerators, by PCI address. The driver's library may count otherwise.
    pub index: u32,
    /// The vendor: `NVIDIA`, `AMD` or `Intel`.
    pub vendor: Known<String>,
    /// Product name, where a driver tells it in a file.
    pub model: Known<String>,
    /// Unique id, where a driver tells it in a file.
    pub uuid: Known<String>,
    /// Memory of the device in bytes, where a driver tells it in a file.
    pub memory_bytes: Known<u64>,
    /// Arithmetic units for single precision ("CUDA cores"), where the vendor's library tells it.
    pub cores: Known<u32>,
    /// Compute capability, for example `9.0`, where the vendor's library tells it.
    pub capability: Known<String>,
    /// Highest clock of the multiprocessors in MHz, where the vendor's library tells it.
    pub clock_mhz: Known<u32>,
    /// Highest memory clock in MHz, where the vendor's library tells it. Two transfers a cycle.
    pub memory_clock_mhz: Known<u32>,
    /// Width of the memory bus in bits, where the vendor's library tells it.
    pub memory_bus_bits: Known<u32>,
    /// Highest PCI Express generation of device and slot, where the vendor's library tells it.
    pub link_generation: Known<u32>,
    /// Largest link width of device and slot in lanes, where the vendor's library tells it.
    pub link_width: Known<u32>,
    /// Remote end of each active NVLink: the PCI address of a GPU or of a switch, or `?`.
    pub nvlinks: Known<Vec<String>>,
    /// Rate of one NVLink in one direction in MB/s, where the vendor's library tells it.
    pub nvlink_megabytes_per_second: Known<u64>,
    /// Whether MIG mode divides the GPU into instances.
    pub is_cut: Known<bool>,
    /// Compute mode: `default`, `exclusive`, `prohibited`.
    pub compute_mode: Known<String>,
    /// Persistence mode: whether the driver stays loaded while nothing uses the GPU.
    pub persistence: Known<bool>,
    /// Versions, modes and error counts.
    pub state: GpuState,
    /// Max payload size of the PCI Express link as it is set, in bytes.
    pub payload_bytes: Known<u32>,
    /// IOMMU domain type: `DMA`, `DMA-FQ`, `identity`, or `none` without an IOMMU.
    pub translation: Known<String>,
    /// PCI ports above that redirect peer-to-peer traffic to the CPU (Access Control Services, ACS).
    pub redirected_by: Known<Vec<String>>,
    /// The PCI function with its link and NUMA node.
    pub pci: PciDevice,
}

impl Gpu {
    /// NUMA node of the GPU.
    pub fn numa_node(&self) -> Known<u32> {
        self.pci.numa_node.clone()
    }

    /// Stable key of the GPU: its PCI address.
    pub fn key(&self) -> String {
        format!("pci:{}", self.pci.address)
    }

    /// Names of the facts besides `kind`.
    pub const FACTS: &'static [&'static str] =
        &["index", "vendor", "model", "ids", "driver", "memory", "numa_node"];

    /// Facts that a profile may select by.
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
