//! Errors that the kernel has counted since the boot: of memory, of PCI Express links, and thermal throttling.

use std::collections::BTreeMap;

use seatrial_model::machine::Machine;
use seatrial_model::setting::{Present, Privilege, SettingAbout, SettingReading};
use seatrial_model::{Kind, Value};
use seatrial_sys::probe::{
    CountedPart, CounterReading, corrected_memory_errors, pcie_error_counters, throttle_counters,
    uncorrected_memory_errors,
};
use seatrial_sys::root::{ReadError, SysRoot};

use crate::Setting;
use crate::counted::{Counted, a_day, note, worst};
use crate::found::{is_virtual, on_node};

pub struct ErrorCount {
    about: &'static SettingAbout,
    read: fn(&SysRoot) -> Result<Vec<Counted>, ReadError>,
    /// Whether the value is a rate, the highest of all parts, or the sum of all counts.
    is_rate: bool,
    /// Why a machine may not count them.
    absent: &'static str,
}

const ABOUT: SettingAbout = SettingAbout {
    id: "state.memory_corrected",
    title: "corrected memory errors, worst module",
    // admin-guide/RAS/main.rst, "Error Detection And Correction (EDAC) devices"; mcelog.conf(5).
    doc: "Single bits that ECC corrected, in the module with the most of them, for each day since the boot (for \
          one day where the boot was less than a day ago). Rare ones come from radiation; a module that goes \
          on has a weak cell or a bad contact, costs time with every correction and may soon lose data. mcelog \
          takes a page out of use at 10 in 24 hours.",
    kind: Kind::Number(0.0, 1e15),
    unit: "errors a day",
    fields: &[],
    unlimited: None,
    subject: "node",
    facts: &[],
    source: "/sys/devices/system/edac/mc/mc*/dimm*/dimm_ce_count, else /sys/devices/system/edac/mc/mc*/ce_count",
    apply: &[],
    privilege: Privilege::Root,
    remedy: "reseat, then replace the module that `ras-mc-ctl --error-count` names",
    traps: "A counter, which nothing sets but a boot.",
};

const NO_EDAC: &str = "no memory controller reports errors to the kernel";
const NO_AER: &str = "no device counts errors of its link";
const NO_THROTTLE: &str = "this CPU or hypervisor counts no throttling";

pub static MEMORY_CORRECTED: ErrorCount =
    ErrorCount { about: &ABOUT, read: |root| memory(corrected_memory_errors(root)), is_rate: true, absent: NO_EDAC };

pub static MEMORY_UNCORRECTED: ErrorCount = ErrorCount {
    about: &SettingAbout {
        id: "state.memory_uncorrected",
        title: "uncorrected memory errors",
        doc: "Errors that ECC found and could not correct: data was lost, and the kernel killed the program that \
              read it, or stopped. One is enough to replace the module.",
        kind: Kind::Count(0, u64::MAX),
        unit: "errors",
        source: "/sys/devices/system/edac/mc/mc*/ue_count",
        ..ABOUT
    },
    read: |root| memory(uncorrected_memory_errors(root)),
    is_rate: false,
    absent: NO_EDAC,
};

const PCIE: SettingAbout = SettingAbout {
    id: "state.pcie_correctable",
    title: "corrected PCIe errors, worst device",
    // PCIEBUS: ABI/testing/sysfs-bus-pci-devices-aer; PCI/pcieaer-howto.rst.
    doc: "Packets that a PCI Express device received with errors and had sent again, for each day since the \
          boot (for one day where the boot was less than a day ago), of the device with the most of them. \
          They cost bandwidth and latency; many of them mean a card that is not seated well, a bad riser, \
          cable or slot. PCI Express allows one wrong bit in 10^12, which 16 lanes of 8 GT/s transfer in \
          8 s.",
    source: "/sys/bus/pci/devices/*/aer_dev_correctable",
    remedy: "reseat the card, its riser and its cable; then try another slot and new firmware",
    traps: "A counter, which nothing sets but a boot. The fault may be at the other end of the device's link.",
    ..ABOUT
};

pub static PCIE_CORRECTABLE: ErrorCount = ErrorCount {
    about: &PCIE,
    read: |root| pcie(root, "correctable"),
    is_rate: true,
    absent: NO_AER,
};

