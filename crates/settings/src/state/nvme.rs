//! Health of NVMe disks, from the log of their controllers.

use seatrial_model::machine::{Disk, DiskBus, Machine};
use seatrial_model::setting::{Privilege, SettingAbout, SettingReading};
use seatrial_model::{Kind, Value};
use seatrial_sys::nvme::{NvmeHealth, health};
use seatrial_sys::root::SysRoot;

use crate::Setting;
use crate::devices::{self, Device, Found};

pub struct OfNvme {
    about: &'static SettingAbout,
    find: fn(&NvmeHealth) -> Found,
}

const ABOUT: SettingAbout = SettingAbout {
    id: "state.nvme_warning",
    title: "critical warning of an NVMe disk",
    doc: "The disk says that its spare blocks run out, that it is too hot or too cold, that its medium is unreliable, that it \
          has become read-only, or that its cache would be lost with the power. The note says which.",
    kind: Kind::Flag,
    unit: "",
    fields: &[],
    unlimited: None,
    subject: "disk",
    facts: Disk::FACTS,
    source: "/dev/nvmeN, log page 2 (NVM Express Base Specification, SMART / Health Information)",
    apply: &[],
    privilege: Privilege::Root,
    remedy: "copy the data and replace the disk; where it is too hot, look at the cooling",
    traps: "Only root may ask a disk. The log is of the controller, so of all its namespaces.",
};

pub static NVME_WARNING: OfNvme = OfNvme {
    about: &ABOUT,
    find: |health| {
        let words: Vec<&str> = health.warnings().collect();
        let note = (!words.is_empty()).then(|| words.join(", "));
        Found::value(Value::Flag(health.warning != 0)).noted(note)
    },
};

pub static NVME_SPARE: OfNvme = OfNvme {
    about: &SettingAbout {
        id: "state.nvme_spare",
        title: "spare blocks of an NVMe disk",
        doc: "Share of the spare blocks that are left. The disk replaces worn blocks by them; below the share in the note it \
              warns, and without any it becomes read-only.",
        kind: Kind::Number(0.0, 100.0),
        unit: "%",
        remedy: "replace the disk before none is left",
        ..ABOUT
    },
    find: |health| {
        let note = format!("it warns below {} %", health.spare_threshold);
        Found::value(Value::Number(health.spare.into())).noted(Some(note))
    },
};

pub static NVME_USED: OfNvme = OfNvme {
    about: &SettingAbout {
        id: "state.nvme_used",
        title: "used life of an NVMe disk",
        doc: "Share of the writes that the vendor promises. Above 100 % the disk may go on for long, without a promise that it \
              keeps data without power.",
        kind: Kind::Number(0.0, 255.0),
        unit: "%",
        remedy: "plan the replacement of the disk",
        ..ABOUT
    },
    find: |health| Found::value(Value::Number(health.used.into())),
};

pub static NVME_MEDIA_ERRORS: OfNvme = OfNvme {
    about: &SettingAbout {
        id: "state.nvme_media_errors",
        title: "errors of the medium of an NVMe disk",
        doc: "Blocks that the disk could not read or whose checksum was wrong, over its life: lost data, unless a RAID or a \
              file system had a second copy.",
        kind: Kind::Count(0, u64::MAX),
        unit: "errors",
        remedy: "copy the data and replace the disk when the number grows",
        ..ABOUT
    },
    find: |health| Found::counted(Value::Count(health.media_errors), health.media_errors),
};

impl Setting for OfNvme {
    fn about(&self) -> &'static SettingAbout {
        self.about
    }

    fn read(&self, root: &SysRoot, machine: &Machine) -> Vec<SettingReading> {
        devices::readings(self.about, &machine.disks, "there is no NVMe disk", |disk| {
            (disk.bus == DiskBus::Nvme).then(|| Device {
                name: disk.name.clone(),
                facts: disk.facts(),
                found: match health(root, controller(&disk.name)) {
                    Ok(health) => (self.find)(&health),
                    Err(error) => Found::failed(&error),
                },
            })
        })
    }
}

/// The controller of a namespace: `nvme0` of `nvme0n1`.
fn controller(disk: &str) -> &str {
    let digits = disk.find(|c: char| c.is_ascii_digit()).unwrap_or(disk.len());
    let end = disk[digits..].find(|c: char| !c.is_ascii_digit()).map_or(disk.len(), |at| digits + at);
    &disk[..end]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_namespace_is_of_the_controller_that_its_name_begins_with() {
        assert_eq!(["nvme0n1", "nvme12n3", "nvme1"].map(controller), ["nvme0", "nvme12", "nvme1"]);
    }
}
