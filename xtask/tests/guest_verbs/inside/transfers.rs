//! Every operation on every transport, with the data looked at.

use std::time::Duration;

use seatrial_sys::verbs::{
    AddressHandle, CompletionChannel, CompletionQueue, GRH_BYTES, Retry, SendList, Transport, UdTarget, Verb,
    VerbsError, WcOpcode, Work,
};

use crate::rig::{End, LONG, QKEY, datagrams, device, pair, path};

#[test]
#[ignore = "run by other tests, in a process of its own"]
fn data_is_written_and_read_over_a_reliable_connection() {
    let (one, other) = pair(Transport::Rc);
    one.fill(0, 20_000, 7);
    let write =
        Work { remote: Some(other.region.remote(4096)), ..Work::new(Verb::Write, &one.region, 0, 20_000) };
    let done = one.does(Work { id: 42, ..write });
    done.check().unwrap();
    assert_eq!((done.id(), done.operation(), done.qp_number()), (42, WcOpcode::Write, one.qp.number()));
    assert!(other.holds(4096, 20_000, 7) && other.region.byte(4095) == 0);
    let read = Work {
        remote: Some(other.region.remote(4096)),
        ..Work::new(Verb::Read, &one.region, 32_768, 20_000)
    };
    let done = one.does(read);
    done.check().unwrap();
    assert_eq!(done.operation(), WcOpcode::Read);
    assert!(one.holds(32_768, 20_000, 7));
    // The request carries the bytes itself: memory may change at once.
    one.fill(0, 64, 9);
    let inline = Work { bytes: 64, inline: true, ..write };
    let mut list = SendList::new(&[inline]).unwrap();
    one.qp.post_send(&mut list, 0..1).unwrap();
    one.fill(0, 64, 8);
    one.ended(1)[0].check().unwrap();
    assert!(other.holds(4096, 64, 9));
    other.receives(1, 0, 0);
    one.does(Work { verb: Verb::WriteImmediate(0x0102_0304), ..write }).check().unwrap();
    let told = other.ended(1)[0];
    assert_eq!((told.operation(), told.immediate()), (WcOpcode::ReceiveWriteImmediate, Some(0x0102_0304)));
    assert!(one.qp.inline_bytes() >= 64);
}

#[test]
#[ignore = "run by other tests, in a process of its own"]
fn a_list_is_posted_again_with_other_places_and_tells_of_its_last_only() {
    let (one, other) = pair(Transport::Rc);
    let work: Vec<Work<'_>> = (0..8_u64)
        .map(|at| Work {
            id: at,
            remote: Some(other.region.remote(0)),
            signalled: at == 7,
            ..Work::new(Verb::Write, &one.region, 0, 1024)
        })
        .collect();
    let mut list = SendList::new(&work).unwrap();
    for round in 0..3_usize {
        let seed = 20 + round as u8;
        one.fill(0, 8192, seed);
        for at in 0..8 {
            list.aim(at, at * 1024, other.region.address() + (round * 8192 + at * 1024) as u64);
            list.set_id(at, (round * 8 + at) as u64);
        }
        one.qp.post_send(&mut list, 0..8).unwrap();
        let told = one.ended(1);
        assert_eq!(told[0].id(), round as u64 * 8 + 7);
        told[0].check().unwrap();
        assert!(other.holds(round * 8192, 8192, seed));
    }
    // A part of it, and all of them told.
    (2..5).for_each(|at| list.set_signalled(at, true));
    one.qp.post_send(&mut list, 2..5).unwrap();
    let ids: Vec<u64> = one.ended(3).iter().map(seatrial_sys::verbs::WorkCompletion::id).collect();
    assert_eq!(ids, [18, 19, 20]);
    assert_eq!(one.cq.poll(&mut [seatrial_sys::verbs::WorkCompletion::default(); 4]), Ok(0), "and no more");
}

#[test]
#[ignore = "run by other tests, in a process of its own"]
fn messages_come_into_the_receives_in_their_order() {
    let (one, other) = pair(Transport::Rc);
    other.receives(4, 0, 2048);
    for at in 0..4_u32 {
        one.fill(0, 1500, at as u8);
        let verb = if at == 3 { Verb::SendImmediate(77) } else { Verb::Send };
        one.does(Work::new(verb, &one.region, 0, 1500)).check().unwrap();
    }
    let came = other.ended(4);
    for (at, message) in came.iter().enumerate() {
        message.check().unwrap();
        assert_eq!((message.id(), message.bytes(), message.is_receive()), (100 + at as u64, 1500, true));
        assert!(other.holds(at * 2048, 1500, at as u8), "message {at}");
    }
    assert_eq!((came[2].immediate(), came[3].immediate()), (None, Some(77)));
}

