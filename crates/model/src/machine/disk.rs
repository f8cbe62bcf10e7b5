//! Block devices.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::facts::Facts;
use super::{Known, PciDevice};
use crate::param::Params;

/// A whole block device: a disk, or one made of others.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Disk {
    /// The kernel's name: `sda`, `nvme0n1`, `dm-0`.
    pub name: String,
    /// How it is attached, or what it is made by.
    pub bus: DiskBus,
    /// Whether a hypervisor plays it, whatever the bus.
    pub is_emulated: bool,
    /// The name its maker gave it; of a mapped device the name of the mapping, of a loop its file, of a software RAID
    /// its level.
    pub model: Known<String>,
    /// Serial number; of a mapped device its unique id.
    pub serial: Known<String>,
    /// World-wide name, as sysfs writes it: `naa.5000c500a1b2c3d4`, `eui.…`, `uuid.…`.
    pub wwn: Known<String>,
    /// Whether it turns. Controllers and hypervisors may tell this wrong.
    pub rotational: Known<bool>,
    /// Whether its medium can be taken out.
    pub removable: Known<bool>,
    /// Whether it refuses to be written.
    pub read_only: Known<bool>,
    /// Capacity of the disk in bytes.
    pub size_bytes: Known<u64>,
    /// Smallest unit it can be asked for, in bytes.
    pub logical_sector_bytes: Known<u64>,
    /// Smallest unit it can write without reading, in bytes.
    pub physical_sector_bytes: Known<u64>,
    /// The kernel's scheduler in use: `none`, `mq-deadline`, `bfq`, `kyber`.
    pub scheduler: Known<String>,
    /// How far the kernel reads ahead, in bytes.
    pub read_ahead_bytes: Known<u64>,
    /// Rate the link has negotiated with a SATA or SAS disk, in Gbit/s on the wire.
    pub link_gbit_s: Known<f64>,
    /// Partitions of the disk, by number.
    pub partitions: Vec<Partition>,
    /// Block devices made of the whole disk.
    pub holders: Vec<String>,
    /// Block devices or partitions that this one is made of.
    pub slaves: Vec<String>,
    /// Where file systems on it are mounted: on itself, on its partitions, on whatever is made of them.
    pub mounts: Vec<String>,
    /// The PCI function of its controller.
    pub pci: Known<PciDevice>,
    /// What the control groups around this process let through to it, where they limit anything.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub throttle: Option<DiskThrottle>,
}

/// The tightest limits of the control groups around a process on one block device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct DiskThrottle {
    /// Bytes a second that may be read.
    pub read_bytes: Option<u64>,
    /// Bytes a second that may be written.
    pub written_bytes: Option<u64>,
    /// Requests a second that may read.
    pub reads: Option<u64>,
    /// Requests a second that may write.
    pub writes: Option<u64>,
}

/// A partition of a block device.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Partition {
    /// The kernel's name: `sda1`, `nvme0n1p2`.
    pub name: String,
    /// Its size in bytes.
    pub size_bytes: Known<u64>,
    /// Block devices made of it.
    pub holders: Vec<String>,
}

/// How a block device is attached, or what it is made by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum DiskBus {
    /// NVMe over PCI Express.
    Nvme,
    /// NVMe over a network.
    NvmeFabrics,
    /// Serial ATA; its parallel ancestor too, in old and virtual machines.
    Sata,
    /// Serial attached SCSI (SAS).
    Sas,
    /// A SCSI disk whose transport sysfs does not tell: behind a RAID controller, Fibre Channel, iSCSI.
    Scsi,
    /// A disk behind USB.
    Usb,
    /// An MMC or SD card.
    Mmc,
    /// A virtio device of a virtual machine.
    Virtio,
    /// A disk of Xen.
    Xen,
    /// A disk of Hyper-V.
    HyperV,
    /// Persistent memory as a block device.
    Pmem,
    /// A file played as a disk.
    Loop,
    /// Software RAID of the kernel (md).
    Md,
    /// Device mapper: LVM, encryption, multipath.
    Dm,
    /// A disk in memory: ram, zram.
    Memory,
    /// A disk over the network: nbd, rbd, drbd.
    Network,
    /// A floppy, an optical drive, or something that this version does not know.
    #[default]
    #[serde(other)]
    Other,
}

impl DiskBus {
    /// The word for it.
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
            Self::Memory => "memory",
            Self::Network => "network",
            Self::Other => "other",
        }
    }

    /// Whether it is made of other devices, of files or of memory.
    pub const fn is_made(self) -> bool {
        matches!(self, Self::Loop | Self::Md | Self::Dm | Self::Memory)
    }
}

impl Disk {
    /// The NUMA node its controller is next to.
    pub fn numa_node(&self) -> Known<u32> {
        self.pci.as_ref().and_then(|pci| pci.numa_node.clone())
    }

    /// Whether no disk of its own stands behind it: a hypervisor's, or one made of other devices.
    pub const fn is_virtual(&self) -> bool {
        self.is_emulated || self.bus.is_made()
    }

    /// What stays the same when the kernel names it otherwise: the WWN, else the serial number, else a mapping's name,
    /// else the kernel's name.
    pub fn key(&self) -> String {
        let mapped = self.model.known().filter(|_| self.bus == DiskBus::Dm);
        match (self.wwn.known(), self.serial.known(), mapped) {
            (Some(wwn), ..) => format!("wwn:{wwn}"),
            (_, Some(serial), _) => format!("serial:{serial}"),
            (.., Some(mapping)) => format!("dm:{mapping}"),
            _ => format!("name:{}", self.name),
        }
    }

    /// What a profile may select by.
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
