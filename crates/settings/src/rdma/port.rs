//! Settings of RDMA ports from the inventory: `rdma.port_state`, `rdma.port_rate`, `rdma.mtu`,
//! `rdma.relaxed_ordering` and `rdma.firmware`.

use seatrial_model::machine::{Hca, HcaPort, Known, Machine};
use seatrial_model::setting::{Privilege, SettingAbout, SettingReading};
use seatrial_model::{Kind, Value};
use seatrial_sys::root::SysRoot;

use crate::Setting;
use crate::devices::{self, Device, Found};

pub struct OfPort {
    about: &'static SettingAbout,
    find: fn(&Hca, &HcaPort) -> Found,
}

const ABOUT: SettingAbout = SettingAbout {
    id: "rdma.port_state",
    title: "state of an RDMA port",
    doc: "Data passes only in ACTIVE. DOWN means no link: check cable, transceiver and the far end. INIT on \
          InfiniBand is a link without subnet manager, ARMED a link that the subnet manager has not \
          activated yet.",
    kind: Kind::Choice(&["NOP", "DOWN", "INIT", "ARMED", "ACTIVE", "ACTIVE_DEFER"]),
    unit: "",
    fields: &[],
    unlimited: None,
    subject: "hca",
    facts: Hca::FACTS,
    source: "/sys/class/infiniband/NAME/ports/PORT/state",
    apply: &[],
    privilege: Privilege::Root,
    remedy: "",
    traps: "A port comes up with its cable, its switch and, on InfiniBand, a running subnet manager; no \
            setting of this host changes it. On Ethernet it follows the network interface.",
};

pub static PORT_STATE: OfPort = OfPort {
    about: &ABOUT,
    find: |_, port| Found::known(port.state.as_ref().map(|state| Value::from(state.as_str()))),
};

pub static PORT_RATE: OfPort = OfPort {
    about: &SettingAbout {
        id: "rdma.port_rate",
        title: "rate of an RDMA port",
        doc: "Negotiated rate in Gbit/s as the kernel reports it; up to QDR with line coding. A port below \
              the rate of its adapter has lost lanes or negotiated a lower speed: a bad cable, a cable of a \
              lower class, or the far end. The rate limits everything that is measured over the port.",
        kind: Kind::Number(0.0, 100_000.0),
        unit: "Gbit/s",
        source: "/sys/class/infiniband/NAME/ports/PORT/rate",
        traps: "Both ends negotiate it when the link comes up: reseat the cable, check both ends and the \
                configuration of the switch. No file shows what the port supports; ibportstate and mlxlink \
                query the adapter.",
        ..ABOUT
    },
    find: rate,
};

pub static MTU: OfPort = OfPort {
    about: &SettingAbout {
        id: "rdma.mtu",
        title: "active MTU of an RDMA port",
        doc: "Every packet has headers of 26 bytes on InfiniBand and 82 on Ethernet, and costs the adapter \
              the same work: 1024 instead of 4096 takes 6 % of the rate of an Ethernet port, and more of its \
              message rate. On Ethernet it follows the MTU of the interface less 96 bytes: 1500 gives 1024, \
              and 4096 needs 4200.",
        kind: Kind::Count(256, 4096),
        unit: "bytes",
        source: "libibverbs (ibv_query_port)",
        traps: "On Ethernet set nic.mtu of the interface below, and the MTU of every switch of the path; on \
                InfiniBand the subnet manager sets it by partition. A connection uses the smaller MTU of \
                both ends.",
        ..ABOUT
    },
    find: |_, port| {
        let most = port.max_mtu.known().map(|most| format!("the port supports {most}"));
        Found::known(port.active_mtu.as_ref().map(|&mtu| Value::Count(mtu.into()))).noted(most)
    },
};

pub static RELAXED_ORDERING: OfPort = OfPort {
    about: &SettingAbout {
        id: "rdma.relaxed_ordering",
        title: "PCI relaxed ordering of an RDMA adapter",
        doc: "Whether the adapter may mark its writes to memory as relaxed, so that they need not wait for \
              each other. On hosts with many cores or several dies strict ordering is slow, and a fast port \
              stays below its rate; programs must request it too when they register memory.",
        kind: Kind::Flag,
        source: "/sys/class/infiniband/NAME/device/config: Device Control of PCI Express, bit 4",
        traps: "Set by firmware and kernel at boot (PCI_WR_ORDERING of the adapter, and the BIOS); the \
                kernel disables it for some CPUs with errata.",
        ..ABOUT
    },
    find: |hca, _| Found::known(hca.relaxed_ordering.as_ref().map(|&allowed| Value::Flag(allowed))),
};

