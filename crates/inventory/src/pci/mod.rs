//! PCI functions and their path to the CPU, from `/sys/devices/pci…` (Linux Documentation: ABI/testing/sysfs-bus-pci,
//! drivers/pci/pci-sysfs.c). The folder of a function is inside that of the bridge above, so its path is the path to
//! the CPU.

mod config;
mod port;
mod remarks;

pub(crate) use port::either;
pub use remarks::reduced_link;

use std::collections::BTreeMap;

use seatrial_model::machine::{Known, NumaNode, PciDevice, PciPath};
use seatrial_sys::root::{ReadError, SysRoot};

use crate::reading::Reading;
use crate::topology::list;

/// Functions found so far: disks share controllers, devices share bridges.
#[derive(Default)]
pub(crate) struct Functions {
    known: BTreeMap<String, PciDevice>,
}

impl Functions {
    /// The PCI function of a device's folder, a path without symbolic links.
    pub fn behind(&mut self, root: &SysRoot, folder: &str) -> Known<PciDevice> {
        let Some(own) = function_folder(folder) else {
            return Known::unknown("there is no PCI function for it");
        };
        let device = self.known.entry(own.to_owned()).or_insert_with(|| function(root, own));
        Known::Known(device.clone())
    }

    /// Remarks anomalies of all functions and links, each link once.
    pub fn report(self, numa: &[NumaNode], at: &mut Reading<'_>) {
        remarks::report(self.known.values(), numa, at);
    }
}

pub(crate) fn function_folder(path: &str) -> Option<&str> {
    let mut end = 0;
    let mut found = None;
    for part in path.split_inclusive('/') {
        end += part.len();
        if is_address(part.trim_end_matches('/')) {
            found = Some(path[..end].trim_end_matches('/'));
        }
    }
    found
}

/// `0000:3b:00.0`: domain, bus, device, function. Domains behind Intel VMD have five digits.
pub(crate) fn is_address(text: &str) -> bool {
    let hex = |part: &str, least: usize, most: usize| {
        (least..=most).contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_hexdigit())
    };
    let mut parts = text.split(':');
    let (Some(domain), Some(bus), Some(slot), None) =
        (parts.next(), parts.next(), parts.next(), parts.next())
    else {
        return false;
    };
    let (device, function) = slot.split_once('.').unwrap_or((slot, ""));
    hex(domain, 4, 8) && hex(bus, 2, 2) && hex(device, 2, 2) && hex(function, 1, 1)
}

fn function(root: &SysRoot, folder: &str) -> PciDevice {
    let physical =
        root.resolve(format!("{folder}/physfn")).ok().filter(|path| function_folder(path).is_some());
    PciDevice {
        address: last_part(folder).to_owned(),
        ids: ids(root, folder, ["vendor", "device"]).into(),
        card_ids: ids(root, folder, ["subsystem_vendor", "subsystem_device"]).into(),
        class: hex(root, &format!("{folder}/class")).map(|class| format!("{class:06x}")).into(),
        driver: root.link_name(format!("{folder}/driver")).ok(),
        numa_node: numa_node(root, folder),
        local_cpus: local_cpus(root, folder),
        is_virtual_function: root.exists(format!("{folder}/physfn")),
        // The link registers of a virtual function are reserved; those of the physical function count (Single Root
        // I/O Virtualization and Sharing Specification).
        path: path(root, physical.as_deref().unwrap_or(folder)),
    }
}

/// The function's port and those of the bridges above, up to the host bridge (`pci0000:3a`). A VMD controller is
/// outside of its own host bridge, and its path carries none of the data.
fn path(root: &SysRoot, folder: &str) -> PciPath {
    PciPath { ports: way(folder).map(|folder| port::read(root, folder)).collect() }
}

/// The folders of the path, the function's own first.
fn way(folder: &str) -> impl Iterator<Item = &str> {
    let ends = std::iter::successors(Some(folder), |here| {
        here.rfind('/').filter(|cut| *cut > 0).map(|cut| &here[..cut])
    });
    ends.take_while(|here| is_address(last_part(here)))
}

/// The path of a function now, to check it under load.
pub fn pci_path(root: &SysRoot, address: &str) -> Known<PciPath> {
    root.resolve(format!("/sys/bus/pci/devices/{address}")).map(|folder| path(root, &folder)).into()
}

/// Max_Payload_Size of the function in `folder`, in bytes.
pub(crate) fn payload(root: &SysRoot, folder: &str) -> Known<u32> {
    config::Config::read(root, folder).and_then(|config| config.payload())
}