#[test]
#[ignore = "run by other tests, in a process of its own"]
fn atomic_operations_change_the_peer_and_bring_back_what_was() {
    let (one, other) = pair(Transport::Rc);
    other.region.set_word(64, 5);
    let remote = Some(other.region.remote(64));
    let work = |verb| Work { remote, fence: true, ..Work::new(verb, &one.region, 8, 8) };
    one.does(work(Verb::FetchAdd { add: 10 })).check().unwrap();
    assert_eq!((one.region.word(8), other.region.word(64)), (5, 15));
    let swapped = one.does(work(Verb::CompareSwap { compare: 15, swap: 100 }));
    swapped.check().unwrap();
    assert_eq!(
        (swapped.operation(), one.region.word(8), other.region.word(64)),
        (WcOpcode::CompareSwap, 15, 100)
    );
    one.does(work(Verb::CompareSwap { compare: 15, swap: 7 })).check().unwrap();
    assert_eq!(
        (one.region.word(8), other.region.word(64)),
        (100, 100),
        "it was not what it was compared with"
    );
    let mut list = SendList::new(&[work(Verb::FetchAdd { add: 1 })]).unwrap();
    for round in 0..10 {
        list.set_operands(0, round, 0);
        one.qp.post_send(&mut list, 0..1).unwrap();
        one.ended(1)[0].check().unwrap();
    }
    assert_eq!(other.region.word(64), 145);
}

#[test]
#[ignore = "run by other tests, in a process of its own"]
fn an_unreliable_connection_writes_and_sends() {
    let (one, other) = pair(Transport::Uc);
    one.fill(0, 5000, 3);
    let remote = Some(other.region.remote(8192));
    one.does(Work { remote, ..Work::new(Verb::Write, &one.region, 0, 5000) }).check().unwrap();
    other.receives(1, 0, 8192);
    one.does(Work::new(Verb::Send, &one.region, 0, 5000)).check().unwrap();
    // The message came behind the write, so that the write came too.
    other.ended(1)[0].check().unwrap();
    assert!(other.holds(0, 5000, 3) && other.holds(8192, 5000, 3));
}

#[test]
#[ignore = "run by other tests, in a process of its own"]
fn a_datagram_comes_behind_the_header_that_it_was_routed_by() {
    let (one, other) = datagrams();
    let handle = AddressHandle::new(&one.pd, &path(one.pd.device())).unwrap();
    other.receives(2, 0, 2048);
    one.fill(0, 1024, 55);
    let to = Some(UdTarget { handle: &handle, qp_number: other.qp.number(), qkey: QKEY });
    let send = Work { to, ..Work::new(Verb::SendImmediate(9), &one.region, 0, 1024) };
    one.does(send).check().unwrap();
    let came = other.ended(1)[0];
    came.check().unwrap();
    assert_eq!((came.bytes() as usize, came.has_grh()), (GRH_BYTES + 1024, true));
    assert_eq!((came.source_qp(), came.immediate()), (one.qp.number(), Some(9)));
    assert!(other.holds(GRH_BYTES, 1024, 55));
    // Of RoCE version 2 over IPv4 the second half of the header is IPv4's own: addresses at its end.
    let mut header = [0; GRH_BYTES];
    other.region.read(0, &mut header).unwrap();
    assert_eq!(&header[32..], [10, 78, 0, 1, 10, 78, 0, 1], "{header:?}");
    // Another key is not let in.
    let wrong = Work { to: to.map(|to| UdTarget { qkey: QKEY + 1, ..to }), ..send };
    one.does(wrong).check().unwrap();
    let none = other.cq.collect(1, Duration::from_millis(300), |_| ()).unwrap_err();
    assert!(matches!(none, VerbsError::Timeout { got: 0, want: 1, .. }), "{none}");
}

#[test]
#[ignore = "run by other tests, in a process of its own"]
fn a_queue_tells_on_its_channel_once_it_was_armed() {
    let device = device();
    let channel = CompletionChannel::new(&device).unwrap();
    let cq = CompletionQueue::with_channel(&device, 16, &channel, 0).unwrap();
    let (one, other) = (End::telling_on(&device, Transport::Rc, cq), End::new(&device, Transport::Rc));
    one.connect(&other, Retry::default()).unwrap();
    other.connect(&one, Retry::default()).unwrap();
    let remote = Some(other.region.remote(0));
    let work = Work { remote, ..Work::new(Verb::Write, &one.region, 0, 100) };
    one.does(work).check().unwrap();
    assert_eq!(channel.wait(Duration::from_millis(50)), Ok(None), "it was not armed");
    one.cq.arm(false).unwrap();
    let mut list = SendList::new(&[work]).unwrap();
    one.qp.post_send(&mut list, 0..1).unwrap();
    assert_eq!(channel.wait(LONG), Ok(Some(one.cq.number())));
    one.ended(1)[0].check().unwrap();
    for _ in 0..20 {
        one.qp.post_send(&mut list, 0..1).unwrap();
        one.cq.collect_by_events(1, LONG, |done| done.check().unwrap()).unwrap();
    }
    let none = one.cq.collect_by_events(1, Duration::from_millis(50), |_| ()).unwrap_err();
    assert!(matches!(none, VerbsError::Timeout { .. }), "{none}");
    assert!(CompletionQueue::with_channel(&device, 16, &channel, 10_000).is_err());
}
