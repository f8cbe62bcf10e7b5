//! PCI devices, and the links between them and the CPU.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Known;

/// A function of a PCI device.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct PciDevice {
    /// Domain, bus, device and function: `0000:3b:00.0`.
    pub address: String,
    /// Vendor id as PCI-SIG assigned it, and device id as the vendor did: `15b3:101d`.
    pub ids: Known<String>,
    /// Subsystem vendor and device id, of the card's maker: `15d9:1521`.
    pub card_ids: Known<String>,
    /// Base class, subclass and programming interface: `020000` is an Ethernet controller.
    pub class: Known<String>,
    /// The driver bound to it, if any.
    pub driver: Option<String>,
    /// NUMA node; unknown where the firmware does not tell (-1 in sysfs).
    pub numa_node: Known<u32>,
    /// CPUs local to the device.
    pub local_cpus: Known<Vec<u32>>,
    /// Whether it is a virtual function of an SR-IOV device that this kernel manages.
    pub is_virtual_function: bool,
    /// The path to the CPU.
    pub path: PciPath,
}

/// The path from a device to the CPU: its own port, every bridge above, the root port last. A device inside the CPU
/// (an integrated endpoint, or any device of a plain virtual machine) has one port and no link.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct PciPath {
    /// Ports of the path, the device's own first.
    pub ports: Vec<PciPort>,
}

/// One port of the path, and its end of a PCI Express link.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct PciPort {
    /// PCI address of the port: `0000:3a:00.0`.
    pub address: String,
    /// Whether it is a PCI Express port; a conventional function, or one inside the CPU, has no link.
    pub express: bool,
    /// Whether a hypervisor emulates the port, so that its numbers are no bounds.
    pub emulated: bool,
    /// Current link speed in GT/s a lane. An idle device may lower it to save power.
    pub speed_gts: Known<f64>,
    /// Largest link speed of this end in GT/s a lane.
    pub max_speed_gts: Known<f64>,
    /// Current link width in lanes.
    pub width: Known<u32>,
    /// Largest link width of this end in lanes.
    pub max_width: Known<u32>,
}

/// A PCI Express link: its two ends, where both are known.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PciLink<'a> {
    /// The end farther from the CPU: the device, or the upstream port of a switch.
    pub lower: &'a PciPort,
    /// The end nearer to the CPU: a downstream port of a switch, or the root port.
    pub upper: Option<&'a PciPort>,
}

impl PciPath {
    /// The links of the path, the device's own first. Ports alternate: both ends of a link, then the next link behind
    /// the switch's internal bus.
    pub fn links(&self) -> Vec<PciLink<'_>> {
        let ports: Vec<&PciPort> = self.ports.iter().filter(|port| port.express).collect();
        ports.chunks(2).map(|ends| PciLink { lower: ends[0], upper: ends.get(1).copied() }).collect()
    }
}

impl PciDevice {
    /// Vendor id as a number, if known.
    pub fn vendor(&self) -> Option<u16> {
        self.half(0)
    }

    /// Device id as a number, if known.
    pub fn device(&self) -> Option<u16> {
        self.half(1)
    }

    fn half(&self, index: usize) -> Option<u16> {
        u16::from_str_radix(self.ids.known()?.split(':').nth(index)?, 16).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn port(address: &str) -> PciPort {
        PciPort { address: address.to_owned(), express: true, ..PciPort::default() }
    }

    fn links(ports: Vec<PciPort>) -> Vec<String> {
        let path = PciPath { ports };
        let upper = |link: &PciLink<'_>| link.upper.map_or("-", |end| &end.address).to_owned();
        path.links().iter().map(|link| format!("{} {}", link.lower.address, upper(link))).collect()
    }

    #[test]
    fn pairs_the_ends_of_each_link_behind_a_switch() {
        assert_eq!(links(["gpu", "down", "up", "root"].map(port).to_vec()), ["gpu down", "up root"]);
        assert_eq!(links(vec![port("gpu")]), ["gpu -"], "passed through to a virtual machine");
    }

    #[test]
    fn a_conventional_device_behind_a_bridge_is_no_end_of_a_link() {
        let old = PciPort { express: false, ..port("old") };
        assert_eq!(links(vec![old.clone(), port("bridge"), port("root")]), ["bridge root"]);
        assert!(links(vec![old]).is_empty());
    }

    #[test]
    fn ids_are_numbers_too() {
        let of = |ids| PciDevice { ids, ..PciDevice::default() };
        let device = of(Known::Known("10de:20b5".to_owned()));
        assert_eq!((device.vendor(), device.device()), (Some(0x10de), Some(0x20b5)));
        assert_eq!(of(Known::Known("10de".to_owned())).device(), None);
        assert_eq!(of(Known::unknown("why")).vendor(), None);
    }
}
