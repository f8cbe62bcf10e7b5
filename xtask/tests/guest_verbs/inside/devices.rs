//! What devices, ports and addresses are, and what is refused before anything is sent.

use std::sync::Arc;

use seatrial_sys::Errno;
use seatrial_sys::root::SysRoot;
use seatrial_sys::verbs::{
    Access, CompletionQueue, GidKind, LinkLayer, MemoryRegion, PortState, ProtectionDomain, QueuePair,
    QueuePairSpec, ReceiveList, ReceiveWork, SendList, State, Transport, Verb, Verbs, VerbsError, VerbsFault,
    Work,
};

use crate::rig::{BYTES, DEVICE, End, connection, device, gids, memory, pair, spec};

#[test]
#[ignore = "run by other tests, in a process of its own"]
fn a_device_is_listed_opened_and_described() {
    let verbs = Verbs::open().unwrap();
    let names: Vec<String> = verbs.devices().unwrap().into_iter().map(|device| device.name).collect();
    assert_eq!(names, [DEVICE]);
    let error = verbs.open_device("mlx5_9").unwrap_err();
    assert_eq!(error.to_string(), "no RDMA device mlx5_9; there are rxe0");
    let device = device();
    let about = device.about();
    assert!(about.ports == 1 && about.max_qp_depth > 16 && about.max_mr_bytes > 1 << 20, "{about:?}");
    assert!(about.max_reads_out > 0 && about.max_reads_in > 0 && about.node_guid != 0, "{about:?}");
    device.require_atomics().unwrap();
    let port = device.port(1).unwrap();
    assert_eq!((port.state, port.link_layer), (PortState::Active, LinkLayer::Ethernet));
    assert!(port.active_mtu.bytes() >= 1024 && port.max_mtu >= port.active_mtu, "{port:?}");
    assert_eq!(device.port(2).unwrap_err().to_string(), "rxe0 has no port 2, but ports 1 to 1");
}

#[test]
#[ignore = "run by other tests, in a process of its own"]
fn the_address_of_ipv4_is_chosen_and_one_that_is_not_there_is_refused() {
    let device = device();
    let choice = gids(&device);
    assert_eq!(choice.first.kind, GidKind::RoceV2);
    assert_eq!(choice.first.gid.ipv4().map(|address| address.to_string()).as_deref(), Some("10.78.0.1"));
    assert_eq!((choice.first.prefix_bits, choice.first.netdev.as_deref()), (Some(24), Some("eth0")));
    let table = device.gids(&SysRoot::live(), 1).unwrap();
    let error = table.asked(200).unwrap_err().to_string();
    assert!(error.contains("has no GID 200") && error.contains("10.78.0.1 RoCE v2 eth0"), "{error}");
    // Past the table, the kernel refuses it too.
    let (one, other) = (End::new(&device, Transport::Rc), End::new(&device, Transport::Rc));
    let mut wrong = connection(&device, other.qp.number());
    wrong.path.global.as_mut().unwrap().source_index = 200;
    let error = one.qp.connect(&wrong).unwrap_err();
    assert!(matches!(error, VerbsError::Refused { call: "ibv_modify_qp", .. }), "{error}");
    assert!(error.to_string().contains("from GID 200"), "{error}");
}

#[test]
#[ignore = "run by other tests, in a process of its own"]
fn more_than_the_device_offers_is_refused_with_what_it_offers() {
    let device = device();
    let about = device.about();
    let most = u64::from(about.max_cq_depth);
    let error = CompletionQueue::new(&device, about.max_cq_depth + 1).unwrap_err();
    assert_eq!(error, VerbsError::TooMuch { what: "a completion queue depth", asked: most + 1, most });
    let pd = ProtectionDomain::new(&device).unwrap();
    let cq = CompletionQueue::new(&device, 16).unwrap();
    let deep = QueuePairSpec { send_depth: about.max_qp_depth + 1, ..spec(Transport::Rc) };
    assert!(matches!(
        QueuePair::new(&pd, &cq, &cq, &deep),
        Err(VerbsError::TooMuch { what: "a queue depth", .. })
    ));
    let fat = QueuePairSpec { inline_bytes: 1 << 20, ..spec(Transport::Rc) };
    let error = QueuePair::new(&pd, &cq, &cq, &fat).unwrap_err();
    assert!(error.to_string().contains("1048576 bytes of inline data"), "{error}");
}

