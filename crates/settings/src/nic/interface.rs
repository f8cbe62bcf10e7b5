//! Settings of every network interface: `nic.mtu` and `nic.txqueuelen`.

use seatrial_model::Kind;
use seatrial_model::machine::{Machine, Nic, NicKind};
use seatrial_model::setting::{ApplyCommand, Present, Privilege, SettingAbout, SettingReading};
use seatrial_sys::root::SysRoot;

use crate::Setting;
use crate::devices::{self, Device};
use crate::found::{parse, present};

/// A number in a file of each interface.
pub struct OfInterface {
    about: &'static SettingAbout,
    file: &'static str,
}

const ABOUT: SettingAbout = SettingAbout {
    id: "nic.mtu",
    title: "MTU of an interface",
    doc: "Largest packet without the link-layer header. Larger packets carry more for the same work: fewer \
          headers on the wire (9000 instead of 1500 gains 4 to 5 % of the link), fewer interrupts and fewer \
          passes through the network stack, which at 10 Gbit/s and above decides whether one core can keep \
          up. Every port, switch and host of the path must accept them, or large packets vanish while small \
          ones pass.",
    kind: Kind::Count(68, 65535),
    unit: "bytes",
    fields: &[],
    unlimited: None,
    subject: "nic",
    facts: Nic::FACTS,
    source: "/sys/class/net/NAME/mtu",
    apply: &[ApplyCommand {
        file: "/sys/class/net/{name}/mtu",
        ..ApplyCommand::always("ip link set dev {name} mtu {value}")
    }],
    privilege: Privilege::NetAdmin,
    remedy: "",
    traps: "Some drivers take the link down for a moment. NetworkManager and cloud agents set their own \
            value again. Test the whole path afterwards: `ping -M do -s 8972 HOST` for 9000. The MTU of a \
            bond or bridge limits interfaces on top of it.",
};

pub static MTU: OfInterface = OfInterface { about: &ABOUT, file: "mtu" };

pub static TXQUEUELEN: OfInterface = OfInterface {
    about: &SettingAbout {
        id: "nic.txqueuelen",
        title: "transmit queue length (txqueuelen)",
        doc: "The queue limit of queueing disciplines without their own limit (pfifo_fast, also under mq). A \
              short queue drops the bursts of a fast sender, a long one adds latency. fq and fq_codel ignore \
              it.",
        kind: Kind::Count(0, u32::MAX as u64),
        unit: "packets",
        source: "/sys/class/net/NAME/tx_queue_len",
        apply: &[ApplyCommand {
            file: "/sys/class/net/{name}/tx_queue_len",
            ..ApplyCommand::always("ip link set dev {name} txqueuelen {value}")
        }],
        traps: "Lost when the interface is created again, and at the next boot.",
        ..ABOUT
    },
    file: "tx_queue_len",
};

impl Setting for OfInterface {
    fn about(&self) -> &'static SettingAbout {
        self.about
    }

    fn read(&self, root: &SysRoot, machine: &Machine) -> Vec<SettingReading> {
        let none = "there is no network interface but loopback";
        devices::readings(self.about, &machine.nics, none, |nic| {
            (nic.kind != NicKind::Loopback).then(|| Device::nic(nic, self.of(nic, root)))
        })
    }
}

impl OfInterface {
    fn of(&self, nic: &Nic, root: &SysRoot) -> Present {
        let path = format!("/sys/class/net/{}/{}", nic.name, self.file);
        present(root, root.text(&path).and_then(|text| parse(self.about, &path, &text)))
    }
}

#[cfg(test)]
mod tests {
    use seatrial_model::machine::{Known, PciDevice};

    use super::*;

    #[test]
    fn a_profile_may_select_by_every_fact_of_an_interface_and_no_other() {
        let text = || Known::Known("x".to_owned());
        let nic = Nic {
            link_layer: text(),
            driver: text(),
            speed_mbit_s: Known::Known(10_000),
            duplex: text(),
            mtu: Known::Known(9000),
            up: Known::Known(true),
            master: Some("bond0".to_owned()),
            kind: NicKind::Bond,
            pci: Known::Known(PciDevice { numa_node: Known::Known(0), ids: text(), ..PciDevice::default() }),
            ..Nic::default()
        };
        let facts = nic.facts();
        let mut known: Vec<&str> = Nic::FACTS.iter().copied().chain(["kind"]).collect();
        known.sort_unstable();
        assert_eq!(facts.iter().map(|(name, _)| name).collect::<Vec<_>>(), known);
    }
}