pub(crate) fn relaxed_ordering(root: &SysRoot, folder: &str) -> Known<bool> {
    config::Config::read(root, folder).and_then(|config| config.relaxed_ordering())
}

/// Ports above the function in `folder` that redirect peer-to-peer traffic (access control services), nearest first.
pub(crate) fn redirecting(root: &SysRoot, folder: &str) -> Known<Vec<String>> {
    let mut found = Vec::new();
    for above in way(folder).skip(1) {
        match config::Config::read(root, above) {
            Known::Known(config) if config.redirects() => found.push(last_part(above).to_owned()),
            Known::Known(_) => {}
            Known::Unknown(why) => return Known::Unknown(why),
        }
    }
    Known::Known(found)
}

/// IOMMU domain type of the function in `folder` (Linux Documentation/ABI/testing/sysfs-kernel-iommu_groups), or
/// `none`.
pub(crate) fn translation(root: &SysRoot, folder: &str) -> Known<String> {
    match root.text(format!("{folder}/iommu_group/type")) {
        Ok(kind) => Known::Known(kind.trim().to_owned()),
        Err(_) if !root.exists(folder) => Known::unknown("the kernel does not report it"),
        Err(error) if error.is_missing() && !root.exists(format!("{folder}/iommu_group")) => {
            Known::Known("none".to_owned())
        }
        Err(error) => Known::unknown(error.to_string()),
    }
}

pub(crate) fn last_part(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// A hexadecimal id of the kernel: `0x8086`.
pub(crate) fn hex(root: &SysRoot, path: &str) -> Result<u32, ReadError> {
    let text = root.text(path)?;
    let number = text.trim().strip_prefix("0x").and_then(|digits| u32::from_str_radix(digits, 16).ok());
    number.ok_or_else(|| ReadError::garbage(path, &text, "a number such as 0x8086"))
}

/// `15b3:101d` of two files.
fn ids(root: &SysRoot, folder: &str, files: [&str; 2]) -> Result<String, ReadError> {
    let id = |file: &str| {
        let path = format!("{folder}/{file}");
        let id = hex(root, &path)?;
        u16::try_from(id).map_err(|_| ReadError::garbage(&path, &format!("{id:#x}"), "an id of 16 bits"))
    };
    let [vendor, device] = files.map(id);
    Ok(format!("{:04x}:{:04x}", vendor?, device?))
}

fn numa_node(root: &SysRoot, folder: &str) -> Known<u32> {
    let path = format!("{folder}/numa_node");
    Known::from(root.value::<i64>(&path)).and_then(|node| match u32::try_from(node) {
        Ok(node) => Known::Known(node),
        Err(_) if node == -1 => Known::unknown("the firmware does not tell the NUMA node (-1)"),
        Err(_) => Known::unknown(ReadError::garbage(&path, &node.to_string(), "a node, or -1").to_string()),
    })
}

fn local_cpus(root: &SysRoot, folder: &str) -> Known<Vec<u32>> {
    list(root, &format!("{folder}/local_cpulist")).map(|cpus| cpus.iter().collect()).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn knows_an_address_when_it_sees_one() {
        for yes in ["0000:3b:00.0", "10000:e1:00.7", "ffff:ff:1f.7"] {
            assert!(is_address(yes), "{yes}");
        }
        for no in ["pci0000:3a", "0000:3b:00", "2:0:0:0", "0000:3b:00.0:x", "", "target2:0:0", "000g:3b:00.0"]
        {
            assert!(!is_address(no), "{no}");
        }
    }

    #[test]
    fn finds_the_innermost_function() {
        let path =
            "/sys/devices/pci0000:64/0000:64:00.5/pci10000:00/10000:00:02.0/10000:01:00.0/nvme/nvme0/nvme0n1";
        let own = "/sys/devices/pci0000:64/0000:64:00.5/pci10000:00/10000:00:02.0/10000:01:00.0";
        assert_eq!(function_folder(path), Some(own));
        assert_eq!(function_folder(own), Some(own));
        assert_eq!(function_folder("/sys/devices/virtual/net/lo"), None);
    }

    #[test]
    fn a_way_ends_at_its_own_host_bridge() {
        let root = SysRoot::at("/nowhere/at/all");
        let own = "/sys/devices/pci0000:64/0000:64:00.5/pci10000:00/10000:00:02.0/10000:01:00.0";
        let ports: Vec<_> = path(&root, own).ports.into_iter().map(|port| port.address).collect();
        assert_eq!(ports, ["10000:01:00.0", "10000:00:02.0"]);
    }
}
