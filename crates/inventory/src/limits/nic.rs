//! Network interfaces: rate of the port, and of its path to the CPU. Link rate with frames, gaps and headers; the
//! payload depends on the protocol.

use seatrial_model::machine::{Hca, Known, Machine, Nic, NicKind};
use seatrial_model::{Bound, Limit, Unit};

use super::{alone, bound, port_rate, tightest, with_way};
use crate::hca::port_of;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Load {
    /// Simultaneous flows with different addresses and ports; `None` for as many as needed.
    pub flows: Option<u64>,
    /// Whether the interface sends, if known: then its hash policy selects members of a bond.
    pub sends: Option<bool>,
}

impl Load {
    /// As many flows as needed, in either direction.
    pub const BEST: Self = Self { flows: None, sends: None };
}

/// What the limit of an interface is derived from besides itself.
#[derive(Clone, Copy, Debug, Default)]
pub struct Links<'a> {
    /// All interfaces of the machine: a bond is as fast as the members that the load can use, a VLAN as the interface
    /// below.
    pub nics: &'a [Nic],
    /// All RDMA devices of the machine: an IPoIB interface is as fast as its port.
    pub hcas: &'a [Hca],
}

impl<'a> Links<'a> {
    pub fn of(machine: &'a Machine) -> Self {
        Self { nics: machine.nics.listed(), hcas: machine.hcas.listed() }
    }
}

/// All bounds on an interface's rate in one direction, for [`Load::BEST`].
pub fn nic_limit(nic: &Nic) -> Limit {
    nic_limit_under(nic, Links::default(), Load::BEST)
}

/// All bounds under a load.
pub fn nic_limit_under(nic: &Nic, links: Links<'_>, load: Load) -> Limit {
    under(nic, links, load, DEEPEST)
}

/// Deepest stack of interfaces, should a machine report a cycle.
const DEEPEST: u32 = 8;

fn under(nic: &Nic, links: Links<'_>, load: Load, deepest: u32) -> Limit {
    match nic.kind {
        NicKind::Bond => match bonded(nic, links, load) {
            Some(bound) => alone(bound),
            None => Limit::Unknown { reason: without_a_wire(nic) },
        },
        NicKind::Vlan | NicKind::Macvlan => {
            match links.nics.iter().find(|other| nic.lower.first() == Some(&other.name)) {
                Some(lower) if deepest > 0 => under(lower, links, load, deepest - 1),
                _ => Limit::Unknown { reason: without_a_wire(nic) },
            }
        }
        _ => with_way(port(nic, links.hcas), &nic.pci),
    }
}

/// The tightest bound on an interface's rate in one direction.
pub fn nic_rate(nic: &Nic) -> Known<Bound> {
    tightest(nic_limit(nic))
}

enum Share {
    /// This member, or the fastest where it is unknown.
    One(Option<String>),
    /// The fastest members, of this number.
    Most(usize),
    /// All members carry the same, so the slowest decides.
    Slowest,
}

/// What the members of a bond can carry of a load, without their PCI paths; `None` where the members are unknown.
fn bonded(nic: &Nic, links: Links<'_>, load: Load) -> Option<Known<Bound>> {
    let members: Vec<&Nic> = links.nics.iter().filter(|other| nic.lower.contains(&other.name)).collect();
    if members.is_empty() {
        return None;
    }
    let mode = match nic.bond.as_ref().map(|bond| &bond.mode) {
        Some(Known::Known(mode)) => mode.as_str(),
        Some(Known::Unknown(why)) => {
            return Some(Known::unknown(format!("the mode of the bond is unknown: {why}")));
        }
        None => return None,
    };
    let able: Vec<&&Nic> = members.iter().filter(|member| member.up != Known::Known(false)).collect();
    let mut rates: Vec<(&str, u64)> = Vec::new();
    for member in &able {
        match (data_mbit(member, links.hcas), member.kind.is_virtual()) {
            (Known::Known(mbit), false) => rates.push((&member.name, mbit)),
            (_, true) => {
                return Some(Known::Unknown(format!(
                    "its member {}: {}",
                    member.name,
                    without_a_wire(member)
                )));
            }
            (Known::Unknown(why), _) => {
                return Some(Known::Unknown(format!("its member {}: {why}", member.name)));
            }
        }
    }
    if rates.is_empty() {
        return Some(Known::unknown("none of its members is up"));
    }
    rates.sort_by_key(|(name, mbit)| (std::cmp::Reverse(*mbit), *name));
    let (share, why) = share(nic, mode, load, rates.len());
    let used: Vec<(&str, u64)> = match share {
        Share::One(Some(active)) if rates.iter().any(|(name, _)| *name == active) => {
            rates.into_iter().filter(|(name, _)| *name == active).collect()
        }
        Share::One(_) => rates.into_iter().take(1).collect(),
        Share::Most(count) => rates.into_iter().take(count.max(1)).collect(),
        Share::Slowest => rates.into_iter().rev().take(1).collect(),
    };
    let sum = used.iter().fold(0_u64, |sum, (_, mbit)| sum.saturating_add(*mbit));
    let each: Vec<String> = used.iter().map(|(name, mbit)| format!("{name} {mbit} Mbit/s")).collect();
    let formula = format!("{} ({mode}: {why})", each.join(" + "));
    Some(Known::Known(bound(sum as f64 / 1000.0, Unit::GigabitsPerSecond, formula, "bond")))
}

