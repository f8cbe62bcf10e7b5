//! `software.mitigations`: faults of the processor that the kernel works around.

use seatrial_model::machine::Machine;
use seatrial_model::setting::{SettingAbout, SettingReading};
use seatrial_model::{Kind, Value};
use seatrial_sys::root::{ReadError, SysRoot};

use super::version::ABOUT as VERSION;
use crate::Setting;
use crate::found::{on_node, present};

pub struct Mitigations;

const FOLDER: &str = "/sys/devices/system/cpu/vulnerabilities";

const ABOUT: SettingAbout = SettingAbout {
    id: "software.mitigations",
    title: "faults of the CPU that are worked around",
    // ABI/testing/sysfs-devices-system-cpu, vulnerabilities; admin-guide/hw-vuln.
    doc: "Each makes some system calls, interrupts or switches of programs slower, which small messages and small files \
          show. Nodes of one kind should have the same. Faults that the processor has and the kernel does not work around \
          are in the note.",
    kind: Kind::Text,
    source: "/sys/devices/system/cpu/vulnerabilities",
    remedy: "`mitigations=` of the kernel command line turns all of them off or on, at the next boot",
    traps: "Off, one program may read the memory of another and of the kernel: never where users share nodes or do not \
            trust each other.",
    ..VERSION
};

impl Setting for Mitigations {
    fn about(&self) -> &'static SettingAbout {
        &ABOUT
    }

    fn read(&self, root: &SysRoot, _: &Machine) -> Vec<SettingReading> {
        match all(root) {
            Ok((mitigated, open)) => {
                let readings = on_node(&ABOUT, present(root, Ok(Value::Text(listed(&mitigated)))));
                let note = format!("vulnerable to {}", listed(&open));
                let noted = |reading: SettingReading| if open.is_empty() { reading } else { reading.noting(&note) };
                readings.into_iter().map(noted).collect()
            }
            Err(error) => on_node(&ABOUT, present(root, Err(error))),
        }
    }
}

fn listed(names: &[String]) -> String {
    if names.is_empty() { "none".to_owned() } else { names.join(", ") }
}

/// The faults that are worked around, and those that are not.
fn all(root: &SysRoot) -> Result<(Vec<String>, Vec<String>), ReadError> {
    let (mut mitigated, mut open) = (Vec::new(), Vec::new());
    for name in root.list(FOLDER)? {
        let text = root.text(format!("{FOLDER}/{name}"))?;
        // "KVM: Mitigation: ..." is about guests.
        if text.contains("Mitigation:") {
            mitigated.push(name);
        } else if text.contains("Vulnerable") {
            open.push(name);
        }
    }
    Ok((mitigated, open))
}
