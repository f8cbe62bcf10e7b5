//! PCI Express: rate of the links between a device and the CPU in one direction.
//!
//! A lane moves one bit per transfer, less line coding (PCI Express Base Specification 6.0, sections 4.2.1 to 4.2.3):
//! 8b/10b up to 5 GT/s, 128b/130b from 8 to 32 GT/s. From 64 GT/s on, a transfer counts as one bit although a symbol
//! has two, and 256 B flits carry 242 B beside CRC (8 B) and FEC (6 B). Packet headers are not counted: their share
//! depends on the payload size.
//!
//! The lesser capability of both ends counts, not the current state, which an idle device may lower; the inventory
//! remarks a reduced link.

use seatrial_model::machine::{Known, PciLink, PciPath, PciPort};
use seatrial_model::{Bound, Limit, Unit};

use super::bound;
use crate::pci::either;

pub fn pcie_limit(path: &PciPath) -> Limit {
    match bounds(path) {
        Known::Known(bounds) => Limit::Chain(bounds),
        Known::Unknown(reason) => Limit::Unknown { reason },
    }
}

/// A bound per link with known numbers, the device's own first.
pub(super) fn bounds(path: &PciPath) -> Known<Vec<Bound>> {
    let links = path.links();
    if links.is_empty() {
        return Known::unknown("the kernel reports no PCI Express link between the device and the CPU");
    }
    let mut found = Vec::new();
    let mut why = None;
    for link in links {
        match link_bound(&link) {
            Known::Known(bound) => found.push(bound),
            Known::Unknown(reason) => why = why.or(Some(reason)),
        }
    }
    // An unknown link can only make the path slower, so the others still bound it.
    match why {
        Some(why) if found.is_empty() => Known::Unknown(why),
        _ => Known::Known(found),
    }
}

fn link_bound(link: &PciLink<'_>) -> Known<Bound> {
    // Numbers of an emulated port are those of the hypervisor's command line.
    let mut ends = [Some(link.lower), link.upper].into_iter().flatten().filter(|end| !end.emulated);
    let Some(first) = ends.next() else {
        return Known::unknown(format!("{} is a port emulated by a hypervisor", link.lower.address));
    };
    let second = ends.next();
    let least = |own: fn(&PciPort) -> &Known<f64>| either(own(first), second.map(own));
    let lanes = |own: fn(&PciPort) -> &Known<u32>| either(own(first), second.map(own));
    let speed = or_now(least(|end| &end.max_speed_gts), least(|end| &end.speed_gts));
    let width = or_now(lanes(|end| &end.max_width), lanes(|end| &end.width));
    speed.and_then(|(gts, speed_now)| {
        width.map(|(lanes, width_now)| {
            let (code, share) = line_code(gts);
            let value = gts * f64::from(lanes) * share / 8.0;
            let ends =
                second.map_or(first.address.clone(), |end| format!("{} - {}", first.address, end.address));
            let now = if speed_now || width_now { ", as it runs now" } else { "" };
            let formula = format!("{gts} GT/s x {lanes} lanes x {code} / 8 bit, link {ends}{now}");
            bound(value, Unit::GigabytesPerSecond, formula, "pcie link")
        })
    })
}

/// The capability, else the current state, marked as such.
fn or_now<T>(most: Known<T>, now: Known<T>) -> Known<(T, bool)> {
    most.map(|value| (value, false)).or_else(|| now.map(|value| (value, true)))
}

pub(super) fn line_code(gts: f64) -> (&'static str, f64) {
    match gts {
        _ if gts <= 5.0 => ("8/10", 8.0 / 10.0),
        _ if gts <= 32.0 => ("128/130", 128.0 / 130.0),
        _ => ("242/256", 242.0 / 256.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::tightest;

    fn port(address: &str, gts: f64, lanes: u32) -> PciPort {
        PciPort {
            address: address.to_owned(),
            express: true,
            max_speed_gts: Known::Known(gts),
            max_width: Known::Known(lanes),
            ..PciPort::default()
        }
    }

    fn told(ports: Vec<PciPort>) -> (String, String) {
        let bound = tightest(pcie_limit(&PciPath { ports })).known().cloned().expect("known");
        (format!("{:.3}", bound.value), bound.formula)
    }

    #[test]
    fn every_generation_has_its_line_code() {
        for (gts, lanes, expected) in [
            (2.5, 1, "0.250 GB/s"),
            (5.0, 8, "4.000 GB/s"),
            (8.0, 16, "15.754 GB/s"),
            (16.0, 16, "31.508 GB/s"),
            (32.0, 16, "63.015 GB/s"),
            (64.0, 16, "121.000 GB/s"),
        ] {
            assert_eq!(told(vec![port("a", gts, lanes)]).0, expected);
        }
    }

    #[test]
    fn the_lesser_end_of_the_narrowest_link_binds_and_is_named() {
        let ports =
            vec![port("nic", 16.0, 16), port("down", 16.0, 16), port("up", 16.0, 16), port("root", 16.0, 8)];
        let (value, formula) = told(ports);
        assert_eq!(value, "15.754 GB/s");
        assert_eq!(formula, "16 GT/s x 8 lanes x 128/130 / 8 bit, link up - root");
    }

    #[test]
    fn a_link_that_is_slow_while_idle_keeps_its_limit() {
        let idle = PciPort { speed_gts: Known::Known(2.5), width: Known::Known(16), ..port("gpu", 32.0, 16) };
        assert_eq!(told(vec![idle]).0, "63.015 GB/s");
    }

    #[test]
    fn says_when_only_the_present_state_is_told() {
        let now = PciPort {
            address: "gpu".to_owned(),
            express: true,
            speed_gts: Known::Known(8.0),
            width: Known::Known(4),
            ..PciPort::default()
        };
        assert_eq!(told(vec![now]).1, "8 GT/s x 4 lanes x 128/130 / 8 bit, link gpu, as it runs now");
    }

    #[test]
    fn made_up_ports_bound_nothing() {
        let made_up = PciPort { emulated: true, ..port("root", 2.5, 1) };
        assert_eq!(
            told(vec![port("gpu", 32.0, 16), made_up.clone()]).1,
            "32 GT/s x 16 lanes x 128/130 / 8 bit, link gpu"
        );
        assert!(bounds(&PciPath { ports: vec![made_up] }).why().is_some());
        assert!(bounds(&PciPath::default()).why().is_some());
    }

    #[test]
    fn a_silent_link_hides_no_other() {
        let silent = PciPort { express: true, ..PciPort::default() };
        let (_, formula) =
            told(vec![silent.clone(), silent.clone(), port("up", 8.0, 8), port("root", 8.0, 8)]);
        assert!(formula.ends_with("link up - root"), "{formula}");
        assert_eq!(bounds(&PciPath { ports: vec![silent] }).why(), Some("not recorded; not recorded"));
    }
}
