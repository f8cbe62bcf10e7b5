//! Data rate of an RDMA port by its lanes.
//!
//! sysfs shows the signalling rate up to QDR and the data rate from EDR on. Lanes and codes (InfiniBand Architecture
//! Specification, volume 2, "Link/Phy Interface"): SDR, DDR and QDR 2.5, 5 and 10 Gbit/s with 8b/10b; FDR10 10.3125,
//! FDR 14.0625 and EDR 25.78125 Gbit/s with 64b/66b; HDR, NDR and XDR 53.125, 106.25 and 212.5 Gbit/s with 256b/257b
//! and Reed-Solomon correction of 514 in 544 symbols.

use seatrial_model::machine::{HcaPort, Known};
use seatrial_model::{Bound, Unit};

use super::bound;
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
    fn a_port_that_is_down_or_contradicts_itself_has_no_rate() {
        let down = HcaPort { state: Known::Known("DOWN".to_owned()), ..port("InfiniBand", 10.0, 4, "SDR") };
        assert!(port_rate(&down).why().is_some_and(|why| why.contains("DOWN")));
        let odd = port("InfiniBand", 900.0, 4, "HDR");
        assert!(port_rate(&odd).why().is_some_and(|why| why.contains("contradicts itself")));
        assert!(
            !port_rate(&HcaPort { state: Known::unknown("why"), ..port("Ethernet", 100.0, 4, "EDR") })
                .is_known()
        );
        assert!(!port_rate(&port("Carrier pigeon", 1.0, 1, "SDR")).is_known());
    }
}
