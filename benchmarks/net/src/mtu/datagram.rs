//! Packets of an exact size that must not be fragmented.

use std::io;
use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::time::{Duration, Instant};

use rustix::net::sockopt::{
    Ipv4PathMtuDiscovery, Ipv6PathMtuDiscovery, ip_mtu, ipv6_mtu, set_ip_mtu_discover, set_ipv6_mtu_discover,
};
use socket2::SockRef;

use super::search::Fate;
use seatrial_bench::{Sequence, is_timeout};

const MOST: usize = 65_535;

/// Bytes of the packet number at the start of each datagram.
const HEAD: usize = 8;

pub struct Datagrams {
    socket: UdpSocket,
    is_ipv6: bool,
    memory: Vec<u8>,
    sequence: Sequence,
}

impl Datagrams {
    pub fn on(own: IpAddr) -> io::Result<Self> {
        let socket = UdpSocket::bind((own, 0))?;
        // IP_PMTUDISC_PROBE (ip(7)): the kernel sends whatever fits the interface's MTU, ignores its path MTU, and
        // never fragments.
        if own.is_ipv6() {
            set_ipv6_mtu_discover(&socket, Ipv6PathMtuDiscovery::PROBE)?;
        } else {
            set_ip_mtu_discover(&socket, Ipv4PathMtuDiscovery::PROBE)?;
        }
        SockRef::from(&socket).set_recv_buffer_size(1 << 20)?;
        Ok(Self { socket, is_ipv6: own.is_ipv6(), memory: vec![0; MOST], sequence: Sequence::default() })
    }

    pub fn port(&self) -> io::Result<u16> {
        Ok(self.socket.local_addr()?.port())
    }

    /// Connects the socket, so that only packets of this peer arrive.
    pub fn to(&self, peer: SocketAddr) -> io::Result<()> {
        self.socket.connect(peer)
    }

    /// The smallest size that is tried: every IPv4 host must accept 576 B (RFC 791), every IPv6 link 1280 B (RFC
    /// 8200).
    pub fn least(&self) -> u32 {
        if self.is_ipv6 { 1280 } else { 576 }
    }

    fn headers(&self) -> usize {
        if self.is_ipv6 { 48 } else { 28 }
    }

    /// The kernel's path MTU: from an ICMP message of a router, or else the interface's own MTU.
    pub fn believed(&self) -> Option<u32> {
        if self.is_ipv6 { ipv6_mtu(&self.socket) } else { ip_mtu(&self.socket) }.ok()
    }

    /// Sends packet `number` of `size` bytes, headers included.
    pub fn send(&mut self, number: u64, size: u32) -> io::Result<Fate> {
        let payload = (size as usize).saturating_sub(self.headers()).max(HEAD);
        let message = &mut self.memory[..payload];
        message[..HEAD].copy_from_slice(&number.to_le_bytes());
        self.sequence.fill(&mut message[HEAD..], beginning(number));
        match self.socket.send(message) {
            Ok(_) => Ok(Fate::Arrived),
            Err(error) if error.raw_os_error() == Some(rustix::io::Errno::MSGSIZE.raw_os_error()) => {
                Ok(Fate::Refused)
            }
            // A full queue of this node counts as loss too. ECONNREFUSED comes from an ICMP message for an earlier
            // packet.
            Err(error) if matches!(error.kind(), io::ErrorKind::ConnectionRefused) => Ok(Fate::Lost),
            Err(error) if error.raw_os_error() == Some(rustix::io::Errno::NOBUFS.raw_os_error()) => {
                Ok(Fate::Lost)
            }
            Err(error) => Err(error),
        }
    }

    /// Waits `wait_ms` for packet `number` and ignores others. An inner `Err` is the offset of a wrong byte.
    pub fn arrives(&mut self, number: u64, size: u32, wait_ms: u32) -> io::Result<Result<bool, usize>> {
        let deadline = Instant::now() + Duration::from_millis(wait_ms.into());
        let wanted = (size as usize).saturating_sub(self.headers()).max(HEAD);
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Ok(Ok(false));
            }
            self.socket.set_read_timeout(Some(left))?;
            let received = match self.socket.recv(&mut self.memory) {
                Ok(received) => received,
                Err(error) if is_timeout(&error) || error.kind() == io::ErrorKind::ConnectionRefused => {
                    continue;
                }
                Err(error) => return Err(error),
            };
            let message = &self.memory[..received];
            if received != wanted || message[..HEAD] != number.to_le_bytes() {
                continue;
            }
            let wrong = self.sequence.first_wrong(&message[HEAD..], beginning(number));
            return Ok(wrong.map_or(Ok(true), |at| Err(HEAD + at)));
        }
    }
}

/// Where in the sequence the bytes behind a number begin.
const fn beginning(number: u64) -> u64 {
    number.wrapping_mul(31).wrapping_add(HEAD as u64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::Ipv4Addr;

    fn pair() -> (Datagrams, Datagrams) {
        let on = || Datagrams::on(Ipv4Addr::LOCALHOST.into()).expect("a socket");
        let (left, right) = (on(), on());
        for (from, to) in [(&left, &right), (&right, &left)] {
            from.to((Ipv4Addr::LOCALHOST, to.port().expect("told")).into()).expect("connected");
        }
        (left, right)
    }

    #[test]
    fn a_packet_arrives_under_its_number_and_others_are_passed_over() {
        let (mut left, mut right) = pair();
        for (number, size) in [(1, 600), (2, 9000), (3, 1500)] {
            assert_eq!(left.send(number, size).expect("sent"), Fate::Arrived);
        }
        assert_eq!(right.arrives(3, 1500, 20_000).expect("looked"), Ok(true));
        assert_eq!(right.arrives(4, 1500, 10).expect("looked"), Ok(false));
    }

    #[test]
    fn the_largest_packet_fits_the_loopback_and_the_kernel_believes_so() {
        let (mut left, _right) = pair();
        // The largest UDP payload is 65,507 B, and the loopback's MTU is 65,536 B.
        assert_eq!(left.send(1, 65_535).expect("sent"), Fate::Arrived);
        assert_eq!(left.believed(), Some(65_535));
    }
}
