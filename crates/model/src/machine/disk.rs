//! Block devices.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::facts::Facts;
use super::{Known, PciDevice};
use crate::param::Params;

/// A whole block device: a disk, or a device made of others.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Disk {
    /// The kernel's name: `sda`, `nvme0n1`, `dm-0`.
    pub name: String,
    /// Transport, or the layer that makes the device.
    pub bus: DiskBus,
    /// Whether a hypervisor emulates the disk.
    pub is_emulated: bool,
    /// Model name; of a device-mapper device the name of the mapping, of a loop device its file, of a software RAID
    /// its level.
    pub model: Known<String>,
    /// Serial number; of a device-mapper device its UUID.
    pub serial: Known<String>,
    /// World-wide name, as sysfs writes it: `naa.5000c500a1b2c3d4`, `eui.…`, `uuid.…`.
    pub wwn: Known<String>,
    /// Whether it is a rotating disk, as reported; controllers and hypervisors may report it wrong.
    pub rotational: Known<bool>,
    /// Whether the medium is removable.
    pub removable: Known<bool>,
    /// Whether the device is read-only.
    pub read_only: Known<bool>,
    /// Capacity of the disk in bytes.
    pub size_bytes: Known<u64>,
    /// Logical sector size in bytes: the smallest request.
    pub logical_sector_bytes: Known<u64>,
    /// Physical sector size in bytes: the smallest write without read-modify-write.
    pub physical_sector_bytes: Known<u64>,
    /// I/O scheduler in use: `none`, `mq-deadline`, `bfq`, `kyber`.
    pub scheduler: Known<String>,
    /// Read-ahead in bytes.
    pub read_ahead_bytes: Known<u64>,
    /// Negotiated line rate of a SATA or SAS link, in Gbit/s.
    pub link_gbit_s: Known<f64>,
    /// Partitions, by number.
    pub partitions: Vec<Partition>,
    /// Block devices made of the whole disk.
    pub holders: Vec<String>,
    /// Block devices or partitions that this device is made of.
    pub slaves: Vec<String>,
    /// Mount points of file systems that are on this disk alone: on the disk, on a partition, or on a device made of
    /// nothing else.
    pub mounts: Vec<String>,
    /// The nearest device that is made of this disk and of others: an array of md, a volume of LVM, a bcache device.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub member_of: Option<String>,
    /// PCI function of the controller.
    pub pci: Known<PciDevice>,
    /// Limits of the cgroups around this process on I/O to the disk, if any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub throttle: Option<DiskThrottle>,
}

/// The tightest I/O limits of the cgroups around a process on one block device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct DiskThrottle {
    /// Read limit in bytes a second.
    pub read_bytes: Option<u64>,
    /// Write limit in bytes a second.
    pub written_bytes: Option<u64>,
    /// Read limit in requests a second (IOPS).
    pub reads: Option<u64>,
    /// Write limit in requests a second (IOPS).
    pub writes: Option<u64>,
}

/// A partition of a block device.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Partition {
    /// The kernel's name: `sda1`, `nvme0n1p2`.
    pub name: String,
    /// Size in bytes.
    pub size_bytes: Known<u64>,
    /// Block devices made of it.
    pub holders: Vec<String>,
}

/// Transport of a block device, or the layer that makes it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum DiskBus {
    /// NVMe over PCI Express.
    Nvme,
    /// NVMe over Fabrics.
    NvmeFabrics,
    /// SATA; also parallel ATA in old and virtual machines.
    Sata,
    /// Serial attached SCSI (SAS).
    Sas,
    /// SCSI with a transport that sysfs does not tell: RAID controller, Fibre Channel, iSCSI.
    Scsi,
    /// A USB disk.
    Usb,
    /// An MMC or SD card.
    Mmc,
    /// A virtio disk of a virtual machine.
    Virtio,
    /// A Xen disk.
    Xen,
    /// A Hyper-V disk.
    HyperV,
    /// Persistent memory as a block device.
    Pmem,
    /// A loop device, backed by a file.
    Loop,
    /// Software RAID of the kernel (md).
    Md,
    /// Device mapper: LVM, encryption, multipath.
    Dm,
    /// A disk with a cache on another (bcache).
    Bcache,
    /// A disk in memory: ram, zram.
    Memory,
    /// A network block device: nbd, rbd, drbd.
    Network,
    /// A floppy, an optical drive, or an unknown device.
    #[default]
    #[serde(other)]
    Other,
}

