//! RDMA ports: data rate of the port, and of its path to the CPU.
//!
//! sysfs shows the signalling rate up to QDR and the data rate from EDR on. Lanes and codes (InfiniBand Architecture
//! Specification, volume 2, "Link/Phy Interface"): SDR, DDR and QDR 2.5, 5 and 10 Gbit/s with 8b/10b; FDR10 10.3125,
//! FDR 14.0625 and EDR 25.78125 Gbit/s with 64b/66b; HDR, NDR and XDR 53.125, 106.25 and 212.5 Gbit/s with 256b/257b
//! and Reed-Solomon correction of 514 in 544 symbols.

use seatrial_model::machine::{Hca, HcaPort, Known, Nic};
use seatrial_model::{Bound, Limit, Quantity, Unit};

use super::packet::{RdmaTraffic, on_wire};
use super::{Load, bound, nic_limit_under, tightest, with_way};
use crate::hca::otherwise_by_lanes;

const EIGHT_TEN: (&str, f64) = ("8/10", 8.0 / 10.0);
const SIXTY_FOUR: (&str, f64) = ("64/66", 64.0 / 66.0);
const CORRECTED: (&str, f64) = ("256/257 x 514/544", 256.0 / 257.0 * 514.0 / 544.0);

/// Speed class, Gbit/s per lane on the wire, line code.
const LANES: [(&str, f64, (&str, f64)); 9] = [
    ("SDR", 2.5, EIGHT_TEN),
    ("DDR", 5.0, EIGHT_TEN),
    ("QDR", 10.0, EIGHT_TEN),
    ("FDR10", 10.3125, SIXTY_FOUR),
    ("FDR", 14.0625, SIXTY_FOUR),
    ("EDR", 25.78125, SIXTY_FOUR),
    ("HDR", 53.125, CORRECTED),
    ("NDR", 106.25, CORRECTED),
    ("XDR", 212.5, CORRECTED),
];

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
    match nic_limit_under(nic, nics, Load::BEST) {
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

/// The bound of the port alone on its data rate in one direction.
pub fn port_rate(port: &HcaPort) -> Known<Bound> {
    // A port that is down shows the rate that it would start with.
    match &port.state {
        Known::Known(state) if state == "ACTIVE" => {}
        Known::Known(state) => {
            return Known::unknown(format!("the port is {state}, so no rate is negotiated"));
        }
        Known::Unknown(why) => return Known::Unknown(why.clone()),
    }
    port.link_layer.as_ref().and_then(|layer| match layer.as_str() {
        "InfiniBand" => infiniband(port),
        // Over Ethernet the class is translated from the port's speed, which is a data rate.
        "Ethernet" => port
            .rate_gbit_s
            .as_ref()
            .map(|&gbit| bound(gbit, Unit::GigabitsPerSecond, format!("{gbit} Gbit/s"), "port rate")),
        other => Known::unknown(format!("the rate of link layer {other:?} is unknown")),
    })
}

fn infiniband(port: &HcaPort) -> Known<Bound> {
    if let Some(expected) = otherwise_by_lanes(port) {
        let text = port.rate_text.known().map_or("the rate told", String::as_str);
        return Known::unknown(format!(
            "'{text}' contradicts itself: its lanes are {expected} Gbit/s together"
        ));
    }
    port.speed_class.as_ref().and_then(|class| {
        let Some((_, gbit, (code, share))) = LANES.iter().find(|(name, ..)| name == class) else {
            return Known::unknown(format!("the lanes of {class} are not in the table"));
        };
        port.lanes.as_ref().map(|&lanes| {
            let value = f64::from(lanes) * gbit * share;
            // Removes the rounding error of the factors.
            let value = (value * 1e6).round() / 1e6;
            let formula = format!("{lanes} lanes x {gbit} Gbit/s x {code} ({class})");
            bound(value, Unit::GigabitsPerSecond, formula, "port rate")
        })
    })
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

    fn rate(port: &HcaPort) -> String {
        port_rate(port).known().map(|bound| format!("{:.3}", bound.value)).expect("known")
    }

    #[test]
    fn takes_the_line_code_off_the_signalling_rate() {
        assert_eq!(rate(&port("InfiniBand", 40.0, 4, "QDR")), "32.000 Gbit/s");
        assert_eq!(rate(&port("InfiniBand", 56.0, 4, "FDR")), "54.545 Gbit/s");
        assert_eq!(rate(&port("InfiniBand", 100.0, 4, "EDR")), "100.000 Gbit/s");
        assert_eq!(rate(&port("InfiniBand", 200.0, 4, "HDR")), "200.000 Gbit/s");
        assert_eq!(rate(&port("InfiniBand", 100.0, 2, "HDR")), "100.000 Gbit/s");
        assert_eq!(rate(&port("InfiniBand", 400.0, 4, "NDR")), "400.000 Gbit/s");
        assert_eq!(rate(&port("InfiniBand", 800.0, 4, "XDR")), "800.000 Gbit/s");
    }

    #[test]
    fn takes_nothing_off_ethernet() {
        assert_eq!(rate(&port("Ethernet", 40.0, 4, "QDR")), "40.000 Gbit/s");
    }

    #[test]
    fn a_port_that_is_down_or_played_has_no_limit() {
        let down = HcaPort { state: Known::Known("DOWN".to_owned()), ..port("InfiniBand", 10.0, 4, "SDR") };
        assert!(port_rate(&down).why().is_some_and(|why| why.contains("DOWN")));
        let odd = port("InfiniBand", 900.0, 4, "HDR");
        assert!(port_rate(&odd).why().is_some_and(|why| why.contains("contradicts itself")));
        assert!(
            !port_rate(&HcaPort { state: Known::unknown("why"), ..port("Ethernet", 100.0, 4, "EDR") })
                .is_known()
        );
        let played = Hca { is_software: true, ..Hca::default() };
        assert!(
            hca_rate(&played, &port("Ethernet", 2.5, 1, "SDR"))
                .why()
                .is_some_and(|why| why.contains("software"))
        );
        assert!(!port_rate(&port("Carrier pigeon", 1.0, 1, "SDR")).is_known());
    }
}
