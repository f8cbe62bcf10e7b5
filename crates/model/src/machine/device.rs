//! Devices of a machine that a profile may want measured one by one.

use super::{Disk, FileSystem, Gpu, Hca, HcaPort, Known, Machine, Nic, PciDevice};
use crate::param::Params;
use crate::subject::Subject;

/// A network interface, an RDMA port, a disk or a GPU.
#[derive(Clone, Debug, PartialEq)]
pub struct Device {
    /// The device as the subject of a case.
    pub subject: Subject,
    /// Stable key of the device.
    pub key: String,
    /// Facts that a profile may select the device by.
    pub facts: Params,
    /// PCI ids of the card.
    ids: Option<String>,
    /// The state in which the device cannot be measured by itself.
    pub obstacle: Option<String>,
}

impl Device {
    /// The kinds of devices, as in the fact `kind`.
    pub const KINDS: [&'static str; 4] = ["nic", "hca", "disk", "gpu"];

    /// The kinds of subjects that are no device.
    pub const OTHER_KINDS: [&'static str; 2] = ["node", "fs"];

    /// The facts that a profile may select subjects of this kind by; `None` for a kind that no subject has.
    pub fn facts_of(kind: &str) -> Option<Vec<&'static str>> {
        let (own, of_benchmarks): (&'static [&str], &[&str]) = match kind {
            "node" => (&["cores", "numa_nodes", "disks", "gpus"], &[]),
            "nic" => (Nic::FACTS, &[]),
            "hca" => (Hca::FACTS, &[]),
            "disk" => (Disk::FACTS, &["fill_percent", "mount", "type"]),
            "gpu" => (Gpu::FACTS, &["gpus"]),
            "fs" => (FileSystem::FACTS, &["from"]),
            _ => return None,
        };
        Some(own.iter().chain(of_benchmarks).copied().collect())
    }

    fn nic(nic: &Nic) -> Self {
        let master = nic.master.as_ref().map(|master| part_of(master));
        let down = (nic.up == Known::Known(false)).then(|| "the port is down".to_owned());
        Self {
            subject: Subject::device("nic", &nic.name),
            key: nic.key(),
            facts: nic.facts(),
            ids: ids(&nic.pci),
            obstacle: master.or(down),
        }
    }

    fn port(hca: &Hca, port: &HcaPort) -> Self {
        let state = port.state.known().filter(|_| port.is_active() != Known::Known(true));
        Self {
            subject: Subject::device("hca", &format!("{}/{}", hca.name, port.number)),
            key: format!("{}/{}", hca.key(), port.number),
            facts: hca.facts(port),
            ids: ids(&hca.pci),
            obstacle: state.map(|state| format!("the port is {state}")),
        }
    }

    fn disk(disk: &Disk) -> Self {
        let obstacle = match &disk.member_of {
            _ if !disk.mounts.is_empty() => None,
            Some(array) => Some(part_of(array)),
            None => Some("no file system of the disk is mounted".to_owned()),
        };
        Self {
            subject: Subject::device("disk", &disk.name),
            key: disk.key(),
            facts: disk.facts(),
            ids: ids(&disk.pci),
            obstacle,
        }
    }

    fn gpu(gpu: &Gpu) -> Self {
        Self {
            subject: Subject::device("gpu", &gpu.index.to_string()),
            key: gpu.key(),
            facts: gpu.facts(),
            ids: gpu.pci.ids.known().cloned(),
            obstacle: None,
        }
    }

    /// The facts of the device, with those named `wanted` that are unknown taken from a device with the same PCI ids:
    /// a port that is down does not tell its speed.
    pub fn with_facts_of_its_like<'a>(
        &self,
        wanted: &Params,
        others: impl IntoIterator<Item = &'a Self>,
    ) -> Params {
        let mut facts = self.facts.clone();
        for other in others.into_iter().filter(|other| self.ids.is_some() && other.ids == self.ids) {
            for (name, _) in wanted.iter() {
                if let (None, Some(value)) = (facts.get(name), other.facts.get(name)) {
                    facts.set(name, value.clone());
                }
            }
        }
        facts
    }

    /// Whether a case with these facts measures the device: every fact that both have is equal. A case over several
    /// GPUs has the facts that all of them have in common.
    pub fn is_measured_by(&self, facts: &Params) -> bool {
        let differs = |(name, value): (&str, &_)| self.facts.get(name).is_some_and(|own| own != value);
        let is_named = ["kind", "name"].iter().all(|name| self.facts.get(name) == facts.get(name));
        is_named && !facts.iter().any(differs)
    }

    /// Whether a case with these facts measures this device and no other.
    pub fn is_measured_alone_by(&self, facts: &Params) -> bool {
        self.is_measured_by(facts) && self.facts.iter().all(|(name, _)| facts.get(name).is_some())
    }
}