impl DiskBus {
    /// Name of the transport or layer.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Nvme => "nvme",
            Self::NvmeFabrics => "nvme_fabrics",
            Self::Sata => "sata",
            Self::Sas => "sas",
            Self::Scsi => "scsi",
            Self::Usb => "usb",
            Self::Mmc => "mmc",
            Self::Virtio => "virtio",
            Self::Xen => "xen",
            Self::HyperV => "hyper_v",
            Self::Pmem => "pmem",
            Self::Loop => "loop",
            Self::Md => "md",
            Self::Dm => "dm",
            Self::Bcache => "bcache",
            Self::Memory => "memory",
            Self::Network => "network",
            Self::Other => "other",
        }
    }

    /// Whether the device is made of other devices, of files or of memory.
    pub const fn is_made(self) -> bool {
        matches!(self, Self::Loop | Self::Md | Self::Dm | Self::Bcache | Self::Memory)
    }
}

impl Disk {
    /// NUMA node of the controller.
    pub fn numa_node(&self) -> Known<u32> {
        self.pci.as_ref().and_then(|pci| pci.numa_node.clone())
    }

    /// Whether the device is not a disk of its own: a hypervisor's, or made of other devices.
    pub const fn is_virtual(&self) -> bool {
        self.is_emulated || self.bus.is_made()
    }

    /// Whether data stays on the device: it is not empty, and no loop device, RAM disk, floppy or optical drive.
    pub fn is_permanent(&self) -> bool {
        let is_exchanged = self.bus == DiskBus::Other && self.removable == Known::Known(true);
        !matches!(self.bus, DiskBus::Loop | DiskBus::Memory)
            && !is_exchanged
            && self.size_bytes != Known::Known(0)
    }

    /// Stable key of the disk: the WWN, else the serial number, else the mapping's name, else the kernel's name.
    pub fn key(&self) -> String {
        let mapped = self.model.known().filter(|_| self.bus == DiskBus::Dm);
        match (self.wwn.known(), self.serial.known(), mapped) {
            (Some(wwn), ..) => format!("wwn:{wwn}"),
            (_, Some(serial), _) => format!("serial:{serial}"),
            (.., Some(mapping)) => format!("dm:{mapping}"),
            _ => format!("name:{}", self.name),
        }
    }

    /// Names of the facts besides `kind`.
    pub const FACTS: &'static [&'static str] = &[
        "name",
        "bus",
        "virtual",
        "model",
        "rotational",
        "removable",
        "read_only",
        "size",
        "mounted",
        "member_of",
        "scheduler",
        "numa_node",
    ];

    /// Facts that a profile may select by.
    pub fn facts(&self) -> Params {
        Facts::of("disk")
            .text("name", Some(&self.name))
            .text("bus", Some(self.bus.word()))
            .flag("virtual", Some(self.is_virtual()))
            .known("model", &self.model)
            .flag("rotational", self.rotational.known().copied())
            .flag("removable", self.removable.known().copied())
            .flag("read_only", self.read_only.known().copied())
            .size("size", self.size_bytes.known().copied())
            .flag("mounted", Some(!self.mounts.is_empty()))
            .text("member_of", self.member_of.as_deref())
            .known("scheduler", &self.scheduler)
            .count("numa_node", self.numa_node().known().map(|&node| node.into()))
            .done()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn its_key_is_the_most_lasting_name_it_has() {
        let word = |text: &str| Known::Known(text.to_owned());
        let mut disk = Disk { name: "sda".to_owned(), model: word("ST4000"), ..Disk::default() };
        assert_eq!(disk.key(), "name:sda");
        disk.bus = DiskBus::Dm;
        assert_eq!(disk.key(), "dm:ST4000");
        disk.serial = word("Z1");
        assert_eq!(disk.key(), "serial:Z1");
        disk.wwn = word("naa.5000");
        assert_eq!(disk.key(), "wwn:naa.5000");
    }

    #[test]
    fn is_selected_by_bus_and_medium() {
        let disk = Disk { bus: DiskBus::Sata, rotational: Known::Known(true), ..Disk::default() };
        let facts = disk.facts();
        assert_eq!((facts.text("bus"), facts.flag("rotational")), (Ok("sata"), Ok(true)));
        assert_eq!(facts.flag("virtual"), Ok(false));
        assert!(facts.get("size").is_none());
    }
}