pub static PCIE_NONFATAL: ErrorCount = ErrorCount {
    about: &SettingAbout {
        id: "state.pcie_nonfatal",
        title: "nonfatal uncorrected PCIe errors",
        doc: "Transactions that PCI Express devices lost while their links went on working: a program or driver \
              got an error or wrong data, or waited for a timeout.",
        kind: Kind::Count(0, u64::MAX),
        unit: "errors",
        source: "/sys/bus/pci/devices/*/aer_dev_nonfatal",
        ..PCIE
    },
    read: |root| pcie(root, "nonfatal"),
    is_rate: false,
    absent: NO_AER,
};

pub static PCIE_FATAL: ErrorCount = ErrorCount {
    about: &SettingAbout {
        id: "state.pcie_fatal",
        title: "fatal PCIe errors",
        doc: "Errors after which a PCI Express link could no longer be trusted and was reset: what ran over it \
              failed.",
        kind: Kind::Count(0, u64::MAX),
        unit: "errors",
        source: "/sys/bus/pci/devices/*/aer_dev_fatal",
        ..PCIE
    },
    read: |root| pcie(root, "fatal"),
    is_rate: false,
    absent: NO_AER,
};

pub static THERMAL_THROTTLING: ErrorCount = ErrorCount {
    about: &SettingAbout {
        id: "state.thermal_throttling",
        title: "thermal throttling of the CPUs",
        // Intel SDM volume 3, "Thermal monitoring and protection".
        doc: "How often a core or package was so hot that it lowered its clock, for each day since the boot (for \
              one day where the boot was less than a day ago), of the one that did so most. Cooling that meets \
              the data sheet of the processor never lets it happen. Counted by Intel's processors.",
        unit: "times a day",
        source: "/sys/devices/system/cpu/cpu*/thermal_throttle/{core,package}_throttle_count",
        remedy: "check fans, dust, heat sinks, thermal paste and the temperature of the room",
        ..ABOUT
    },
    read: throttling,
    is_rate: true,
    absent: NO_THROTTLE,
};

fn memory(parts: Result<Vec<CountedPart>, ReadError>) -> Result<Vec<Counted>, ReadError> {
    Ok(parts?.into_iter().map(|(name, count)| Counted { name, count }).collect())
}

/// The devices that count errors of this kind, with their counts.
fn pcie(root: &SysRoot, kind: &str) -> Result<Vec<Counted>, ReadError> {
    let device = |(name, count): CounterReading| {
        let device = name.split_once(' ').map_or(name.as_str(), |(_, device)| device);
        Ok(Counted { name: device.to_owned(), count: count? })
    };
    pcie_error_counters(root, &[kind])?.into_iter().map(device).collect()
}

/// Each core and package once, with the count of the thread that saw most.
fn throttling(root: &SysRoot) -> Result<Vec<Counted>, ReadError> {
    let mut most: BTreeMap<String, Counted> = BTreeMap::new();
    for (name, count) in throttle_counters(root)? {
        let (part, cpu) = name.rsplit_once('/').unwrap_or((&name, &name));
        let Some((kind, owner)) = part.split_once(' ').filter(|(kind, _)| kind.ends_with("_throttles")) else {
            continue;
        };
        let is_core = kind.starts_with("core");
        let name = if is_core { format!("the core of CPU {cpu}") } else { format!("package {owner}") };
        let one = Counted { name, count: count? };
        let known = most.entry(part.to_owned()).or_insert_with(|| one.clone());
        if one.count > known.count {
            *known = one;
        }
    }
    Ok(most.into_values().collect())
}

impl Setting for ErrorCount {
    fn about(&self) -> &'static SettingAbout {
        self.about
    }

    fn read(&self, root: &SysRoot, machine: &Machine) -> Vec<SettingReading> {
        let counted = match (self.read)(root) {
            Ok(counted) => counted,
            // Nothing of the kind is here, unless the whole of /sys is missing.
            Err(ReadError::Missing { .. }) if root.exists("/sys/devices") => Vec::new(),
            Err(error) => return on_node(self.about, Present::Unreadable(error.to_string())),
        };
        let Some(most) = worst(&counted) else {
            let usual = if is_virtual(machine) { "; in a virtual machine the host counts them" } else { "" };
            return on_node(self.about, Present::Absent(format!("{}{usual}", self.absent)));
        };
        let value = match self.is_rate {
            true => Value::Number(a_day(root, most.count)),
            false => Value::Count(counted.iter().map(|one| one.count).fold(0, u64::saturating_add)),
        };
        let mut readings = on_node(self.about, Present::Value(value));
        readings[0].counted = Some(counted.iter().map(|one| one.count).fold(0, u64::saturating_add));
        match note(root, &counted) {
            Some(note) => readings.into_iter().map(|reading| reading.noting(note.as_str())).collect(),
            None => readings,
        }
    }
}