impl Machine {
    /// The devices of one of [`Device::KINDS`]; none where the inventory does not know them.
    pub fn devices(&self, kind: &str) -> Vec<Device> {
        fn each<T, I: IntoIterator<Item = Device>>(
            all: &Known<Vec<T>>,
            device: impl Fn(&T) -> I,
        ) -> Vec<Device> {
            all.listed().iter().flat_map(device).collect()
        }
        match kind {
            "nic" => each(&self.nics, |nic| [Device::nic(nic)]),
            "hca" => each(&self.hcas, |hca| {
                hca.ports.iter().map(|port| Device::port(hca, port)).collect::<Vec<_>>()
            }),
            "disk" => each(&self.disks, |disk| disk.is_permanent().then(|| Device::disk(disk))),
            "gpu" => each(&self.gpus, |gpu| [Device::gpu(gpu)]),
            _ => Vec::new(),
        }
    }
}

fn part_of(whole: &str) -> String {
    format!("part of {whole}: not measured by itself")
}

fn ids(pci: &Known<PciDevice>) -> Option<String> {
    pci.known()?.ids.known().cloned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::DiskBus;
    use crate::profile::Requirement;

    fn known<T>(value: T) -> Known<T> {
        Known::Known(value)
    }

    fn port(name: &str, speed: Option<u64>) -> Nic {
        let ids = known("8086:1572".to_owned());
        Nic {
            name: name.to_owned(),
            up: known(speed.is_some()),
            speed_mbit_s: speed.map_or(Known::unknown("it is down"), Known::Known),
            pci: known(PciDevice { ids, ..PciDevice::default() }),
            ..Nic::default()
        }
    }

    fn obstacles(machine: &Machine, kind: &str) -> Vec<Option<String>> {
        machine.devices(kind).into_iter().map(|device| device.obstacle).collect()
    }

    #[test]
    fn a_port_that_is_down_has_the_speed_of_its_like() {
        let mut other = port("eth2", None);
        other.pci = Known::default();
        let nics = vec![port("eth0", Some(10_000)), port("eth1", None), other];
        let machine = Machine { nics: known(nics), ..Machine::default() };
        let devices = machine.devices("nic");
        let wanted: Params = [("speed".to_owned(), "10 Gbit/s".into())].into_iter().collect();
        let selected = devices
            .iter()
            .map(|device| Requirement::selects(&wanted, &device.with_facts_of_its_like(&wanted, &devices)));
        assert_eq!(selected.collect::<Vec<_>>(), [true, true, false]);
        assert_eq!(obstacles(&machine, "nic")[1].as_deref(), Some("the port is down"));
    }

    #[test]
    fn a_case_measures_the_devices_that_its_facts_do_not_tell_apart() {
        let gpu = |index, vendor: &str| Gpu { index, vendor: known(vendor.to_owned()), ..Gpu::default() };
        let gpus = vec![gpu(0, "NVIDIA"), gpu(1, "NVIDIA"), gpu(2, "AMD")];
        let machine = Machine { gpus: known(gpus), ..Machine::default() };
        let of_all: Params =
            [("kind".to_owned(), "gpu".into()), ("vendor".to_owned(), "NVIDIA".into())].into_iter().collect();
        let measured_by = |facts: &Params| -> Vec<bool> {
            machine.devices("gpu").iter().map(|device| device.is_measured_by(facts)).collect()
        };
        assert_eq!(measured_by(&of_all), [true, true, false]);
        let second = &machine.devices("gpu")[1];
        assert_eq!(measured_by(&second.facts), [false, true, false]);
        assert!(second.is_measured_alone_by(&second.facts) && !second.is_measured_alone_by(&of_all));
        assert_eq!(measured_by(&Params::default()), [false; 3]);
    }

    #[test]
    fn what_stands_in_the_way_of_a_disk_is_named() {
        let disk = |name: &str, mounts: &[&str], member_of: Option<&str>| Disk {
            name: name.to_owned(),
            bus: DiskBus::Sata,
            mounts: mounts.iter().map(|mount| (*mount).to_owned()).collect(),
            member_of: member_of.map(str::to_owned),
            ..Disk::default()
        };
        let loop_device = Disk { bus: DiskBus::Loop, ..disk("loop0", &[], None) };
        let disks = vec![
            disk("sda", &["/"], None),
            disk("sdb", &[], Some("md0")),
            disk("sdc", &[], None),
            loop_device,
        ];
        let machine = Machine { disks: known(disks), ..Machine::default() };
        let told = obstacles(&machine, "disk");
        let told: Vec<&str> = told.iter().map(|text| text.as_deref().unwrap_or("")).collect();
        assert_eq!(
            told,
            ["", "part of md0: not measured by itself", "no file system of the disk is mounted"]
        );
    }
}
