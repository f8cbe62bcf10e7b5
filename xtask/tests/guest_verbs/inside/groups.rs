//! Datagrams that go to a group.

use std::net::{Ipv4Addr, UdpSocket};
use std::time::Duration;

use seatrial_sys::verbs::{
    AddressHandle, GRH_BYTES, GROUP_QP, Gid, Global, Path, Transport, UdTarget, Verb, VerbsFault, Work,
};

use crate::rig::{End, QKEY, datagrams, device, gids, path};

const GROUP: Ipv4Addr = Ipv4Addr::new(239, 7, 8, 9);

fn group() -> Gid {
    Gid(GROUP.to_ipv6_mapped().octets())
}

#[test]
#[ignore = "run by other tests, in a process of its own"]
fn a_member_of_a_group_takes_what_is_sent_to_it_until_it_leaves() {
    let (one, other) = datagrams();
    let own = gids(&device()).first.gid.ipv4().unwrap();
    // The kernel lets nothing pass of an IP group that nobody is a member of.
    let socket = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0)).unwrap();
    socket.join_multicast_v4(&GROUP, &own).unwrap();
    let membership = other.qp.join(group(), 0).unwrap();
    let near = path(one.pd.device());
    let global = near.global.map(|global| Global { to: group(), ..global });
    let handle = AddressHandle::new(&one.pd, &Path { global, ..near }).unwrap();
    other.receives(2, 0, 2048);
    one.fill(0, 1024, 77);
    let to = Some(UdTarget { handle: &handle, qp_number: GROUP_QP, qkey: QKEY });
    let send = Work { to, ..Work::new(Verb::Send, &one.region, 0, 1024) };
    one.does(send).check().unwrap();
    let came = other.ended(1)[0];
    came.check().unwrap();
    assert_eq!((came.bytes() as usize, came.source_qp()), (GRH_BYTES + 1024, one.qp.number()));
    assert!(other.holds(GRH_BYTES, 1024, 77));
    drop(membership);
    one.does(send).check().unwrap();
    assert!(other.cq.collect(1, Duration::from_millis(300), |_| ()).is_err(), "it has left");
}

#[test]
#[ignore = "run by other tests, in a process of its own"]
fn only_datagrams_go_to_groups_and_only_addresses_of_groups_are_taken() {
    let (one, _other) = datagrams();
    let single = gids(&device()).first.gid;
    let error = one.qp.join(single, 0).unwrap_err();
    assert!(error.to_string().starts_with("ibv_attach_mcast for QueuePair(UD"), "{error}");
    let connection = End::new(&device(), Transport::Rc);
    assert_eq!(connection.qp.join(group(), 0).unwrap_err().fault(), VerbsFault::Config);
}
