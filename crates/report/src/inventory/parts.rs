//! The parts that are measured, in the order of the data path: memory, links, disks, file systems.

use seatrial_model::machine::{
    Disk, DiskBus, FileSystem, Gpu, Hca, HcaPort, Known, Machine, Nic, NumaNode, PciDevice, PciPort,
};
use seatrial_model::{Bytes, Subject};

use super::Part;
use crate::words::clean;

/// Transfer rate of each PCI Express generation in GT/s, from the first.
const GENERATIONS: [f64; 6] = [2.5, 5.0, 8.0, 16.0, 32.0, 64.0];

pub fn all(machine: &Machine) -> Vec<Part> {
    let mut parts = vec![part(Subject::node(), vec![Some("all memory".to_owned())])];
    if machine.numa.len() > 1 {
        parts.extend(machine.numa.iter().map(numa));
    }
    parts.extend(machine.gpus.listed().iter().map(gpu));
    // The loopback is no hardware.
    let nics = machine.nics.listed().iter().filter(|nic| nic.kind.word() != "loopback");
    parts.extend(nics.map(nic));
    parts.extend(
        machine.hcas.listed().iter().flat_map(|hca| hca.ports.iter().map(move |port| hca_port(hca, port))),
    );
    parts.extend(machine.disks.listed().iter().filter(|disk| disk.size_bytes != Known::Known(0)).map(disk));
    parts.extend(machine.file_systems.listed().iter().map(file_system));
    parts
}

fn part(subject: Subject, words: Vec<Option<String>>) -> Part {
    on_pci(subject, words, None)
}

fn on_pci(subject: Subject, words: Vec<Option<String>>, pci: Option<&PciDevice>) -> Part {
    Part {
        subject,
        words: words.into_iter().flatten().map(|word| clean(&word)).collect(),
        link: pci.and_then(link),
        numa_node: pci.and_then(|pci| pci.numa_node.known().copied()),
        is_on_pci: pci.is_some(),
    }
}

fn numa(node: &NumaNode) -> Part {
    let size = node.total_bytes.known().map(|&bytes| Bytes(bytes).rounded());
    let cpus = if node.has_cpus() { format!("CPUs {}", ranges(&node.cpus)) } else { "no CPUs".to_owned() };
    let far =
        node.distances.iter().filter(|(other, _)| **other != node.id).map(|(_, distance)| *distance).max();
    part(
        Subject::numa(node.id),
        vec![size, Some(cpus), far.map(|distance| format!("distance up to {distance}"))],
    )
}

fn gpu(gpu: &Gpu) -> Part {
    let name = gpu.model.known().or_else(|| gpu.vendor.known()).cloned();
    let ids = gpu.pci.ids.known().cloned();
    let memory = gpu.memory_bytes.known().map(|&bytes| Bytes(bytes).rounded());
    on_pci(
        Subject::device("gpu", &gpu.index.to_string()),
        vec![name, ids, memory, gpu.pci.driver.clone()],
        Some(&gpu.pci),
    )
}

fn nic(nic: &Nic) -> Part {
    let kind = nic.driver.known().cloned().or_else(|| Some(nic.kind.word().to_owned()));
    let state = nic.state.known().cloned();
    let speed = nic.speed_gbit_s().known().map(|speed| format!("{speed} Gbit/s"));
    let mtu = nic.mtu.known().map(|mtu| format!("MTU {mtu}"));
    let master = nic.master.as_ref().map(|master| format!("member of {master}"));
    on_pci(Subject::device("nic", &nic.name), vec![kind, state, speed, mtu, master], nic.pci.known())
}

fn hca_port(hca: &Hca, port: &HcaPort) -> Part {
    let name = format!("{}/{}", hca.name, port.number);
    let firmware = hca.firmware.known().map(|version| format!("firmware {version}"));
    on_pci(
        Subject::device("hca", &name),
        vec![
            hca.model.known().cloned(),
            port.link_layer.known().cloned(),
            port.state.known().cloned(),
            port.rate_text.known().cloned(),
            firmware,
        ],
        hca.pci.known(),
    )
}

fn disk(disk: &Disk) -> Part {
    let size = disk.size_bytes.known().map(|&bytes| Bytes(bytes).rounded());
    let medium = disk.rotational.known().map(|turns| if *turns { "rotational" } else { "solid state" });
    let medium = medium.filter(|_| !disk.is_virtual()).map(str::to_owned);
    let mounts = (!disk.mounts.is_empty()).then(|| format!("mounted at {}", disk.mounts.join(" ")));
    let array = disk.member_of.as_ref().map(|array| format!("part of {array}"));
    let part = on_pci(
        Subject::device("disk", &disk.name),
        vec![Some(disk.bus.word().to_owned()), disk.model.known().cloned(), size, medium, mounts, array],
        disk.pci.known(),
    );
    // Other disks hang on a controller, whose link is not theirs.
    if disk.bus == DiskBus::Nvme { part } else { Part { link: None, ..part } }
}

fn file_system(fs: &FileSystem) -> Part {
    let size = fs.size_bytes.known().map(|&bytes| Bytes(bytes).rounded());
    let fill = match &fs.fill_percent {
        Known::Known(percent) => Some(format!("{percent:.0} % full")),
        Known::Unknown(why) => Some(why.clone()),
    };
    let on = if fs.disks.is_empty() { fs.source.clone() } else { fs.disks.join(" ") };
    let read_only = fs.read_only.then(|| "read-only".to_owned());
    part(Subject::device("fs", &fs.mount), vec![Some(format!("{} on {on}", fs.kind)), size, fill, read_only])
}

/// `PCIe 4.0 x16`, the present state of the device's own end.
fn link(device: &PciDevice) -> Option<String> {
    port_text(device.path.ports.first()?)
}

/// `PCIe 4.0 x16`, the present state of this end of a link.
pub(crate) fn port_text(port: &PciPort) -> Option<String> {
    let (speed, width) = (port.speed_gts.known()?, port.width.known()?);
    let generation = GENERATIONS.iter().position(|rate| rate == speed);
    let speed = generation.map_or_else(|| format!("{speed} GT/s"), |before| format!("{}.0", before + 1));
    Some(format!("PCIe {speed} x{width}"))
}

/// `0-15,32-47`.
fn ranges(cpus: &[u32]) -> String {
    let mut ranges: Vec<(u32, u32)> = Vec::new();
    for &cpu in cpus {
        match ranges.last_mut() {
            Some((_, last)) if *last + 1 == cpu => *last = cpu,
            _ => ranges.push((cpu, cpu)),
        }
    }
    let texts: Vec<String> = ranges
        .iter()
        .map(|(first, last)| if first == last { first.to_string() } else { format!("{first}-{last}") })
        .collect();
    texts.join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cpus_are_told_in_ranges() {
        assert_eq!(ranges(&[0, 1, 2, 8, 10, 11]), "0-2,8,10-11");
        assert_eq!(ranges(&[]), "");
    }
}
