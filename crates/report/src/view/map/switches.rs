//! The PCIe switches between devices and the processor.

use seatrial_model::Subject;
use seatrial_model::machine::{Machine, PciDevice, PciPort};

use super::MapBox;
use super::fold::folded;
use crate::inventory::parts::port_text;

/// A device with the upstream ports of the switches above, the nearest to the processor first.
pub type Below<'a> = (Vec<&'a PciPort>, MapBox);

/// The upstream ports of the switches above the device of `subject`.
pub fn switches<'a>(machine: &'a Machine, subject: &Subject) -> Vec<&'a PciPort> {
    let Some(device) = device(machine, subject) else { return Vec::new() };
    let mut ports: Vec<&PciPort> = device.path.links().into_iter().skip(1).map(|link| link.lower).collect();
    // An emulated bridge is no hardware.
    ports.retain(|port| !port.emulated);
    ports.reverse();
    ports
}

fn device<'a>(machine: &'a Machine, subject: &Subject) -> Option<&'a PciDevice> {
    let is_it = |kind: &str, name: &str| *subject == Subject::device(kind, name);
    let gpu = machine.gpus.listed().iter().find(|gpu| is_it("gpu", &gpu.index.to_string()));
    let nic = || machine.nics.listed().iter().find(|nic| is_it("nic", &nic.name))?.pci.known();
    let disk = || machine.disks.listed().iter().find(|disk| is_it("disk", &disk.name))?.pci.known();
    let hca = || {
        let of = |port: &u32, name: &str| is_it("hca", &format!("{name}/{port}"));
        let hcas = machine.hcas.listed();
        hcas.iter().find(|hca| hca.ports.iter().any(|port| of(&port.number, &hca.name)))?.pci.known()
    };
    gpu.map(|gpu| &gpu.pci).or_else(nic).or_else(disk).or_else(hca)
}

/// The devices, those below a shared switch in a box of the switch. Of switches in a row with the same devices the last
/// is drawn.
pub fn below_switches(devices: Vec<Below<'_>>) -> Vec<MapBox> {
    let mut groups: Vec<(Option<&PciPort>, Vec<Below<'_>>)> = Vec::new();
    for (ports, drawn) in devices {
        let first = ports.first().copied();
        let is_same = |known: &Option<&PciPort>| {
            known.is_some() && known.map(|port| &port.address) == first.map(|port| &port.address)
        };
        let rest = (ports.into_iter().skip(1).collect(), drawn);
        match groups.iter_mut().find(|(known, _)| is_same(known)) {
            Some((_, group)) => group.push(rest),
            None => groups.push((first, vec![rest])),
        }
    }
    let (mut alone, mut shared) = (Vec::new(), Vec::new());
    for (port, mut group) in groups {
        match port {
            Some(port) if group.len() > 1 => shared.push(switch(port, below_switches(group))),
            _ => alone.extend(group.pop().map(|(_, drawn)| drawn)),
        }
    }
    folded(alone).into_iter().chain(shared).collect()
}

fn switch(port: &PciPort, mut inside: Vec<MapBox>) -> MapBox {
    if let [only] = inside.as_slice()
        && only.is_place
    {
        return inside.remove(0);
    }
    MapBox {
        name: format!("PCIe switch {}", port.address),
        words: port_text(port).map(|link| format!("{link} to the processor")).into_iter().collect(),
        inside,
        is_place: true,
        ..MapBox::default()
    }
}
