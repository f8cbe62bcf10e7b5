//! Network interfaces: the rate of the port, and of its way to the processor.
//!
//! The rate is that of the link, frames, gaps and headers included; how much of it is payload depends on the protocol.

use seatrial_model::machine::{Known, Nic, NicKind};
use seatrial_model::{Bound, Limit, Unit};

use super::{bound, tightest, with_way};

/// All bounds on an interface's rate in one direction.
pub fn nic_limit(nic: &Nic) -> Limit {
    with_way(port(nic), &nic.pci)
}

/// The tightest bound on an interface's rate in one direction.
pub fn nic_rate(nic: &Nic) -> Known<Bound> {
    tightest(nic_limit(nic))
}

fn port(nic: &Nic) -> Known<Bound> {
    if nic.kind.is_virtual() {
        return Known::Unknown(without_a_wire(nic));
    }
    if nic.up == Known::Known(false) {
        return Known::unknown("the port is not up, so no rate is agreed upon");
    }
    nic.speed_mbit_s.as_ref().map(|&mbit| {
        let formula = match nic.kind {
            NicKind::VirtualFunction => format!("{mbit} Mbit/s, the port's, shared with all its functions"),
            _ => format!("{mbit} Mbit/s"),
        };
        bound(mbit as f64 / 1000.0, Unit::GigabitsPerSecond, formula, "nic speed")
    })
}

fn without_a_wire(nic: &Nic) -> String {
    match nic.kind {
        NicKind::Bond | NicKind::Bridge | NicKind::Vlan | NicKind::Macvlan if !nic.lower.is_empty() => {
            format!("a {} has no wire of its own; see {}", nic.kind.word(), nic.lower.join(", "))
        }
        kind => format!("a virtual device ({}) has no wire that would limit it", kind.word()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use seatrial_model::machine::{PciDevice, PciPath, PciPort};

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
        assert_eq!(nic_rate(&bond).why(), Some("a bond has no wire of its own; see eth0, eth1"));
        let down = Nic { up: Known::Known(false), ..nic(10_000) };
        assert!(nic_rate(&down).why().is_some_and(|why| why.contains("not up")));
        let silent = Nic { speed_mbit_s: Known::unknown("the driver does not tell"), ..nic(0) };
        assert_eq!(nic_rate(&silent).why(), Some("the driver does not tell"));
    }
}
