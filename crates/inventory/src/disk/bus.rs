//! Transport of a block device, by its name and sysfs path.

use seatrial_model::machine::DiskBus;
use seatrial_sys::root::SysRoot;

use super::DiskPlace;
use crate::pci::last_part;

/// Drivers of virtual block devices, by the stem of the device name (Linux admin-guide/devices.txt).
const BY_STEM: [(&str, DiskBus); 15] = [
    ("loop", DiskBus::Loop),
    ("md", DiskBus::Md),
    ("dm-", DiskBus::Dm),
    ("bcache", DiskBus::Bcache),
    ("zram", DiskBus::Memory),
    ("ram", DiskBus::Memory),
    ("nbd", DiskBus::Network),
    ("rbd", DiskBus::Network),
    ("drbd", DiskBus::Network),
    ("pmem", DiskBus::Pmem),
    ("mmcblk", DiskBus::Mmc),
    ("xvd", DiskBus::Xen),
    ("sr", DiskBus::Other),
    ("fd", DiskBus::Other),
    ("vd", DiskBus::Virtio),
];

/// Model names of emulated disks of hypervisors and clouds.
const PLAYED: [&str; 7] = [
    "QEMU",
    "VBOX",
    "VMware",
    "Msft Virtual Disk",
    "Amazon Elastic Block Store",
    "PersistentDisk",
    "nvme_card",
];

/// Folder of the device's controller: of an NVMe namespace the controller, else the device itself. With NVMe
/// multipath, the namespace is below a virtual subsystem, with links to the controllers (Linux
/// drivers/nvme/host/multipath.c).
pub(super) fn behind(root: &SysRoot, folder: &str) -> String {
    let above = folder.rsplit_once('/').map_or("", |(above, _)| above);
    if !above.contains("/nvme-subsystem/") {
        return folder.to_owned();
    }
    let controllers = root.numbered(above, "nvme").unwrap_or_default();
    let paths = controllers.iter().map(|number| root.resolve(format!("{above}/nvme{number}")));
    paths.flatten().next().unwrap_or_else(|| folder.to_owned())
}

pub(super) fn of(place: &DiskPlace<'_>) -> DiskBus {
    if place.name.starts_with("nvme") {
        return nvme(place);
    }
    let stem = BY_STEM.iter().find(|(stem, _)| {
        place
            .name
            .strip_prefix(stem)
            .is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_alphanumeric()))
    });
    if let Some((_, bus)) = stem {
        return *bus;
    }
    scsi(place)
}

fn nvme(place: &DiskPlace<'_>) -> DiskBus {
    match place.root.text(format!("{}/transport", controller(place.behind))) {
        Ok(transport) if transport != "pcie" && transport != "apple-nvme" => DiskBus::NvmeFabrics,
        _ => DiskBus::Nvme,
    }
}

/// Folder of the controller, `…/nvme/nvme0`, of a namespace or of itself.
pub(super) fn controller(path: &str) -> &str {
    let is_controller = |name: &str| {
        let number = name.strip_prefix("nvme").unwrap_or_default();
        !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())
    };
    if is_controller(last_part(path)) {
        return path;
    }
    path.rsplit_once('/').map_or(path, |(above, _)| above)
}

fn scsi(place: &DiskPlace<'_>) -> DiskBus {
    let above = |stem: &str| {
        place.folder.split('/').any(|part| {
            part.strip_prefix(stem).is_some_and(|rest| rest.starts_with(|digit: char| digit.is_ascii_digit()))
        })
    };
    let is_ata = || {
        let vendor = place.text("device/vendor");
        vendor.is_ok_and(|vendor| vendor.trim() == "ATA")
    };
    if above("usb") {
        DiskBus::Usb
    } else if above("virtio") {
        DiskBus::Virtio
    } else if place.folder.contains("VMBUS") || place.folder.contains("/vmbus_") {
        DiskBus::HyperV
    } else if above("ata") {
        DiskBus::Sata
    } else if above("end_device-") {
        // A SATA disk behind a SAS controller has its own link and bus.
        if is_ata() { DiskBus::Sata } else { DiskBus::Sas }
    } else if above("session") {
        DiskBus::Network
    } else if place.folder.contains("/host") && place.name.starts_with("sd") {
        DiskBus::Scsi
    } else {
        DiskBus::Other
    }
}

pub(super) fn is_emulated(bus: DiskBus, model: Option<&String>) -> bool {
    matches!(bus, DiskBus::Virtio | DiskBus::Xen | DiskBus::HyperV)
        || model.is_some_and(|model| PLAYED.iter().any(|mark| model.contains(mark)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bus(name: &str, folder: &str) -> DiskBus {
        let root = SysRoot::at("/nowhere/at/all");
        of(&DiskPlace { root: &root, name, folder, behind: folder })
    }

    #[test]
    fn tells_the_transport_by_the_folders_above() {
        let pci = "/sys/devices/pci0000:00/0000:00:17.0";
        let cases = [
            ("sda", "ata3/host2/target2:0:0/2:0:0:0/block/sda", DiskBus::Sata),
            ("sdb", "host0/port-0:0/end_device-0:0/target0:0:0/0:0:0:0/block/sdb", DiskBus::Sas),
            ("sdc", "usb1/1-2/1-2:1.0/host5/target5:0:0/5:0:0:0/block/sdc", DiskBus::Usb),
            ("sdd", "virtio3/host7/target7:0:0/7:0:0:0/block/sdd", DiskBus::Virtio),
            ("sde", "host0/target0:2:0/0:2:0:0/block/sde", DiskBus::Scsi),
            ("nvme0n1", "nvme/nvme0/nvme0n1", DiskBus::Nvme),
        ];
        for (name, below, expected) in cases {
            assert_eq!(bus(name, &format!("{pci}/{below}")), expected, "{below}");
        }
    }

    #[test]
    fn tells_made_devices_by_their_names() {
        for (name, expected) in [
            ("loop0", DiskBus::Loop),
            ("dm-12", DiskBus::Dm),
            ("md127", DiskBus::Md),
            ("zram0", DiskBus::Memory),
            ("vda", DiskBus::Virtio),
            ("sr0", DiskBus::Other),
            ("quux", DiskBus::Other),
        ] {
            assert_eq!(bus(name, &format!("/sys/devices/virtual/block/{name}")), expected, "{name}");
        }
    }

    #[test]
    fn a_disk_that_a_hypervisor_plays_is_not_a_disk_of_ours() {
        let model = |text: &str| Some(text.to_owned());
        assert!(is_emulated(DiskBus::Sata, model("QEMU HARDDISK").as_ref()));
        assert!(is_emulated(DiskBus::Nvme, model("Amazon Elastic Block Store").as_ref()));
        assert!(is_emulated(DiskBus::Virtio, None));
        assert!(!is_emulated(DiskBus::Sata, model("ST4000NM0035").as_ref()));
        assert!(!is_emulated(DiskBus::Nvme, None));
    }
}
