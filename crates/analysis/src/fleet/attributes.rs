//! Attributes that may differ between nodes of a class, as names and texts.

use std::collections::BTreeMap;

use seatrial_model::machine::{Known, Machine};
use seatrial_model::setting::{Present, SettingAbout, SettingFile, SettingReading};
use seatrial_model::{Bytes, SiteNode, Value, quoted};

/// How the attribute of a model of disks begins; its value is their number.
pub(super) const DISKS: &str = "disks ";

/// A node's attributes by name. What could not be read is left out: it is reported elsewhere and is no difference.
pub(crate) fn attributes(node: &SiteNode) -> BTreeMap<String, String> {
    let mut all = Attributes::default();
    all.of_host(&node.machine);
    all.of_memory(&node.machine);
    all.of_links(&node.machine);
    all.of_disks(&node.machine);
    // States differ between sound nodes, and are judged by profiles alone.
    for reading in node.settings.iter().filter(|reading| !reading.is_state()) {
        if let Present::Value(value) = &reading.present {
            all.0.insert(setting_name(reading), value.to_string());
        }
    }
    all.0
}

/// `nic.mtu of nic:eth0`; of a setting of the whole node its id alone.
pub(crate) fn setting_name(reading: &SettingReading) -> String {
    match reading.subject.kind() {
        "node" => reading.setting.clone(),
        _ => format!("{} of {}", reading.setting, reading.subject),
    }
}

/// The command that sets the setting called `name` to `wanted`, and where Seatrial can set the value at every boot, the one for
/// that.
pub(crate) fn how_to_set(
    node: &SiteNode,
    name: &str,
    wanted: &str,
    settings: &[&'static SettingAbout],
) -> Option<String> {
    let reading = node.settings.iter().find(|reading| setting_name(reading) == name)?;
    let about = settings.iter().find(|about| about.id == reading.setting)?;
    let value = Value::from(wanted);
    let command = about.command(reading, &value)?;
    let device =
        reading.subject.as_str().split_once(':').map_or(String::new(), |(_, name)| format!("@{name}"));
    let typed = quoted(&format!("{}{device}={wanted}", about.id));
    // Interrupts and GPUs, whose values have no such path, are set by no file of boot.
    let is_kept = |file: &SettingFile| ["/proc/sys/", "/sys/"].iter().any(|top| file.path.starts_with(top));
    let at_boot = about.file(reading, &value).filter(is_kept).map(|_| {
        format!(
            " until the next boot; to keep the value: `seatrial settings apply {typed} --persist -w {}`",
            node.name
        )
    });
    Some(format!("`{command}`{}", at_boot.unwrap_or_default()))
}

#[derive(Default)]
struct Attributes(BTreeMap<String, String>);

impl Attributes {
    fn known<T: std::fmt::Display>(&mut self, name: impl Into<String>, fact: &Known<T>) {
        if let Known::Known(value) = fact {
            self.0.insert(name.into(), value.to_string());
        }
    }

    fn of_host(&mut self, machine: &Machine) {
        self.known("kernel", &machine.kernel);
        self.known("distribution", &machine.distribution);
        self.known("firmware", &machine.product.firmware_version);
        self.known("sockets", &machine.cpu.sockets);
        self.known("cores", &machine.cpu.cores);
        let online = machine.cpu.threads.iter().filter(|thread| thread.online).count();
        self.0.insert("hardware threads online".to_owned(), online.to_string());
        self.0.insert("CPUs to run on".to_owned(), machine.cpu.usable().count().to_string());
        let quota = machine.cpu.quota.as_ref().map(|quota| match quota {
            Some(quota) => format!("{} us of CPU time in {} us", quota.quota_us, quota.period_us),
            None => "none".to_owned(),
        });
        self.known("CPU quota", &quota);
        self.0.insert("NUMA nodes".to_owned(), machine.numa.len().to_string());
    }

    fn of_memory(&mut self, machine: &Machine) {
        // The kernel's total differs by what firmware and crash kernel reserve: rounded to 2 %.
        let coarse = machine.memory.total_bytes.as_ref().map(|&bytes| {
            let step = 1_u64 << bytes.max(1).ilog2().saturating_sub(5);
            Bytes((bytes + step / 2) / step * step).rounded()
        });
        self.known("memory", &coarse);
        if let Known::Known(dimms) = &machine.dimms {
            self.0.insert("memory modules".to_owned(), dimms.modules.len().to_string());
            let mut speeds: Vec<u32> = dimms.modules.iter().filter_map(|dimm| dimm.configured_mts).collect();
            speeds.sort_unstable();
            speeds.dedup();
            let speeds: Vec<String> = speeds.iter().map(|speed| format!("{speed} MT/s")).collect();
            if !speeds.is_empty() {
                self.0.insert("memory speed".to_owned(), speeds.join(" and "));
            }
        }
    }

    fn of_links(&mut self, machine: &Machine) {
        for gpu in machine.gpus.listed() {
            self.link(&format!("gpu:{}", gpu.index), &gpu.pci);
            self.known(format!("NVLinks of gpu:{}", gpu.index), &gpu.nvlinks.as_ref().map(Vec::len));
        }
        self.0.insert("GPUs".to_owned(), machine.gpus.listed().len().to_string());
        for nic in machine.nics.listed() {
            let Some(bond) = &nic.bond else { continue };
            let up = bond.members.iter().filter(|one| one.link.known().is_some_and(|link| link == "up"));
            self.0.insert(format!("bond members up of nic:{}", nic.name), up.count().to_string());
        }
        for nic in machine.nics.listed().iter().filter(|nic| !nic.kind.is_virtual()) {
            let name = format!("nic:{}", nic.name);
            self.known(
                format!("speed of {name}"),
                &nic.speed_gbit_s().map(|speed| format!("{speed} Gbit/s")),
            );
            self.known(format!("state of {name}"), &nic.state);
            if let Known::Known(pci) = &nic.pci {
                self.link(&name, pci);
            }
        }
        for hca in machine.hcas.listed().iter().filter(|hca| !hca.is_software) {
            self.known(format!("firmware of hca:{}", hca.name), &hca.firmware);
            if let Known::Known(pci) = &hca.pci {
                self.link(&format!("hca:{}", hca.name), pci);
            }
            for port in &hca.ports {
                let name = format!("hca:{}/{}", hca.name, port.number);
                self.known(format!("rate of {name}"), &port.rate_text);
                self.known(format!("state of {name}"), &port.state);
            }
        }
    }

    /// Width and highest speed: an idle device lowers its present speed, but not its width.
    fn link(&mut self, name: &str, device: &seatrial_model::machine::PciDevice) {
        if let Some(port) = device.path.ports.first() {
            self.known(format!("PCIe lanes of {name}"), &port.width);
            self.known(
                format!("PCIe speed of {name}"),
                &port.max_speed_gts.as_ref().map(|speed| format!("{speed} GT/s")),
            );
        }
    }

    fn of_disks(&mut self, machine: &Machine) {
        let mut models: BTreeMap<String, usize> = BTreeMap::new();
        for disk in machine.disks.listed().iter().filter(|disk| !disk.bus.is_made()) {
            let model = disk.model.known().cloned().unwrap_or_else(|| disk.bus.word().to_owned());
            *models.entry(model).or_default() += 1;
        }
        for (model, count) in models {
            self.0.insert(format!("{DISKS}{model}"), count.to_string());
        }
    }
}
