//! Settings of interfaces from the inventory: qdiscs, bonds, IP over InfiniBand.

use seatrial_model::machine::{Bond, Known, Machine, Nic, NicKind};
use seatrial_model::setting::{ApplyCommand, Privilege, SettingAbout, SettingFile, SettingReading};
use seatrial_model::{Kind, Nanos, Value};
use seatrial_sys::root::SysRoot;

use crate::Setting;
use crate::devices::{self, Device, Found};

pub struct InventorySetting {
    about: &'static SettingAbout,
    /// The interfaces that have it, and the reason when there are none.
    among: fn(&Nic) -> bool,
    none: &'static str,
    find: fn(&Nic, &Machine) -> Found,
    /// The words of a file of the kernel that shows the number of each behind it, by their numbers.
    numbered: &'static [&'static str],
}

pub(super) const ABOUT: SettingAbout = SettingAbout {
    id: "nic.qdisc",
    title: "queueing discipline (qdisc)",
    doc: "Packets wait in it until the NIC takes them. fq paces the packets of each flow, which spares \
          shallow switch buffers; pfifo_fast and fq_codel do not. A shaper (tbf, htb, cake) limits the rate \
          of all traffic, and is easily forgotten. A NIC with many queues has mq at the root and one \
          discipline per queue.",
    kind: Kind::Text,
    unit: "",
    fields: &[],
    unlimited: None,
    subject: "nic",
    facts: Nic::FACTS,
    source: "tc qdisc show dev NAME",
    apply: &[ApplyCommand {
        file: "/qdisc/{name}",
        ..ApplyCommand::always("tc qdisc replace dev {name} root {value}")
    }],
    privilege: Privilege::NetAdmin,
    remedy: "",
    traps: "Waiting packets are lost. A shaper or another discipline with parameters of its own is not replaced, since it \
            could not be restored. In place of mq, it makes all queues share one lock: set \
            net.core.default_qdisc and create the interface again instead. Lost at the next boot.",
};

pub static QDISC: InventorySetting = InventorySetting {
    about: &ABOUT,
    among: |nic| nic.kind != NicKind::Loopback,
    none: "there is no network interface but loopback",
    find: |nic, _| match &nic.queueing {
        Known::Known(all) => match all.iter().find(|queue| queue.root) {
            Some(root) => {
                let below: Vec<&str> =
                    all.iter().filter(|queue| !queue.root).map(|queue| queue.kind.as_str()).collect();
                let note = match (root.rate_bytes_per_second, below.as_slice()) {
                    (Some(rate), _) => Some(format!("it shapes to {} Mbit/s", rate as f64 * 8e-6)),
                    (None, []) => None,
                    (None, kinds) => Some(format!("of {}", kinds.join(", "))),
                };
                Found::value(Value::from(root.kind.as_str())).noted(note)
            }
            None => Found::absent("the kernel reports no queueing discipline"),
        },
        Known::Unknown(why) => Found::unreadable(why),
    },
    numbered: &[],
};

pub static IPOIB_MODE: InventorySetting = InventorySetting {
    about: &SettingAbout {
        id: "nic.ipoib_mode",
        title: "IPoIB mode (datagram or connected)",
        doc: "connected uses a reliable connection between each pair of hosts and allows an MTU of 65520, \
              which saves most of the CPU time of bulk TCP. datagram has the MTU of the fabric (2044 or \
              4092), offloads and several queues, which are faster on newer adapters, and does not lose UDP \
              or multicast.",
        kind: Kind::Choice(&["datagram", "connected"]),
        source: "/sys/class/net/NAME/mode",
        apply: &[ApplyCommand::file("/sys/class/net/{name}/mode")],
        privilege: Privilege::Root,
        traps: "Both ends must use the same mode; set nic.mtu afterwards. Enhanced IPoIB (ipoib_enhanced=1 \
                of mlx5) has only datagram. Lost at the next boot.",
        ..ABOUT
    },
    among: |nic| nic.ipoib_mode.is_some(),
    none: "there is no IPoIB interface",
    find: |nic, _| match &nic.ipoib_mode {
        Some(mode) => Found::known(mode.as_ref().map(|mode| Value::from(mode.as_str()))),
        None => Found::absent("it is not an IPoIB interface"),
    },
    numbered: &[],
};

/// `bond_mode_tbl` and `bond_xmit_hashtype_tbl` of Linux drivers/net/bonding/bond_options.c.
const MODES: &[&str] =
    &["balance-rr", "active-backup", "balance-xor", "broadcast", "802.3ad", "balance-tlb", "balance-alb"];
