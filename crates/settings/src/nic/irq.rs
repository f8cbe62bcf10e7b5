//! `nic.irq_local`: whether interrupts of a card go to CPUs of its own NUMA node.

use seatrial_model::machine::{Known, Machine, Nic};
use seatrial_model::setting::{ApplyCommand, Privilege, SettingAbout, SettingFile, SettingReading};
use seatrial_model::{Kind, Value};
use seatrial_sys::cpuset::CpuSet;
use seatrial_sys::irq::interrupts;
use seatrial_sys::root::SysRoot;

use super::inventory::ABOUT as OF_NIC;
use crate::Setting;
use crate::devices::{self, Device, Found};

pub struct IrqLocal;

const ABOUT: SettingAbout = SettingAbout {
    id: "nic.irq_local",
    title: "interrupts on the NIC's own NUMA node",
    doc: "When interrupts of a NIC go to CPUs of another socket, every packet crosses the link between \
          the sockets, once for its descriptor and once for its data. A single flow on a fast NIC \
          suffers most. The CPUs change from boot to boot, or every ten seconds with irqbalance.",
    kind: Kind::Flag,
    source: "/proc/irq/N/effective_affinity_list of the interrupts of /sys/class/net/NAME/device/msi_irqs",
    apply: &[ApplyCommand {
        by: "",
        file: "/irq/{name}/smp_affinity_list",
        command: "cd /sys/class/net/{name}/device && for irq in $(ls msi_irqs); do cat {value} > \
                  /proc/irq/$irq/smp_affinity_list; done",
        words: &[("true", "local_cpulist"), ("false", "/sys/devices/system/cpu/online")],
    }],
    privilege: Privilege::Root,
    traps: "irqbalance moves them again: stop it, or exclude these interrupts. Drivers that manage the \
            affinity themselves refuse the change. Lost at the next boot.",
    ..OF_NIC
};

impl Setting for IrqLocal {
    fn about(&self) -> &'static SettingAbout {
        &ABOUT
    }

    fn read(&self, _: &SysRoot, machine: &Machine) -> Vec<SettingReading> {
        devices::readings(&ABOUT, &machine.nics, "there is no network card", |nic| {
            nic.kind.is_device().then(|| Device::nic(nic, found(nic, machine)))
        })
    }

    fn files(
        &self,
        root: &SysRoot,
        machine: &Machine,
        reading: &SettingReading,
        file: SettingFile,
    ) -> Result<Vec<SettingFile>, String> {
        let nic = devices::nic(machine, reading)?;
        let node = match (file.text.as_str(), nic.numa_node()) {
            ("0", _) => None,
            (_, Known::Known(node)) => Some(node),
            (_, Known::Unknown(why)) => return Err(format!("its NUMA node is unknown: {why}")),
        };
        let threads = machine.cpu.threads.iter().filter(|thread| node.is_none() || thread.node == node);
        let cpus: CpuSet = threads.map(|thread| thread.id).collect();
        let device = root.resolve(format!("/sys/class/net/{}/device", nic.name));
        let numbers = interrupts(root, &device.map_err(|error| error.to_string())?)?;
        let paths = numbers.into_iter().map(|number| format!("/proc/irq/{number}/smp_affinity_list"));
        // One that was not requested has no folder.
        let files = paths.filter(|path| root.exists(path));
        Ok(files.map(|path| SettingFile { path, text: cpus.to_string() }).collect())
    }
}

fn found(nic: &Nic, machine: &Machine) -> Found {
    let (cpus, node) = match (&nic.irq_cpus, nic.numa_node()) {
        (Known::Known(cpus), Known::Known(node)) => (cpus, node),
        // On a machine of one node, all CPUs are on it.
        (Known::Known(_), Known::Unknown(_)) if machine.numa.len() == 1 => {
            return Found::value(Value::Flag(true));
        }
        (Known::Unknown(why), _) => return Found::unreadable(why),
        (_, Known::Unknown(why)) => return Found::unreadable(&format!("its NUMA node is unknown: {why}")),
    };
    let node_of = |cpu: &u32| {
        machine.cpu.threads.iter().find(|thread| thread.id == *cpu).and_then(|thread| thread.node)
    };
    let Some(nodes) = cpus.iter().map(node_of).collect::<Option<Vec<u32>>>() else {
        return Found::unreadable(&format!("the NUMA node of one of the CPUs {cpus:?} is unknown"));
    };
    let away: Vec<String> = cpus
        .iter()
        .zip(&nodes)
        .filter(|(_, of)| **of != node)
        .map(|(cpu, of)| format!("CPU {cpu} of node {of}"))
        .collect();
    let note =
        (!away.is_empty()).then(|| format!("the NIC is on node {node}, its interrupts {}", away.join(", ")));
    Found::value(Value::Flag(away.is_empty())).noted(note)
}
