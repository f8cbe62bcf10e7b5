//! How much of a link's rate is payload: what headers, checks and gaps leave of it.
//!
//! On Ethernet every packet is framed by 14 B of addresses and type, 4 B of check sequence, 8 B of preamble and start
//! delimiter and a gap of 12 B at least (IEEE 802.3-2022, clauses 3 and 4.4.2); a VLAN's tag takes 4 B more (IEEE
//! 802.1Q). IP over InfiniBand in datagram mode has 4 B of its own (RFC 4391, section 6) behind the headers of the
//! fabric: LRH 8, BTH 12 and DETH 8 in front, ICRC 4 and VCRC 2 behind (InfiniBand Architecture Specification 1, release
//! 1.3, chapters 5.2 and 9). Headers of IP and TCP are those of RFC 791, RFC 8200 and RFC 9293 without extensions; TCP's
//! timestamps, on by default, take 10 B and two of padding in every segment (RFC 7323, section 3).

use seatrial_model::{Bound, Quantity, Unit};

/// What packets are framed in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Framing {
    /// Ethernet, with so many VLAN tags.
    Ethernet {
        /// Tags in each frame.
        tags: u32,
    },
    /// IP over InfiniBand, datagram mode.
    Infiniband,
}

/// Version of the internet protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ip {
    /// Version 4.
    V4,
    /// Version 6.
    V6,
}

/// What carries the payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transport {
    /// TCP, with or without timestamps.
    Tcp {
        /// Whether segments carry them.
        timestamps: bool,
    },
    /// UDP.
    Udp,
}

/// A full packet on its way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Goodput {
    /// Bytes of payload.
    pub payload: u64,
    /// Bytes that the link carries for it, gaps included.
    pub wire: u64,
    /// Bytes of it that cross the card's bus.
    pub bus: u64,
    /// How both come about.
    formula: String,
}

impl Goodput {
    /// That of the largest packets that fit into `mtu` bytes; none when nothing does.
    pub fn of(framing: Framing, ip: Ip, transport: Transport, mtu: u64) -> Option<Self> {
        let (ip_word, ip_bytes) = match ip {
            Ip::V4 => ("IPv4", 20),
            Ip::V6 => ("IPv6", 40),
        };
        let (transport_text, transport_bytes) = match transport {
            Transport::Tcp { timestamps: true } => ("TCP 20 - timestamps 12", 32),
            Transport::Tcp { timestamps: false } => ("TCP 20", 20),
            Transport::Udp => ("UDP 8", 8),
        };
        let payload = mtu.checked_sub(ip_bytes + transport_bytes).filter(|bytes| *bytes > 0)?;
        let (frame, around, framing_text) = match framing {
            Framing::Ethernet { tags } => {
                let tags = u64::from(tags) * 4;
                let text = if tags > 0 { format!(" + VLAN {tags}") } else { String::new() };
                (14 + tags, 4 + 8 + 12, format!("Ethernet 14{text} + check 4 + preamble 8 + gap 12"))
            }
            Framing::Infiniband => {
                (4, 8 + 12 + 8 + 4 + 2, "IPoIB 4 + LRH 8 + BTH 12 + DETH 8 + checks 6".to_owned())
            }
        };
        let wire = mtu + frame + around;
        let formula = format!(
            "{payload} / {wire} (MTU {mtu} - {ip_word} {ip_bytes} - {transport_text}, over MTU {mtu} + {framing_text})"
        );
        Some(Self { payload, wire, bus: mtu + frame, formula })
    }

    /// Payload of the bytes that the link carries, 0 to 1.
    pub fn share(&self) -> f64 {
        self.payload as f64 / self.wire as f64
    }

    /// What `bound` on the link's rate, or on the bus of a card, leaves for payload. `bus` says that it is the latter:
    /// there gaps, preambles and check sequences are not carried.
    pub fn within(&self, bound: &Bound, bus: bool) -> Bound {
        let (share, formula) = if bus {
            (self.payload as f64 / self.bus as f64, format!("{} / {}", self.payload, self.bus))
        } else {
            (self.share(), self.formula.clone())
        };
        let value = Quantity::new(bound.value.value() * share, bound.value.unit())
            .expect("a finite number times a share");
        let value = value.to(Unit::GigabitsPerSecond).unwrap_or(value);
        Bound {
            value,
            formula: format!("{} x {formula}", bound.formula),
            provenance: bound.provenance.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TCP: Transport = Transport::Tcp { timestamps: true };
    const PLAIN: Framing = Framing::Ethernet { tags: 0 };

    fn payload_and_wire(framing: Framing, ip: Ip, transport: Transport, mtu: u64) -> (u64, u64) {
        let goodput = Goodput::of(framing, ip, transport, mtu).expect("fits");
        (goodput.payload, goodput.wire)
    }

    #[test]
    fn the_well_known_frames_come_out() {
        assert_eq!(payload_and_wire(PLAIN, Ip::V4, TCP, 1500), (1448, 1538));
        assert_eq!(payload_and_wire(PLAIN, Ip::V4, TCP, 9000), (8948, 9038));
        assert_eq!(payload_and_wire(PLAIN, Ip::V6, TCP, 1500), (1428, 1538));
        assert_eq!(payload_and_wire(PLAIN, Ip::V4, Transport::Tcp { timestamps: false }, 1500), (1460, 1538));
        assert_eq!(payload_and_wire(PLAIN, Ip::V4, Transport::Udp, 1500), (1472, 1538));
        assert_eq!(payload_and_wire(Framing::Ethernet { tags: 1 }, Ip::V4, TCP, 1500), (1448, 1542));
        assert_eq!(payload_and_wire(Framing::Infiniband, Ip::V4, TCP, 2044), (1992, 2082));
        assert_eq!(Goodput::of(PLAIN, Ip::V6, TCP, 72), None);
    }

    #[test]
    fn a_bound_says_what_was_taken_off() {
        let goodput = Goodput::of(PLAIN, Ip::V4, TCP, 1500).expect("fits");
        let port = Bound {
            value: "10 Gbit/s".parse().unwrap(),
            formula: "10000 Mbit/s".to_owned(),
            provenance: "nic speed".to_owned(),
        };
        let bound = goodput.within(&port, false);
        assert!((bound.value.value() - 9.4148).abs() < 1e-4, "{}", bound.value);
        assert_eq!(
            bound.formula,
            "10000 Mbit/s x 1448 / 1538 (MTU 1500 - IPv4 20 - TCP 20 - timestamps 12, over MTU 1500 + Ethernet 14 + \
             check 4 + preamble 8 + gap 12)"
        );
        let bus = goodput.within(&Bound { value: "1 GB/s".parse().unwrap(), ..port }, true);
        assert!((bus.value.value() - 8.0 * 1448.0 / 1514.0).abs() < 1e-9);
        assert_eq!(bus.value.unit(), Unit::GigabitsPerSecond);
    }
}
