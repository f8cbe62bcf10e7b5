//! Settings of interfaces from the inventory: qdiscs, interrupts, bonds, IP over InfiniBand.

use seatrial_model::machine::{Bond, Known, Machine, Nic, NicKind};
use seatrial_model::setting::{ApplyCommand, Privilege, SettingAbout, SettingReading};
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
}

const ABOUT: SettingAbout = SettingAbout {
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
    apply: &[ApplyCommand::always("tc qdisc replace dev {name} root {value}")],
    privilege: Privilege::NetAdmin,
    remedy: "",
    traps: "Waiting packets are lost. In place of mq, it makes all queues share one lock: set \
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
};

pub static IRQ_LOCAL: InventorySetting = InventorySetting {
    about: &SettingAbout {
        id: "nic.irq_local",
        title: "interrupts on the NIC's own NUMA node",
        doc: "When interrupts of a NIC go to CPUs of another socket, every packet crosses the link between \
              the sockets, once for its descriptor and once for its data. A single flow on a fast NIC \
              suffers most. The CPUs change from boot to boot, or every ten seconds with irqbalance.",
        kind: Kind::Flag,
        source: "/proc/irq/N/effective_affinity_list of the interrupts of /sys/class/net/NAME/device/msi_irqs",
        apply: &[ApplyCommand {
            by: "",
            file: "",
            command: "cd /sys/class/net/{name}/device && for irq in $(ls msi_irqs); do cat {value} > \
                      /proc/irq/$irq/smp_affinity_list; done",
            words: &[("true", "local_cpulist"), ("false", "/sys/devices/system/cpu/online")],
        }],
        privilege: Privilege::Root,
        traps: "irqbalance moves them again: stop it, or exclude these interrupts. Drivers that manage the \
                affinity themselves refuse the change. Lost at the next boot.",
        ..ABOUT
    },
    among: |nic| nic.kind.is_device(),
    none: "there is no network card",
    find: irq_local,
};

fn irq_local(nic: &Nic, machine: &Machine) -> Found {
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
};

const BOND: SettingAbout = SettingAbout {
    id: "nic.bond_mode",
    title: "bonding mode",
    doc: "802.3ad and balance-xor send each flow over one member, so one flow is as fast as one member and \
          only several flows are faster. balance-rr spreads every flow over all members and reorders \
          packets. active-backup uses one member, and the others only after a failure.",
    kind: Kind::Choice(&[
        "balance-rr",
        "active-backup",
        "balance-xor",
        "broadcast",
        "802.3ad",
        "balance-tlb",
        "balance-alb",
    ]),
    source: "/sys/class/net/NAME/bonding/mode",
    apply: &[ApplyCommand::always("ip link set dev {name} type bond mode {value}")],
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
};

pub static BOND_HASH_POLICY: InventorySetting = InventorySetting {
    about: &SettingAbout {
        id: "nic.bond_hash_policy",
        title: "bonding transmit hash policy",
        doc: "layer2 and layer2+3 send everything between two hosts over one member, whatever the number of \
              flows; layer3+4 includes the ports, so several flows between two hosts can use several \
              members. The policy of the switch spreads the traffic in the other direction.",
        kind: Kind::Choice(&["layer2", "layer2+3", "layer3+4", "encap2+3", "encap3+4", "vlan+srcmac"]),
        source: "/sys/class/net/NAME/bonding/xmit_hash_policy",
        apply: &[ApplyCommand::always("ip link set dev {name} type bond xmit_hash_policy {value}")],
        traps: "Has no effect in balance-rr, active-backup and broadcast. May reorder flows once. Lost at \
                the next boot unless the configuration of the interface sets it.",
        ..BOND
    },
    among: is_bond,
    none: NO_BOND,
    find: |nic, _| of_bond(nic, |bond| bond.hash_policy.as_ref().map(|policy| Value::from(policy.as_str()))),
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
}