/// The members that carry a load, and why (Documentation/networking/bonding.rst).
fn share(nic: &Nic, mode: &str, load: Load, members: usize) -> (Share, String) {
    let flows = |what: &str| {
        let most =
            load.flows.map_or(members, |flows| usize::try_from(flows).unwrap_or(usize::MAX).min(members));
        let count = load
            .flows
            .map_or("flows".to_owned(), |flows| format!("{flows} flow{}", if flows == 1 { "" } else { "s" }));
        (Share::Most(most), format!("{count} on {members} members, each flow on one of them{what}"))
    };
    match mode {
        "active-backup" => {
            let active = nic.bond.as_ref().and_then(|bond| bond.active.clone());
            (Share::One(active), "one member carries all".to_owned())
        }
        "broadcast" => (Share::Slowest, "every member carries the same".to_owned()),
        "balance-rr" => (Share::Most(members), "every flow is spread over all members".to_owned()),
        "balance-xor" | "802.3ad" => {
            let policy = nic.bond.as_ref().and_then(|bond| bond.hash_policy.known());
            match policy.map(String::as_str) {
                // Ports are not hashed, so all flows between two hosts use one member.
                Some(policy @ ("layer2" | "layer2+3" | "encap2+3" | "vlan+srcmac"))
                    if load.sends == Some(true) && load.flows.is_some() =>
                {
                    (Share::Most(1), format!("{policy} sends all flows between two hosts over one member"))
                }
                Some(policy) if load.sends != Some(false) => flows(&format!(" by {policy}")),
                _ => flows(""),
            }
        }
        _ => flows(""),
    }
}

/// Rate of data in Mbit/s.
fn data_mbit(nic: &Nic, hcas: &[Hca]) -> Known<u64> {
    match port_of(nic, hcas) {
        Some((_, port)) => port_rate(port).map(|bound| (bound.value.value() * 1000.0).round() as u64),
        None => nic.speed_mbit_s.clone(),
    }
}

fn port(nic: &Nic, hcas: &[Hca]) -> Known<Bound> {
    if nic.kind.is_virtual() {
        return Known::Unknown(without_a_wire(nic));
    }
    if nic.up == Known::Known(false) {
        return Known::unknown("the port is not up, so no rate is negotiated");
    }
    // The speed of an IPoIB interface has the line code in it up to FDR.
    if let Some((hca, port)) = port_of(nic, hcas) {
        return port_rate(port).map(|bound| Bound {
            formula: format!("{} of port {} of {}", bound.formula, port.number, hca.name),
            ..bound
        });
    }
    nic.speed_mbit_s.as_ref().map(|&mbit| {
        let formula = match nic.kind {
            NicKind::VirtualFunction => format!("{mbit} Mbit/s of the port, shared by all its functions"),
            _ => format!("{mbit} Mbit/s"),
        };
        bound(mbit as f64 / 1000.0, Unit::GigabitsPerSecond, formula, "nic speed")
    })
}

