//! Multicast groups: their addresses, and how an end joins.

use std::net::{Ipv4Addr, Ipv6Addr, UdpSocket};

use seatrial_model::{Cause, Reason};
use seatrial_sys::root::SysRoot;
use seatrial_sys::verbs::{Gid, GidEntry, GidKind, Membership};

use super::{Pair, preparing};
use seatrial_stats::mix;

/// Bits of an IPv4 group in its Ethernet address (RFC 1112, 6.4).
const BITS: u64 = (1 << 23) - 1;

/// The groups that the queue pairs of an end are in.
#[derive(Debug, Default)]
pub struct Groups {
    members: Vec<Membership>,
    sockets: Vec<UdpSocket>,
}

/// The group of a queue pair of the end whose messages are made of `nonce`, of the same family as `like`.
///
/// Two ends have groups of their own, as have two runs: each is one of 239.0.0.0 to 239.127.255.255, which organisations
/// may use as they like (RFC 2365, 6.2.1), and no two queue pairs of an end have one Ethernet address.
pub fn of(nonce: u64, pair: usize, like: Gid) -> Gid {
    let number = (mix(nonce).wrapping_add(pair as u64) & BITS) as u32;
    match like.ipv4() {
        Some(_) => Gid(Ipv4Addr::from_bits(0xef00_0000 | number).to_ipv6_mapped().octets()),
        // A transient address (the 1 in ff1e; RFC 4291, 2.7).
        None => Gid(Ipv6Addr::from_bits(0xff1e << 112 | u128::from(number)).octets()),
    }
}

impl Groups {
    /// Makes each of these queue pairs a member of its group, on the link of the address `own`.
    ///
    /// A card that is told of a group takes its packets. That they come to the card, and with soft-RoCE that the kernel lets
    /// them pass, takes a member of the IP group on the same link, as a socket is one: the kernel then reports the group to
    /// the switches (IGMP, MLD). Where that cannot be, the words say why.
    ///
    /// # Errors
    /// When the device has no groups, or not so many.
    pub fn join(
        pairs: &[Pair],
        nonce: u64,
        own: &GidEntry,
        root: &SysRoot,
        label: &str,
    ) -> Result<(Self, String), Reason> {
        let mut groups = Self::default();
        let mut told = "as the switches are told".to_owned();
        for pair in pairs {
            let group = of(nonce, pair.number, own.gid);
            groups.members.push(pair.qp.join(group, 0).map_err(preparing(label, "joining a group"))?);
            if own.kind != GidKind::RoceV2 {
                told = "RoCE v1, of which switches are told nothing".to_owned();
                continue;
            }
            match joined(group, own, root) {
                Ok(socket) => groups.sockets.push(socket),
                Err(why) => told = format!("the switches are told nothing: {why}"),
            }
        }
        Ok((groups, told))
    }
}

/// A socket that has joined the IP group on the interface of this address.
fn joined(group: Gid, own: &GidEntry, root: &SysRoot) -> Result<UdpSocket, String> {
    let failed = |error: std::io::Error| format!("joining {group} by a socket: {error}");
    if let (Some(group), Some(own)) = (group.ipv4(), own.gid.ipv4()) {
        let socket = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0)).map_err(failed)?;
        socket.join_multicast_v4(&group, &own).map_err(failed)?;
        return Ok(socket);
    }
    let netdev = own.netdev.as_deref().ok_or("the interface of the address is not known")?;
    let index = root.text(format!("/sys/class/net/{netdev}/ifindex")).map_err(|error| error.to_string())?;
    let index = index.parse().map_err(|_| format!("{netdev} has the index '{index}'"))?;
    let socket = UdpSocket::bind((Ipv6Addr::UNSPECIFIED, 0)).map_err(failed)?;
    socket.join_multicast_v6(&Ipv6Addr::from(group.0), index).map_err(failed)?;
    Ok(socket)
}

/// What InfiniBand would need for it.
pub fn no_manager(label: &str) -> Reason {
    let text = format!(
        "{label}: multicast=true: on InfiniBand the subnet manager makes groups and gives them the LID that packets go to, \
         and this program does not speak to it; RoCE needs none"
    );
    Reason::new(Cause::Inapplicable, text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn queue_pairs_and_ends_have_groups_of_their_own_which_differ_in_their_ethernet_addresses() {
        let own: Gid = "::ffff:10.0.0.1".parse().expect("a GID");
        let all = |nonce: u64| (0..1024).map(move |pair| of(nonce, pair, own).ipv4().expect("IPv4"));
        let mut of_one: Vec<Ipv4Addr> = all(7).collect();
        assert!(of_one.iter().all(|group| group.octets()[0] == 239 && group.octets()[1] < 128));
        assert_eq!(of_one, all(7).collect::<Vec<_>>(), "both ends know them");
        of_one.extend(all(8));
        of_one.sort_unstable();
        of_one.dedup();
        assert_eq!(of_one.len(), 2048);
        let six = of(7, 0, "fe80::1".parse().expect("a GID"));
        assert!(Ipv6Addr::from(six.0).is_multicast() && six != of(7, 1, "fe80::1".parse().expect("a GID")));
    }
}