const HASH_POLICIES: &[&str] = &["layer2", "layer3+4", "layer2+3", "encap2+3", "encap3+4", "vlan+srcmac"];

const BOND: SettingAbout = SettingAbout {
    id: "nic.bond_mode",
    title: "bonding mode",
    doc: "802.3ad and balance-xor send each flow over one member, so one flow is as fast as one member and \
          only several flows are faster. balance-rr spreads every flow over all members and reorders \
          packets. active-backup uses one member, and the others only after a failure.",
    kind: Kind::Choice(MODES),
    source: "/sys/class/net/NAME/bonding/mode",
    apply: &[ApplyCommand {
        file: "/sys/class/net/{name}/bonding/mode",
        ..ApplyCommand::always("ip link set dev {name} type bond mode {value}")
    }],
    traps: "Can only be set while the bond is down and has no members. 802.3ad needs a link aggregation \
            group of the same ports on the switch. Lost at the next boot unless the configuration of the \
            interface sets it.",
    ..ABOUT
};

const NO_BOND: &str = "there is no bond";

pub static BOND_MODE: InventorySetting = InventorySetting {
    about: &BOND,
    among: is_bond,
    none: NO_BOND,
    find: |nic, _| of_bond(nic, |bond| bond.mode.as_ref().map(|mode| Value::from(mode.as_str()))),
    numbered: MODES,
};

pub static BOND_HASH_POLICY: InventorySetting = InventorySetting {
    about: &SettingAbout {
        id: "nic.bond_hash_policy",
        title: "bonding transmit hash policy",
        doc: "layer2 and layer2+3 send everything between two hosts over one member, whatever the number of \
              flows; layer3+4 includes the ports, so several flows between two hosts can use several \
              members. The policy of the switch spreads the traffic in the other direction.",
        kind: Kind::Choice(HASH_POLICIES),
        source: "/sys/class/net/NAME/bonding/xmit_hash_policy",
        apply: &[ApplyCommand {
            file: "/sys/class/net/{name}/bonding/xmit_hash_policy",
            ..ApplyCommand::always("ip link set dev {name} type bond xmit_hash_policy {value}")
        }],
        traps: "Has no effect in balance-rr, active-backup and broadcast. May reorder flows once. Lost at \
                the next boot unless the configuration of the interface sets it.",
        ..BOND
    },
    among: is_bond,
    none: NO_BOND,
    find: |nic, _| of_bond(nic, |bond| bond.hash_policy.as_ref().map(|policy| Value::from(policy.as_str()))),
    numbered: HASH_POLICIES,
};

pub static BOND_MIIMON: InventorySetting = InventorySetting {
    about: &SettingAbout {
        id: "nic.bond_miimon",
        title: "bonding link monitoring interval (miimon)",
        doc: "With 0, the kernel's default, a member with a failed link keeps its share of the flows, which \
              then stall; 100 ms is usual. It costs almost nothing.",
        kind: Kind::Time(Nanos(0), Nanos::secs(60)),
        source: "/sys/class/net/NAME/bonding/miimon",
        apply: &[ApplyCommand::always("echo $(({value} / 1000)) > /sys/class/net/{name}/bonding/miimon")],
        traps: "Turns ARP monitoring off. Lost at the next boot unless the configuration of the interface \
                sets it.",
        ..BOND
    },
    among: is_bond,
    none: NO_BOND,
    find: |nic, _| of_bond(nic, |bond| bond.miimon_ms.as_ref().map(|&ms| Nanos::millis(ms).into())),
    numbered: &[],
};

fn is_bond(nic: &Nic) -> bool {
    nic.bond.is_some()
}

fn of_bond(nic: &Nic, of: fn(&Bond) -> Known<Value>) -> Found {
    nic.bond.as_ref().map_or_else(|| Found::absent(NO_BOND), |bond| Found::known(of(bond)))
}

impl Setting for InventorySetting {
    fn about(&self) -> &'static SettingAbout {
        self.about
    }

    fn read(&self, _: &SysRoot, machine: &Machine) -> Vec<SettingReading> {
        devices::readings(self.about, &machine.nics, self.none, |nic| {
            (self.among)(nic).then(|| Device::nic(nic, (self.find)(nic, machine)))
        })
    }

    fn files(
        &self,
        _: &SysRoot,
        _: &Machine,
        _: &SettingReading,
        file: SettingFile,
    ) -> Result<Vec<SettingFile>, String> {
        // As the kernel shows it: it reads the word and passes over the number.
        let number = self.numbered.iter().position(|word| *word == file.text);
        let text = number.map(|number| format!("{} {number}", file.text));
        Ok(vec![SettingFile { text: text.unwrap_or(file.text), ..file }])
    }
}
