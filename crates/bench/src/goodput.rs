//! How much of a link's rate is payload: what headers, checks and gaps leave of it.
//!
//! On Ethernet every packet is framed by 14 B of addresses and type, 4 B of check sequence, 8 B of preamble and start
//! delimiter and a gap of 12 B at least (IEEE 802.3-2022, clauses 3 and 4.4.2); a VLAN's tag takes 4 B more (IEEE
//! 802.1Q). IP over InfiniBand in datagram mode has 4 B of its own (RFC 4391, section 6) behind the headers of the
//! fabric: LRH 8, BTH 12 and DETH 8 in front, ICRC 4 and VCRC 2 behind (InfiniBand Architecture Specification 1, release
//! 1.3, chapters 5.2 and 9). In connected mode a packet of up to 65,520 B is one message of a reliable connection (RFC
//! 4755): DETH is not there, and the fabric cuts the message into packets of its own of 4096 B at most, each with headers
//! and checks. Headers of IP and TCP are those of RFC 791, RFC 8200 and RFC 9293 without extensions; TCP's
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
    /// IP over InfiniBand, connected mode.
    InfinibandConnected,
}

/// The largest packet of an InfiniBand fabric. Where a fabric has smaller ones there are more headers: what is derived
/// from this one is a bound all the same.
const IB_PACKET: u64 = 4096;

/// Version of the internet protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ip {
    V4,
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
    Udp,
}

/// The bytes of a full packet by who counts them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Goodput {
    pub payload: u64,
    /// Bytes that the link carries for it, gaps included.
    pub wire: u64,
    /// Bytes of it that cross the card's bus.
    pub bus: u64,
    /// Bytes of it that a queueing discipline counts.
    pub queued: u64,
    /// How `payload` and `wire` follow from the MTU.
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
            Framing::InfinibandConnected => {
                let packets = (mtu + 4).div_ceil(IB_PACKET);
                let text = format!("IPoIB 4 + {packets} x (LRH 8 + BTH 12 + checks 6)");
                (4, packets * (8 + 12 + 4 + 2), text)
            }
        };
        let wire = mtu + frame + around;
        // A VLAN's tag is beside the packet until the card sends it. In front of IPoIB's header the kernel has the address
        // of the peer, which it counts (Linux drivers/infiniband/ulp/ipoib/ipoib.h, IPOIB_HARD_LEN).
        let queued = mtu + if matches!(framing, Framing::Ethernet { .. }) { 14 } else { 24 };
        let formula = format!(
            "{payload} / {wire} (MTU {mtu} - {ip_word} {ip_bytes} - {transport_text}, over MTU {mtu} + {framing_text})"
        );
        Some(Self { payload, wire, bus: mtu + frame, queued, formula })
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
            nominal: (!bus).then_some(bound.value),
            ..Bound::new(value, format!("{} x {formula}", bound.formula), bound.provenance.as_str())
        }
    }
}

impl Goodput {
    /// What a queueing discipline that shapes to so many bytes a second leaves for payload, when it counts each packet
    /// larger by `overhead` bytes than it is.
    pub fn shaped(&self, kind: &str, bytes_per_second: u64, overhead: u32) -> Bound {
        let counted = self.queued + u64::from(overhead);
        let mbit = bytes_per_second as f64 * 8e-6;
        let gbit = mbit / 1e3 * self.payload as f64 / counted as f64;
        let more = if overhead > 0 { format!(" + {overhead}") } else { String::new() };
        let value = Quantity::new(gbit, Unit::GigabitsPerSecond);
        let formula =
            format!("{mbit} Mbit/s x {} / {counted} (packets with their link's header{more})", self.payload);
        Bound::new(value.expect("finite numbers, and none of them 0 below"), formula, format!("qdisc {kind}"))
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
        // 65,524 B are 16 packets of the fabric.
        let connected = payload_and_wire(Framing::InfinibandConnected, Ip::V4, TCP, 65_520);
        assert_eq!(connected, (65_468, 65_520 + 4 + 16 * 26));
        assert_eq!(Goodput::of(PLAIN, Ip::V6, TCP, 72), None);
    }

    #[test]
    fn a_shaper_counts_frames_without_their_gaps() {
        let goodput = Goodput::of(Framing::Ethernet { tags: 1 }, Ip::V4, TCP, 9000).expect("fits");
        let bound = goodput.shaped("tbf", 25_000_000, 0);
        assert!((bound.value.value() - 0.2 * 8948.0 / 9014.0).abs() < 1e-12, "{}", bound.value);
        assert_eq!(bound.formula, "200 Mbit/s x 8948 / 9014 (packets with their link's header)");
        assert_eq!(bound.provenance, "qdisc tbf");
        let larger = goodput.shaped("tbf", 25_000_000, 24).value.value();
        assert!((larger - 0.2 * 8948.0 / 9038.0).abs() < 1e-12, "{larger}");
    }

    #[test]
    fn a_bound_says_what_was_taken_off() {
        let goodput = Goodput::of(PLAIN, Ip::V4, TCP, 1500).expect("fits");
        let port = Bound::new("10 Gbit/s".parse().unwrap(), "10000 Mbit/s", "nic speed");
        let bound = goodput.within(&port, false);
        assert_eq!(bound.nominal, Some(port.value));
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
