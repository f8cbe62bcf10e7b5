//! Versions of the firmware of disks and network cards: `software.disk_firmware` and `software.nic_firmware`.

use seatrial_model::machine::{Disk, DiskBus, Machine, Nic};
use seatrial_model::setting::{Privilege, SettingAbout, SettingReading};
use seatrial_model::{Kind, Value};
use seatrial_sys::root::SysRoot;

use crate::Setting;
use crate::devices::{self, Device, Found};

pub struct NicFirmware;

pub struct DiskFirmware;

const OF_NIC: SettingAbout = SettingAbout {
    id: "software.nic_firmware",
    title: "version of the firmware of a NIC",
    doc: "Cards of one product should have one version: firmware decides over offloads, congestion control and the training \
          of the link, and single slow nodes often have another one, as their card was replaced.",
    kind: Kind::Text,
    unit: "",
    fields: &[],
    unlimited: None,
    subject: "nic",
    facts: Nic::FACTS,
    source: "ethtool -i NAME",
    apply: &[],
    privilege: Privilege::Root,
    remedy: "write the version that the other nodes have, by the vendor's tool (`mlxfwmanager`, `bnxtnvm`, `nvmupdate`)",
    traps: "It runs after a reset of the card or a boot.",
};

const OF_DISK: SettingAbout = SettingAbout {
    id: "software.disk_firmware",
    title: "version of the firmware of a disk",
    doc: "Disks of one product should have one version. Some versions of SSDs lose speed or fail after a number of hours, \
          which vendors mend by an update.",
    subject: "disk",
    facts: Disk::FACTS,
    source: "/sys/block/NAME/device/firmware_rev (NVMe) or rev (SCSI, SATA: the first four characters)",
    remedy: "write the version that the other disks have (`nvme fw-download`, the vendor's tool)",
    traps: "Copy the data before; some disks need a cycle of power.",
    ..OF_NIC
};

impl Setting for NicFirmware {
    fn about(&self) -> &'static SettingAbout {
        &OF_NIC
    }

    fn read(&self, _: &SysRoot, machine: &Machine) -> Vec<SettingReading> {
        devices::readings(&OF_NIC, &machine.nics, "there is no network card", |nic| {
            let found = || Found::known(nic.firmware.as_ref().map(|text| Value::from(text.as_str())));
            nic.kind.is_device().then(|| Device::nic(nic, found()))
        })
    }
}

impl Setting for DiskFirmware {
    fn about(&self) -> &'static SettingAbout {
        &OF_DISK
    }

    fn read(&self, root: &SysRoot, machine: &Machine) -> Vec<SettingReading> {
        devices::readings(&OF_DISK, &machine.disks, "there is no disk with firmware", |disk| {
            let file = match disk.bus {
                DiskBus::Nvme => "firmware_rev",
                DiskBus::Sata | DiskBus::Sas | DiskBus::Scsi => "rev",
                _ => return None,
            };
            let found = match root.text(format!("/sys/block/{}/device/{file}", disk.name)) {
                Ok(text) => Found::value(Value::from(text.trim())),
                Err(error) => Found::failed(&error),
            };
            Some(Device { name: disk.name.clone(), facts: disk.facts(), found })
        })
    }
}