pub static FIRMWARE: OfPort = OfPort {
    about: &SettingAbout {
        id: "rdma.firmware",
        title: "firmware version of an RDMA adapter",
        doc: "All adapters of a cluster should have one version: congestion control, adaptive routing and \
              bugs differ between versions, and single slow nodes often have a different one.",
        kind: Kind::Text,
        source: "/sys/class/infiniband/NAME/fw_ver",
        traps: "Written by the vendor's tool (mstflint, bnxtnvm); takes effect after a reset of the adapter \
                or a reboot.",
        ..ABOUT
    },
    find: |hca, _| {
        let board = hca.board_id.known().map(|board| format!("of a card {board}"));
        let none = "a software device has no firmware";
        match hca.is_software {
            true => Found::unreadable(none),
            false => {
                Found::known(hca.firmware.as_ref().map(|version| Value::from(version.as_str()))).noted(board)
            }
        }
    },
};

/// Adapter families by PCI device id in the kernel's `hca_type` (pci.ids), with the rate in Gbit/s of the fastest
/// card of the family on one port.
const FAMILIES: [(&str, &str, u32); 8] = [
    ("MT4115", "ConnectX-4", 100),
    ("MT4119", "ConnectX-5", 100),
    ("MT4121", "ConnectX-5 Ex", 100),
    ("MT4123", "ConnectX-6", 200),
    ("MT4125", "ConnectX-6 Dx", 200),
    ("MT4127", "ConnectX-6 Lx", 50),
    ("MT4129", "ConnectX-7", 400),
    ("MT4131", "ConnectX-8", 800),
];

fn rate(hca: &Hca, port: &HcaPort) -> Found {
    if hca.is_software {
        return Found::unreadable("a software device has no real rate");
    }
    // A port that is down shows the rate that it would start with.
    let found = match port.is_active() {
        Known::Known(false) => Known::unknown("the port is not active, so no rate is negotiated"),
        _ => port.rate_gbit_s.as_ref().map(|&gbit| Value::Number(gbit)),
    };
    let lanes = port.rate_text.known().map(|text| format!("'{text}'"));
    let family = FAMILIES.iter().find(|(code, ..)| hca.model.known().is_some_and(|model| model == code));
    let family = family.map(|(_, name, most)| {
        format!("cards of {name} have up to {most} Gbit/s per port, depending on the model")
    });
    let words: Vec<String> = [lanes, family].into_iter().flatten().collect();
    Found::known(found).noted((!words.is_empty()).then(|| words.join("; ")))
}

impl Setting for OfPort {
    fn about(&self) -> &'static SettingAbout {
        self.about
    }

    fn read(&self, _: &SysRoot, machine: &Machine) -> Vec<SettingReading> {
        devices::readings(self.about, &machine.hcas, "there is no RDMA port", |hca| {
            hca.ports.iter().map(move |port| Device {
                name: format!("{}/{}", hca.name, port.number),
                facts: hca.facts(port),
                found: (self.find)(hca, port),
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use seatrial_model::machine::PciDevice;

    use super::*;

    #[test]
    fn a_profile_may_select_by_every_fact_of_a_port_and_no_other() {
        let text = || Known::Known("x".to_owned());
        let pci = PciDevice { numa_node: Known::Known(0), ..PciDevice::default() };
        let hca = Hca {
            model: text(),
            board_id: text(),
            driver: text(),
            firmware: text(),
            pci: Known::Known(pci),
            ..Hca::default()
        };
        let port = HcaPort {
            number: 1,
            state: text(),
            link_layer: text(),
            speed_class: text(),
            rate_gbit_s: Known::Known(100.0),
            lanes: Known::Known(4),
            ..HcaPort::default()
        };
        let facts = hca.facts(&port);
        let mut known: Vec<&str> = Hca::FACTS.iter().copied().chain(["kind"]).collect();
        known.sort_unstable();
        assert_eq!(facts.iter().map(|(name, _)| name).collect::<Vec<_>>(), known);
    }
}
