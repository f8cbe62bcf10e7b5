//! TCP connections of this network namespace, those of the kernel itself too, by sock_diag(7). No privilege is needed.

use std::net::{IpAddr, SocketAddr};

use rustix::io::Errno;

use super::TcpInfo;
use crate::netlink::{Message, attribute, dump_of};

// linux/netlink.h, linux/sock_diag.h and linux/inet_diag.h: stable kernel interface.
const NETLINK_SOCK_DIAG: i32 = 4;
const SOCK_DIAG_BY_FAMILY: u16 = 20;
const INET_DIAG_INFO: u16 = 2;

/// Established connections, as a bit of the states (`TCP_ESTABLISHED`).
const ESTABLISHED: u32 = 1 << 1;

/// Bytes of `struct inet_diag_req_v2` and of `struct inet_diag_msg`; where the latter has the peer's port and address.
const REQUEST: usize = 56;
const ANSWER: usize = 72;
const PEER_PORT: usize = 6;
const PEER: usize = 24;

/// The round trip to `peer` in microseconds, as TCP smooths it (RFC 6298): the largest of several connections; `None` without
/// one.
pub(crate) fn round_trip_us(peer: SocketAddr) -> Result<Option<u32>, Errno> {
    let all = dump_of(NETLINK_SOCK_DIAG, SOCK_DIAG_BY_FAMILY, &request(peer))?;
    Ok(largest(&all, peer))
}

fn request(peer: SocketAddr) -> Vec<u8> {
    let family = if peer.is_ipv4() { libc::AF_INET } else { libc::AF_INET6 };
    let mut body = vec![family as u8, libc::IPPROTO_TCP as u8, 1 << (INET_DIAG_INFO - 1), 0];
    body.extend_from_slice(&ESTABLISHED.to_ne_bytes());
    // Of the addresses only the peer's port is asked for: the kernel compares no more.
    body.extend_from_slice(&[0; 2]);
    body.extend_from_slice(&peer.port().to_be_bytes());
    body.resize(REQUEST, 0);
    body
}

fn largest(answers: &[Message], peer: SocketAddr) -> Option<u32> {
    let address = match peer.ip() {
        IpAddr::V4(four) => four.octets().to_vec(),
        IpAddr::V6(six) => six.octets().to_vec(),
    };
    let is_peer = |body: &[u8]| {
        body.get(PEER..PEER + address.len()) == Some(&address)
            && body.get(PEER_PORT..PEER_PORT + 2) == Some(&peer.port().to_be_bytes())
    };
    let own = answers.iter().map(|answer| answer.body.as_slice()).filter(|body| is_peer(body));
    let infos = own.filter_map(|body| attribute(body.get(ANSWER..)?, INET_DIAG_INFO));
    infos.filter_map(|info| TcpInfo::parse(info).rtt_us).filter(|rtt| *rtt > 0).max()
}

#[cfg(test)]
mod tests {
    use std::net::{TcpListener, TcpStream};

    use super::*;
    use crate::netlink::tests::made;

    fn answer(peer: SocketAddr, rtt_us: u32) -> Message {
        let mut body = vec![0_u8; ANSWER];
        body[PEER_PORT..PEER_PORT + 2].copy_from_slice(&peer.port().to_be_bytes());
        let IpAddr::V4(four) = peer.ip() else { panic!("{peer}") };
        body[PEER..PEER + 4].copy_from_slice(&four.octets());
        let mut info = vec![0_u8; 104];
        // tcpi_rtt of struct tcp_info.
        info[68..72].copy_from_slice(&rtt_us.to_ne_bytes());
        body.extend(made(INET_DIAG_INFO, &info));
        Message { kind: SOCK_DIAG_BY_FAMILY, body }
    }

    #[test]
    fn of_several_connections_to_the_peer_the_largest_round_trip_counts() {
        let peer = |text: &str| text.parse::<SocketAddr>().expect("an address");
        let server = peer("10.0.0.1:2049");
        let all = [answer(server, 300), answer(server, 450), answer(peer("10.0.0.2:2049"), 9000)];
        assert_eq!(largest(&all, server), Some(450));
        assert_eq!(largest(&all, peer("10.0.0.1:22")), None);
        let cut = Message { kind: SOCK_DIAG_BY_FAMILY, body: all[0].body[..ANSWER].to_vec() };
        assert_eq!(largest(&[cut], server), None);
        assert_eq!(request(server).len(), REQUEST);
    }

    #[test]
    fn a_connection_of_this_machine_is_found_where_the_kernel_answers() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let peer = listener.local_addr().expect("an address");
        let _stream = TcpStream::connect(peer).expect("connects");
        // A kernel without the module, or an emulator, refuses to tell.
        if let Ok(found) = round_trip_us(peer) {
            assert!(found.is_some_and(|rtt| rtt < 1_000_000), "{found:?}");
        }
    }
}
