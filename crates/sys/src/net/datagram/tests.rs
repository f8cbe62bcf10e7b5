//! Datagrams over the loopback.

use std::net::UdpSocket;
use std::time::Duration;

use rustix::io::Errno;

use super::*;

fn pair(address: &str) -> (UdpSocket, UdpSocket) {
    let to = UdpSocket::bind((address, 0)).expect("a port");
    let from = UdpSocket::bind((address, 0)).expect("a port");
    from.connect(to.local_addr().expect("told")).expect("connected");
    (from, to)
}

fn send(from: &UdpSocket, layout: Layout, count: u64, many: usize) {
    let mut out = Outgoing::new(layout);
    let mut sent = 0_u64;
    while sent < count {
        let first = sent as usize % layout.slots;
        for ahead in 0..many {
            let slot = (first + ahead) % layout.slots;
            out.slot(slot)[..8].copy_from_slice(&(sent + ahead as u64).to_le_bytes());
        }
        sent += out.send(from, first, many.min((count - sent) as usize)).expect("sent") as u64;
    }
}

fn receive(to: &UdpSocket, incoming: &mut Incoming, count: usize) -> Vec<(u64, usize)> {
    to.set_read_timeout(Some(Duration::from_secs(30))).expect("set");
    let mut found = Vec::new();
    while found.len() < count {
        match incoming.receive(to) {
            Ok(_) => found.extend(incoming.datagrams().map(|datagram| {
                assert!(!datagram.truncated);
                let number = u64::from_le_bytes(datagram.bytes[..8].try_into().expect("8 bytes"));
                (number, datagram.bytes.len())
            })),
            Err(Errno::AGAIN) => {
                to.peek(&mut [0; 1]).expect("something comes within 30 s");
            }
            Err(error) => panic!("{error}"),
        }
    }
    found
}

#[test]
fn datagrams_come_whole_and_in_order_however_they_are_handed_over() {
    for (segments, coalesce) in [(1, false), (1, true), (5, false), (5, true), (64, true)] {
        for address in ["127.0.0.1", "::1"] {
            let Ok(_) = UdpSocket::bind((address, 0)) else { continue };
            let (from, to) = pair(address);
            if segments > 1 {
                segment(&from, 200).expect("cut");
            }
            receive_coalesced(&to, coalesce).expect("put together");
            grant_receive_buffer(&to, Some(200 << 10)).expect("asked for");
            // 17 datagrams in each call over 30 slots wrap at every offset.
            let layout = Layout { message: 200, slots: 30, segments };
            send(&from, layout, 120, 17);
            let mut incoming = Incoming::new(if coalesce { 65_536 } else { 200 }, 8);
            let found = receive(&to, &mut incoming, 120);
            let wanted: Vec<_> = (0..120).map(|number| (number, 200)).collect();
            assert_eq!(found, wanted, "{address}, {segments} a piece, coalesced: {coalesce}");
        }
    }
}

#[test]
fn what_is_no_longer_cut_goes_one_by_one() {
    let (from, to) = pair("127.0.0.1");
    let mut out = Outgoing::new(Layout { message: 100, slots: 20, segments: 10 });
    out.uncut();
    (0..20).for_each(|slot| out.slot(slot)[0] = slot as u8);
    assert_eq!(out.send(&from, 7, 20), Ok(20));
    let mut room = [0; 200];
    let came: Vec<(usize, u8)> = (0..20).map(|_| (to.recv(&mut room).expect("there"), room[0])).collect();
    let wanted: Vec<_> = (7..27).map(|slot| (100, slot % 20)).collect();
    assert_eq!(came, wanted);
}

#[test]
fn a_datagram_that_is_too_long_is_told_and_an_empty_one_is_one_too() {
    let (from, to) = pair("127.0.0.1");
    from.send(&[7; 300]).and_then(|_| from.send(&[])).and_then(|_| from.send(&[1])).expect("sent");
    to.peek(&mut [0; 1]).expect("there");
    let mut incoming = Incoming::new(100, 4);
    let mut found = Vec::new();
    while found.len() < 3 {
        if incoming.receive(&to).is_ok() {
            found.extend(incoming.datagrams().map(|datagram| (datagram.bytes.len(), datagram.truncated)));
        }
    }
    assert_eq!(found, [(100, true), (0, false), (1, false)]);
    assert_eq!(incoming.receive(&to), Err(Errno::AGAIN));
    assert_eq!(incoming.datagrams().count(), 0);
}

#[test]
fn what_finds_no_room_is_counted_exactly() {
    let (from, to) = pair("127.0.0.1");
    let granted = grant_receive_buffer(&to, Some(16 << 10)).expect("asked for");
    assert!(granted.bytes >= 4 << 10 && granted.bytes <= 16 << 10, "{granted:?}");
    assert_eq!(drops(&to), Ok(0));
    send(&from, Layout { message: 1000, slots: 10, segments: 1 }, 200, 10);
    to.set_nonblocking(true).expect("set");
    let mut room = [0; 2000];
    let came = std::iter::from_fn(|| to.recv(&mut room).ok()).count() as u32;
    assert!(came > 0 && came < 200, "{came}");
    assert_eq!(drops(&to), Ok(200 - came));
}

#[test]
fn a_buffer_is_what_was_granted_and_not_what_was_asked_for() {
    let (socket, _) = pair("127.0.0.1");
    let before = grant_receive_buffer(&socket, None).expect("told");
    assert!(before.bytes > 0 && !before.forced);
    let most = 1 << 30;
    let after = grant_receive_buffer(&socket, Some(most)).expect("asked for");
    assert!(after.bytes <= most && after.bytes >= before.bytes, "{after:?}");
    assert!(!after.forced || after.bytes == most, "only what was forced passes the maximum: {after:?}");
}

#[test]
fn a_datagram_larger_than_the_path_is_refused_where_fragments_are() {
    for address in ["127.0.0.1", "::1"] {
        let Ok(_) = UdpSocket::bind((address, 0)) else { continue };
        let (from, to) = pair(address);
        let mtu = path_mtu(&from).expect("told");
        assert!(mtu >= 1280, "{mtu}");
        assert!(path_mtu(&to).is_err(), "it is not connected");
        refuse_fragments(&from).and_then(|()| report_local_drops(&from)).expect("set");
        let fits = (mtu as usize - 48).min(65_000);
        let mut out = Outgoing::new(Layout { message: fits, slots: 1, segments: 1 });
        assert_eq!(out.send(&from, 0, 1), Ok(1));
        if mtu < 65_000 {
            let mut out = Outgoing::new(Layout { message: mtu as usize, slots: 1, segments: 1 });
            assert_eq!(out.send(&from, 0, 1), Err(Errno::MSGSIZE));
        }
    }
}

#[test]
fn a_piece_holds_no_more_than_a_packet_may() {
    assert_eq!(most_segments(100), MOST_SEGMENTS);
    assert_eq!((most_segments(1448), most_segments(8900), most_segments(65_507)), (45, 7, 1));
}

#[test]
fn sockets_are_waited_for_together_and_no_longer_than_told() {
    let (from, first) = pair("127.0.0.1");
    let (_other, second) = pair("127.0.0.1");
    let mut both = Readable::new([&first, &second]);
    assert_eq!(both.wait(Duration::from_millis(1)), Ok(false));
    from.send(&[1]).expect("sent");
    while !both.wait(Duration::from_millis(5)).expect("waited") {}
}

#[test]
fn timers_can_be_fine() {
    fine_timers().expect("set");
}