fn without_a_wire(nic: &Nic) -> String {
    match nic.kind {
        NicKind::Bond | NicKind::Bridge | NicKind::Vlan | NicKind::Macvlan if !nic.lower.is_empty() => {
            format!("a {} has no link of its own; see {}", nic.kind.word(), nic.lower.join(", "))
        }
        kind => format!("a virtual device ({}) has no link that limits it", kind.word()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use seatrial_model::machine::{Bond, PciDevice, PciPath, PciPort};

    fn nic(mbit: u64) -> Nic {
        Nic {
            kind: NicKind::Physical,
            up: Known::Known(true),
            speed_mbit_s: Known::Known(mbit),
            ..Nic::default()
        }
    }

    #[test]
    fn a_narrow_slot_binds_before_a_fast_port() {
        let port = PciPort {
            address: "0000:3b:00.0".to_owned(),
            express: true,
            max_speed_gts: Known::Known(8.0),
            max_width: Known::Known(8),
            ..PciPort::default()
        };
        let pci = PciDevice { path: PciPath { ports: vec![port] }, ..PciDevice::default() };
        let fast = Nic { pci: Known::Known(pci), ..nic(100_000) };
        let bound = nic_rate(&fast).known().cloned().expect("known");
        assert_eq!(bound.provenance, "pcie link");
        assert!(matches!(nic_limit(&fast), Limit::Chain(bounds) if bounds.len() == 2));
        let slow = Nic { pci: fast.pci, ..nic(25_000) };
        assert_eq!(
            nic_rate(&slow).known().map(|bound| bound.value.to_string()).as_deref(),
            Some("25 Gbit/s")
        );
    }

    #[test]
    fn what_has_no_wire_has_no_limit() {
        let virtio = Nic { kind: NicKind::Virtio, ..nic(10_000) };
        assert!(nic_rate(&virtio).why().is_some_and(|why| why.contains("virtio")));
        let bond =
            Nic { kind: NicKind::Bond, lower: vec!["eth0".to_owned(), "eth1".to_owned()], ..nic(20_000) };
        assert_eq!(nic_rate(&bond).why(), Some("a bond has no link of its own; see eth0, eth1"));
        let down = Nic { up: Known::Known(false), ..nic(10_000) };
        assert!(nic_rate(&down).why().is_some_and(|why| why.contains("not up")));
        let silent = Nic { speed_mbit_s: Known::unknown("the driver does not tell"), ..nic(0) };
        assert_eq!(nic_rate(&silent).why(), Some("the driver does not tell"));
    }

    /// A bond of two ports of 25 Gbit/s and one of 10, with the last named first.
    fn bonded(mode: &str, policy: &str) -> Vec<Nic> {
        let member = |name: &str, mbit| Nic { name: name.to_owned(), ..nic(mbit) };
        let bond = Nic {
            name: "bond0".to_owned(),
            kind: NicKind::Bond,
            lower: ["eth0", "eth1", "eth2"].map(str::to_owned).to_vec(),
            bond: Some(Bond {
                mode: Known::Known(mode.to_owned()),
                hash_policy: Known::Known(policy.to_owned()),
                active: (mode == "active-backup").then(|| "eth0".to_owned()),
                ..Bond::default()
            }),
            ..nic(60_000)
        };
        vec![bond, member("eth0", 10_000), member("eth1", 25_000), member("eth2", 25_000)]
    }

    fn on(nics: &[Nic]) -> Links<'_> {
        Links { nics, hcas: &[] }
    }

    fn of_bond(all: &[Nic], flows: Option<u64>, sends: Option<bool>) -> f64 {
        match nic_limit_under(&all[0], on(all), Load { flows, sends }) {
            Limit::Chain(bounds) => bounds[0].value.value(),
            Limit::Unknown { reason } | Limit::AtMost { reason, .. } => panic!("{reason}"),
        }
    }

    #[test]
    fn a_flow_takes_one_member_and_many_flows_take_all_that_the_policy_reaches() {
        let hashed = bonded("802.3ad", "layer3+4");
        let rates =
            [Some(1), Some(2), Some(3), Some(9), None].map(|flows| of_bond(&hashed, flows, Some(true)));
        assert_eq!(rates, [25.0, 50.0, 60.0, 60.0, 60.0]);
        // Ports are not hashed: one member sends between two hosts, but the switch may spread replies.
        let by_address = bonded("802.3ad", "layer2+3");
        assert_eq!(of_bond(&by_address, Some(8), Some(true)), 25.0);
        assert_eq!(of_bond(&by_address, Some(8), Some(false)), 60.0);
        assert_eq!(of_bond(&bonded("balance-rr", "layer2"), Some(1), Some(true)), 60.0);
        assert_eq!(of_bond(&bonded("broadcast", "layer2"), Some(8), None), 10.0);
        assert_eq!(
            of_bond(&bonded("active-backup", "layer2"), Some(8), None),
            10.0,
            "the active one is the slow one"
        );
    }

    #[test]
    fn a_member_that_is_down_carries_nothing_and_a_silent_one_leaves_the_bond_unknown() {
        let mut all = bonded("802.3ad", "layer3+4");
        all[2].up = Known::Known(false);
        assert_eq!(of_bond(&all, None, None), 35.0);
        all[1].speed_mbit_s = Known::unknown("the driver does not tell");
        let limit = nic_limit_under(&all[0], on(&all), Load::BEST);
        assert!(
            matches!(limit, Limit::Unknown { reason } if reason == "its member eth0: the driver does not tell")
        );
    }

    #[test]
    fn a_vlan_is_as_fast_as_what_it_stands_on() {
        let mut all = bonded("802.3ad", "layer3+4");
        let vlan = |lower: &str| Nic {
            kind: NicKind::Vlan,
            name: "v".to_owned(),
            lower: vec![lower.to_owned()],
            ..nic(1)
        };
        all.push(vlan("bond0"));
        let links = on(&all);
        let one = Load { flows: Some(1), sends: None };
        let Limit::Chain(bounds) = nic_limit_under(&all[4], links, one) else { panic!("no limit") };
        assert_eq!((bounds[0].value.value(), bounds[0].provenance.as_str()), (25.0, "bond"));
        assert_eq!(
            bounds[0].formula,
            "eth1 25000 Mbit/s (802.3ad: 1 flow on 3 members, each flow on one of them by layer3+4)"
        );
        let Limit::Chain(bounds) = nic_limit_under(&vlan("eth0"), links, one) else { panic!("no limit") };
        assert_eq!(bounds[0].provenance, "nic speed");
        assert!(matches!(nic_limit_under(&vlan("gone"), links, one), Limit::Unknown { .. }));
    }
}
