//! RDMA ports: data rate of the port, and of its path to the CPU.

use seatrial_model::machine::{Hca, HcaPort, Known, Nic};
use seatrial_model::{Bound, Limit, Quantity};

use super::packet::{RdmaTraffic, on_wire};
use super::{Links, Load, nic_limit_under, port_rate, tightest, with_way};

/// All bounds on a port's data rate in one direction.
pub fn hca_limit(hca: &Hca, port: &HcaPort) -> Limit {
    if hca.is_software {
        let reason = "it is a software device; the interface below has the limit".to_owned();
        return Limit::Unknown { reason };
    }
    with_way(port_rate(port), &hca.pci)
}

/// The same; the bound of a software device is the rate of its interface in `nics`.
pub fn hca_limit_on(hca: &Hca, port: &HcaPort, nics: &[Nic]) -> Limit {
    if !hca.is_software {
        return hca_limit(hca, port);
    }
    let under = |name: &String| nics.iter().find(|nic| nic.name == *name);
    let Some(nic) = port.netdevs.first().and_then(under) else { return hca_limit(hca, port) };
    match nic_limit_under(nic, Links { nics, hcas: &[] }, Load::BEST) {
        Limit::Unknown { reason } => {
            Limit::Unknown { reason: format!("it is a software device over {}: {reason}", nic.name) }
        }
        other => other,
    }
}

/// All bounds on a port's payload rate in one direction: the port's rate less headers, and the path to the CPU.
pub fn hca_payload_limit(hca: &Hca, port: &HcaPort, nics: &[Nic], traffic: &RdmaTraffic) -> Limit {
    let is_ethernet = port.link_layer.known().is_none_or(|layer| layer != "InfiniBand");
    let wire = match on_wire(traffic, is_ethernet) {
        Ok(wire) => wire,
        Err(reason) => return Limit::Unknown { reason },
    };
    let mut bounds = match hca_limit_on(hca, port, nics) {
        Limit::Chain(bounds) => bounds,
        unknown => return unknown,
    };
    // The path to the CPU carries no headers of the wire.
    for bound in bounds.iter_mut().filter(|bound| bound.provenance != "pcie link") {
        let share = traffic.message_bytes as f64 / wire.bytes as f64;
        let value = Quantity::new(bound.value.value() * share, bound.value.unit());
        bound.nominal = Some(bound.value);
        bound.value = value.expect("a part of a finite number");
        bound.formula = format!(
            "{} x {} / {} bytes on the wire: {}",
            bound.formula, traffic.message_bytes, wire.bytes, wire.words
        );
    }
    Limit::Chain(bounds)
}

/// The tightest bound on a port's data rate in one direction.
pub fn hca_rate(hca: &Hca, port: &HcaPort) -> Known<Bound> {
    tightest(hca_limit(hca, port))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn port(layer: &str, rate: f64, lanes: u32, class: &str) -> HcaPort {
        let word = |text: &str| Known::Known(text.to_owned());
        HcaPort {
            number: 1,
            state: word("ACTIVE"),
            link_layer: word(layer),
            rate_gbit_s: Known::Known(rate),
            lanes: Known::Known(lanes),
            speed_class: word(class),
            ..HcaPort::default()
        }
    }

    #[test]
    fn payload_is_what_headers_leave_of_the_port_and_all_of_the_bus() {
        use seatrial_sys::verbs::{Transport, VerbKind};
        let traffic = |mtu_bytes| RdmaTraffic {
            transport: Transport::Rc,
            verb: VerbKind::Write,
            mtu_bytes,
            message_bytes: 65536,
        };
        let of = |port: &HcaPort, mtu| match hca_payload_limit(&Hca::default(), port, &[], &traffic(mtu)) {
            Limit::Chain(bounds) => (format!("{:.3}", bounds[0].value), bounds[0].formula.clone()),
            Limit::Unknown { reason } | Limit::AtMost { reason, .. } => panic!("{reason}"),
        };
        let (value, formula) = of(&port("InfiniBand", 100.0, 4, "EDR"), 4096);
        assert_eq!(value, "99.345 Gbit/s");
        assert!(
            formula.ends_with(
                "x 65536 / 65968 bytes on the wire: 16 packets with 26 bytes of headers each (LRH 8, BTH 12, ICRC 4, \
                 VCRC 2) and RETH 16 once"
            ),
            "{formula}"
        );
        assert_eq!(of(&port("Ethernet", 100.0, 4, "EDR"), 1024).0, "92.565 Gbit/s");
        assert_eq!(of(&port("Ethernet", 100.0, 4, "EDR"), 4096).0, "98.014 Gbit/s");
    }

    #[test]
    fn software_is_as_fast_as_the_interface_under_it() {
        use seatrial_model::machine::NicKind;
        let played = Hca { is_software: true, ..Hca::default() };
        let port = HcaPort { netdevs: vec!["eth0".to_owned()], ..port("Ethernet", 2.5, 1, "SDR") };
        let nic = |kind| Nic {
            name: "eth0".to_owned(),
            kind,
            up: Known::Known(true),
            speed_mbit_s: Known::Known(25_000),
            ..Nic::default()
        };
        let Limit::Chain(bounds) = hca_limit_on(&played, &port, &[nic(NicKind::Physical)]) else {
            panic!("no limit")
        };
        assert_eq!((bounds[0].value.value(), bounds[0].provenance.as_str()), (25.0, "nic speed"));
        let Limit::Unknown { reason } = hca_limit_on(&played, &port, &[nic(NicKind::Virtio)]) else {
            panic!("a limit")
        };
        assert!(reason.starts_with("it is a software device over eth0: a virtual device"), "{reason}");
        assert!(matches!(hca_limit_on(&played, &port, &[]), Limit::Unknown { .. }));
    }

    #[test]
    fn a_software_device_has_no_rate_of_its_own() {
        let played = Hca { is_software: true, ..Hca::default() };
        let rate = hca_rate(&played, &port("Ethernet", 2.5, 1, "SDR"));
        assert!(rate.why().is_some_and(|why| why.contains("software")));
    }
}
