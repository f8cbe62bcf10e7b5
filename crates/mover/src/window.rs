//! The TCP window of data connections: left to the kernel, the product of bandwidth and delay, or so many bytes.

use std::net::TcpStream;
use std::str::FromStr;

use seatrial_bench::interface_of;
use seatrial_model::Bytes;
use seatrial_sys::net::tcp_info;
use seatrial_sys::root::SysRoot;
use serde::Serialize;

/// What is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Window {
    Auto,
    BandwidthDelay,
    Fixed(u64),
}

/// Smallest and largest window: less is less than a packet, more is more than TCP's scale takes.
const LEAST: u64 = 4 << 10;
const MOST: u64 = 1 << 30;

/// A window in bytes, and what it was computed from.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct ChosenWindow {
    pub bytes: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub link_mbit_s: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub round_trip_us: Option<u64>,
}

impl FromStr for Window {
    type Err = String;

    fn from_str(typed: &str) -> Result<Self, String> {
        match typed {
            "auto" => Ok(Self::Auto),
            "bdp" => Ok(Self::BandwidthDelay),
            typed => match typed.parse::<Bytes>() {
                Ok(bytes) if (LEAST..=MOST).contains(&bytes.get()) => Ok(Self::Fixed(bytes.get())),
                _ => Err(format!("write auto, bdp, or a size from {} to {}", Bytes(LEAST), Bytes(MOST))),
            },
        }
    }
}

impl Window {
    /// The bytes for connections beside `known`; none leaves it to the kernel.
    ///
    /// # Errors
    /// When the product is asked for, and speed or round trip are not known.
    pub fn choose(self, known: &TcpStream) -> Result<Option<ChosenWindow>, String> {
        match self {
            Self::Auto => Ok(None),
            Self::Fixed(bytes) => Ok(Some(ChosenWindow { bytes, link_mbit_s: None, round_trip_us: None })),
            Self::BandwidthDelay => {
                let unknown = |what: &str| format!("{what}; give the window in bytes");
                let speed = interface_of(known).and_then(|name| {
                    SysRoot::live()
                        .value(format!("/sys/class/net/{name}/speed"))
                        .ok()
                        .filter(|speed: &u64| *speed > 0)
                });
                let speed =
                    speed.ok_or_else(|| unknown("the kernel does not tell the speed of the interface"))?;
                let told = tcp_info(known).ok().and_then(|info| info.min_rtt_us.or(info.rtt_us));
                let delay =
                    told.filter(|us| *us > 0).ok_or_else(|| unknown("the kernel tells no round trip"))?;
                Ok(Some(bandwidth_delay(speed, delay.into())))
            }
        }
    }
}

/// Gbit/s / 8 x round trip, as bbcp's manual has it.
fn bandwidth_delay(link_mbit_s: u64, round_trip_us: u64) -> ChosenWindow {
    // Mbit/s x us are bits.
    let bytes = (link_mbit_s.saturating_mul(round_trip_us) / 8).clamp(LEAST, MOST);
    ChosenWindow { bytes, link_mbit_s: Some(link_mbit_s), round_trip_us: Some(round_trip_us) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_product_of_bandwidth_and_delay_is_that_of_the_manual() {
        // 100 Gbit/s / 8 x 10 ms.
        assert_eq!(bandwidth_delay(100_000, 10_000).bytes, 125_000_000);
        assert_eq!(bandwidth_delay(1000, 1).bytes, LEAST);
    }

    #[test]
    fn words_and_sizes_are_taken_and_nothing_else() {
        assert_eq!("auto".parse(), Ok(Window::Auto));
        assert_eq!("bdp".parse(), Ok(Window::BandwidthDelay));
        assert_eq!("4MiB".parse(), Ok(Window::Fixed(4 << 20)));
        for typed in ["1 B", "2 GiB", "large"] {
            let why = typed.parse::<Window>().expect_err("refused");
            assert_eq!(why, "write auto, bdp, or a size from 4 KiB to 1 GiB", "{typed}");
        }
    }
}
