//! What the inventory knows of RDMA ports: `rdma.port_state`, `rdma.port_rate`, `rdma.mtu`, `rdma.relaxed_ordering` and
//! `rdma.firmware`.

use seatrial_model::machine::{Hca, HcaPort, Known, Machine};
use seatrial_model::setting::{Privilege, SettingAbout, SettingReading};
use seatrial_model::{Kind, Value};
use seatrial_sys::root::SysRoot;

use crate::Setting;
use crate::devices::{self, Device, Found};

/// Something that every RDMA port has.
pub struct OfPort {
    about: &'static SettingAbout,
    find: fn(&Hca, &HcaPort) -> Found,
}

/// The facts of a port besides `kind`, as `Hca::facts` names them.
const FACTS: &[&str] = &[
    "name",
    "port",
    "virtual",
    "model",
    "board_id",
    "driver",
    "firmware",
    "link_layer",
    "speed",
    "speed_class",
    "lanes",
    "state",
    "up",
    "numa_node",
];

const ABOUT: SettingAbout = SettingAbout {
    id: "rdma.port_state",
    title: "state of an RDMA port",
    doc: "Data passes in ACTIVE only. DOWN is not a link: the cable, the transceiver or the other end. INIT on InfiniBand is a \
          link that no subnet manager has configured, ARMED one that it has not released yet.",
    kind: Kind::Choice(&["NOP", "DOWN", "INIT", "ARMED", "ACTIVE", "ACTIVE_DEFER"]),
    unit: "",
    fields: &[],
    unlimited: None,
    subject: "hca",
    facts: FACTS,
    source: "/sys/class/infiniband/NAME/ports/PORT/state",
    apply: &[],
    privilege: Privilege::Root,
    traps: "A port comes up by its cable, its switch and, on InfiniBand, a running subnet manager; nothing on this host sets \
            it. On Ethernet it follows the network interface.",
};

pub static PORT_STATE: OfPort = OfPort {
    about: &ABOUT,
    find: |_, port| Found::known(port.state.as_ref().map(|state| Value::from(state.as_str()))),
};

pub static PORT_RATE: OfPort = OfPort {
    about: &SettingAbout {
        id: "rdma.port_rate",
        title: "rate that an RDMA port came up with",
        doc: "As the kernel tells it, in Gbit/s; up to QDR it counts the bits of the line code too. A port below what its \
              adapter can do lost lanes or agreed on a slower class: a bad cable, a cable of another class, or the other \
              end. Everything that is measured over it is bound by this rate.",
        kind: Kind::Number(0.0, 100_000.0),
        unit: "Gbit/s",
        source: "/sys/class/infiniband/NAME/ports/PORT/rate",
        traps: "The ends agree on it when the link comes up: reseat the cable, look at both ends and at the switch's \
                configuration. What the port supports stands in no file; ibportstate and mlxlink ask the adapter.",
        ..ABOUT
    },
    find: rate,
};

pub static MTU: OfPort = OfPort {
    about: &SettingAbout {
        id: "rdma.mtu",
        title: "largest payload of an RDMA packet",
        doc: "Every packet carries headers of 26 bytes on InfiniBand and 82 on Ethernet, and costs the adapter the same \
              work: 1024 instead of 4096 takes 6 % of the rate of an Ethernet port, and more of its message rate. On \
              Ethernet it follows the interface's own MTU, of which 96 bytes are set aside: 1500 gives 1024, and 4096 \
              takes 4200.",
        kind: Kind::Count(256, 4096),
        unit: "bytes",
        source: "libibverbs (ibv_query_port)",
        traps: "On Ethernet set nic.mtu of the interface under it, and of every switch on the way; on InfiniBand it is the \
                subnet manager's to set, by partition. Both ends of a connection use the smaller one.",
        ..ABOUT
    },
    find: |_, port| {
        let most = port.max_mtu.known().map(|most| format!("the port can do {most}"));
        Found::known(port.active_mtu.as_ref().map(|&mtu| Value::Count(mtu.into()))).noted(most)
    },
};

pub static RELAXED_ORDERING: OfPort = OfPort {
    about: &SettingAbout {
        id: "rdma.relaxed_ordering",
        title: "writes of an adapter may overtake others",
        doc: "Whether the adapter may mark its writes to memory as ones that need not wait for each other. Hosts with many \
              cores or several dies keep strict order slowly, so that a fast port stays below its rate without it; a \
              program has to ask for it too when it registers memory.",
        kind: Kind::Flag,
        source: "/sys/class/infiniband/NAME/device/config: Device Control of PCI Express, bit 4",
        traps: "Set by firmware and kernel at boot (the adapter's PCI_WR_ORDERING, and the BIOS); some processors are kept \
                from it by the kernel because they get it wrong.",
        ..ABOUT
    },
    find: |hca, _| Found::known(hca.relaxed_ordering.as_ref().map(|&allowed| Value::Flag(allowed))),
};

pub static FIRMWARE: OfPort = OfPort {
    about: &SettingAbout {
        id: "rdma.firmware",
        title: "firmware of an RDMA adapter",
        doc: "Adapters of one fleet should have one version: congestion control, adaptive routing and defects differ from \
              version to version, and single slow nodes often turn out to have another one.",
        kind: Kind::Text,
        source: "/sys/class/infiniband/NAME/fw_ver",
        traps: "Burnt by the vendor's tool (mstflint, bnxtnvm), and in force after the adapter was reset or the host booted.",
        ..ABOUT
    },
    find: |hca, _| {
        let board = hca.board_id.known().map(|board| format!("of a card {board}"));
        let none = "software plays the device, which has no firmware";
        match hca.is_software {
            true => Found::unreadable(none),
            false => {
                Found::known(hca.firmware.as_ref().map(|version| Value::from(version.as_str()))).noted(board)
            }
        }
    },
};

/// Adapters of a family by their PCI device id in the kernel's `hca_type` (pci.ids), and the rate in Gbit/s that the fastest
/// build of the family does on one port.
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
        return Found::unreadable("software plays the device, and its rate is made up");
    }
    // A port that is down shows the rate it would begin with.
    let found = match port.is_active() {
        Known::Known(false) => Known::unknown("the port is not active, so no rate is agreed upon"),
        _ => port.rate_gbit_s.as_ref().map(|&gbit| Value::Number(gbit)),
    };
    let lanes = port.rate_text.known().map(|text| format!("'{text}'"));
    let family = FAMILIES.iter().find(|(code, ..)| hca.model.known().is_some_and(|model| model == code));
    let family = family.map(|(_, name, most)| {
        format!("builds of {name} go up to {most} Gbit/s a port, and not every one does")
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
        let mut known: Vec<&str> = FACTS.iter().copied().chain(["kind"]).collect();
        known.sort_unstable();
        assert_eq!(facts.iter().map(|(name, _)| name).collect::<Vec<_>>(), known);
    }
}