#[test]
#[ignore = "run by other tests, in a process of its own"]
fn a_queue_pair_goes_through_its_states_and_a_full_queue_says_how_many_it_took() {
    let device = device();
    let end = End::new(&device, Transport::Rc);
    assert_eq!(end.qp.state(), Ok(State::Init));
    let receive = ReceiveWork { id: 1, memory: &end.region, offset: 0, bytes: 64 };
    // Queues are rounded up, so that they take more than they promise.
    let many = 20 * end.qp.receive_depth() as usize;
    let mut list = ReceiveList::new(&vec![receive; many]).unwrap();
    let error = end.qp.post_receive(&mut list, 0..many).unwrap_err();
    assert!(error.accepted >= 16 && error.accepted < many, "{error}");
    assert_eq!(VerbsError::from(error).fault(), VerbsFault::OutOfMemory);
    end.qp.fail().unwrap();
    assert_eq!(end.qp.state(), Ok(State::Error));
    let flushed = end.ended(error.accepted);
    assert!(
        flushed
            .iter()
            .all(|completion| VerbsError::fault(&completion.check().unwrap_err()) == VerbsFault::Flushed)
    );
}

#[test]
#[ignore = "run by other tests, in a process of its own"]
fn memory_comes_back_from_its_registration_as_it_was() {
    let pd = ProtectionDomain::new(&device()).unwrap();
    let region = MemoryRegion::register(&pd, memory(BYTES), Access::default()).unwrap();
    assert!(!region.registration().is_zero());
    region.write(10, b"kept").unwrap();
    region.set_word(16, u64::from_ne_bytes(*b"a number"));
    assert_eq!((region.byte(11), region.word(16).to_ne_bytes()), (b'e', *b"a number"));
    assert_eq!(region.read(BYTES - 2, &mut [0; 3]).unwrap_err().fault(), VerbsFault::Config);
    let key = region.remote_key();
    let (map, _) = region.release().unwrap();
    assert_eq!(&map.as_slice::<u8>()[10..14], b"kept");
    let relaxed = Access { relaxed_ordering: true, ..Access::ALL };
    let again = MemoryRegion::register(&pd, map, relaxed).unwrap();
    assert!(again.remote_key() != key && again.byte(10) == b'k');
}

#[test]
#[ignore = "run by other tests, in a process of its own"]
fn requests_that_do_not_fit_are_refused_before_they_are_posted() {
    let (one, _other) = pair(Transport::Rc);
    let send = Work::new(Verb::Send, &one.region, 0, 64);
    let why = |work: Work<'_>| SendList::new(&[work]).unwrap_err().to_string();
    assert!(why(Work { offset: BYTES - 63, ..send }).contains("beyond the end"));
    assert_eq!(why(Work { verb: Verb::Write, ..send }), "a request lacks the peer's memory");
    let add = Work { verb: Verb::FetchAdd { add: 1 }, remote: Some(one.region.remote(0)), ..send };
    assert!(why(add).contains("eight bytes"));
    let datagrams = End::new(one.pd.device(), Transport::Ud);
    datagrams.qp.ready().unwrap();
    let mut list = SendList::new(&[send]).unwrap();
    let error = datagrams.qp.post_send(&mut list, 0..1).unwrap_err();
    assert_eq!((error.accepted, error.errno), (0, Errno::INVAL), "a connection's request on datagrams");
    assert!(datagrams.qp.connect(&connection(one.pd.device(), 1)).is_err());
    assert!(one.qp.ready().is_err());
}

#[test]
#[ignore = "run by other tests, in a process of its own"]
fn what_stands_on_something_keeps_it_whatever_is_dropped_first() {
    let (one, other) = pair(Transport::Rc);
    let End { qp, cq, region, pd } = one;
    let target = other.region.clone();
    let work = Work { remote: Some(target.remote(0)), ..Work::new(Verb::Write, &region, 0, 512) };
    let mut list = SendList::new(&[work]).unwrap();
    drop((pd, region));
    qp.post_send(&mut list, 0..1).unwrap();
    cq.collect(1, crate::rig::LONG, |completion| completion.check().unwrap()).unwrap();
    drop(cq);
    assert_eq!(Arc::strong_count(&qp), 1);
    drop(qp);
    drop((other, list));
    assert_eq!(target.len(), BYTES);
}
