//! Payload share of RDMA packets.
//!
//! Headers and checks: InfiniBand Architecture Specification, volume 1, chapter 5 (local route header 8 bytes, base
//! transport 12, datagram 8, RDMA 16, acknowledgement 4, invariant check 4, variant check 2) and annex A17 (RoCE
//! version 2: over UDP, without local route header and variant check); Ethernet, IEEE 802.3 (preamble and delimiter
//! 8, gap 12, header 14, check 4, frames of at least 64). Not counted, so that the bound stays an upper bound:
//! delimiters and flow control of InfiniBand, VLAN tags, acknowledgements, IPv6 and the global route header.

use seatrial_sys::verbs::{Transport, VerbKind};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RdmaTraffic {
    pub transport: Transport,
    pub verb: VerbKind,
    pub mtu_bytes: u32,
    pub message_bytes: u64,
}

/// Base transport header and invariant check, in every packet.
const ALWAYS: u64 = 12 + 4;
/// Local route header and variant check of InfiniBand.
const INFINIBAND: u64 = 8 + 2;
/// Header and check of an Ethernet frame.
const FRAME: u64 = 14 + 4;
/// Preamble, delimiter and gap of a frame.
const AROUND: u64 = 8 + 12;
const SHORTEST: u64 = 64;
/// Headers of IPv4 and UDP.
const UDP: u64 = 20 + 8;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct OnWire {
    pub bytes: u64,
    pub words: String,
}

/// Bytes of a message on the wire in the direction of its data, or why they are unknown.
pub(super) fn on_wire(traffic: &RdmaTraffic, is_ethernet: bool) -> Result<OnWire, String> {
    let RdmaTraffic { transport, verb, mtu_bytes, message_bytes } = *traffic;
    let mtu = u64::from(mtu_bytes);
    if message_bytes == 0 || mtu == 0 {
        return Err("an empty message has no payload that the rate of the port could limit".to_owned());
    }
    if verb == VerbKind::Atomic {
        return Err("atomic operations are limited by the adapter, not by the rate of the port".to_owned());
    }
    if !transport.allows(verb) || (transport == Transport::Ud && message_bytes > mtu) {
        return Err(format!("{transport} carries no such message"));
    }
    let packets = message_bytes.div_ceil(mtu);
    let datagram = if transport == Transport::Ud { 8 } else { 0 };
    // The first packet of a write has the peer's address; first and last packet of a read's answer have an
    // acknowledgement.
    let once = match verb {
        VerbKind::Write => 16,
        VerbKind::Read => 4 * packets.min(2),
        VerbKind::Send | VerbKind::Atomic => 0,
    };
    let last = message_bytes - (packets - 1) * mtu;
    let (each, words) = if is_ethernet {
        (AROUND + FRAME + UDP + ALWAYS + datagram, "Ethernet 38, IPv4 20, UDP 8, BTH 12, ICRC 4")
    } else {
        (INFINIBAND + ALWAYS + datagram, "LRH 8, BTH 12, ICRC 4, VCRC 2")
    };
    let words = if datagram > 0 { format!("{words}, DETH 8") } else { words.to_owned() };
    // Payloads are padded to four bytes, which only the last packet needs.
    let mut bytes = message_bytes.next_multiple_of(4) + packets * each + once;
    if is_ethernet {
        let frame = last.next_multiple_of(4) + each - AROUND + if packets == 1 { once } else { 0 };
        bytes += SHORTEST.saturating_sub(frame);
    }
    let of = if packets == 1 { "1 packet".to_owned() } else { format!("{packets} packets") };
    let once = match verb {
        VerbKind::Write => " and RETH 16 once".to_owned(),
        VerbKind::Read => format!(" and AETH {once} in all"),
        VerbKind::Send | VerbKind::Atomic => String::new(),
    };
    Ok(OnWire { bytes, words: format!("{of} with {each} bytes of headers each ({words}){once}") })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn traffic(transport: Transport, verb: VerbKind, mtu_bytes: u32, message_bytes: u64) -> RdmaTraffic {
        RdmaTraffic { transport, verb, mtu_bytes, message_bytes }
    }

    fn bytes(transport: Transport, verb: VerbKind, mtu: u32, message: u64, is_ethernet: bool) -> u64 {
        on_wire(&traffic(transport, verb, mtu, message), is_ethernet).expect("known").bytes
    }

    #[test]
    fn headers_are_counted_once_a_packet_and_addresses_once_a_message() {
        use Transport::{Rc, Uc, Ud};
        use VerbKind::{Read, Send, Write};
        assert_eq!(bytes(Rc, Send, 4096, 65536, false), 65536 + 16 * 26);
        assert_eq!(bytes(Rc, Write, 4096, 65536, false), 65536 + 16 * 26 + 16);
        assert_eq!(bytes(Rc, Read, 4096, 65536, false), 65536 + 16 * 26 + 8);
        assert_eq!(bytes(Rc, Read, 4096, 4096, false), 4096 + 26 + 4);
        assert_eq!(bytes(Ud, Send, 2048, 2048, false), 2048 + 34);
        assert_eq!(bytes(Uc, Write, 1024, 65536, true), 65536 + 64 * 82 + 16);
        assert_eq!(bytes(Ud, Send, 4096, 4096, true), 4096 + 90);
    }

    #[test]
    fn short_frames_are_filled_up() {
        // 14 + 28 + 12 + 4 + 4 of payload + 4 is 66 already; one byte is padded to four.
        assert_eq!(bytes(Transport::Rc, VerbKind::Send, 1024, 1, true), 20 + 66);
        assert_eq!(bytes(Transport::Rc, VerbKind::Send, 1024, 1, false), 4 + 26);
    }

    #[test]
    fn what_the_port_does_not_bound_has_a_reason() {
        use VerbKind::{Atomic, Read, Send};
        let why = |transport, verb, message| {
            on_wire(&traffic(transport, verb, 1024, message), true).expect_err("unknown")
        };
        assert!(why(Transport::Rc, Atomic, 8).contains("adapter"));
        assert!(why(Transport::Rc, Send, 0).contains("empty"));
        assert_eq!(why(Transport::Uc, Read, 8), "UC carries no such message");
        assert_eq!(why(Transport::Ud, Send, 2048), "UD carries no such message");
    }
}
