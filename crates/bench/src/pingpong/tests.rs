//! Both ends over a channel inside the process, whose bytes can be spoilt.

use std::ops::Range;
use std::sync::atomic::AtomicU64;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::time::Duration;

use seatrial_model::{Cause, Reason, Sample};

use super::command::{Command, Taken, Verb};
use super::lead::around;
use super::*;
use crate::testing::Kept;

/// Messages under way at most.
const DEPTH: usize = 64;

/// A message at a time over a channel.
struct Pipe {
    out: SyncSender<Vec<u8>>,
    incoming: Receiver<Vec<u8>>,
    waiting: Option<Vec<u8>>,
    connection: usize,
    /// Connections that were used.
    used: Vec<usize>,
    /// The size of the messages of which a byte is flipped.
    spoils: Option<usize>,
}

fn pipe() -> (Pipe, Pipe) {
    let ((to_right, right), (to_left, left)) = (sync_channel(DEPTH), sync_channel(DEPTH));
    let end =
        |out, incoming| Pipe { out, incoming, waiting: None, connection: 0, used: Vec::new(), spoils: None };
    (end(to_right, left), end(to_left, right))
}

fn gone<E>(_: E) -> Reason {
    Reason::new(Cause::PartnerLost, "gone")
}

impl PingPongTransport for Pipe {
    fn switch_to(&mut self, number: usize) -> Result<(), Reason> {
        if !self.used.contains(&number) {
            self.used.push(number);
        }
        self.connection = number;
        Ok(())
    }

    fn wait(&mut self) -> Result<bool, Reason> {
        self.waiting = self.incoming.recv().ok();
        Ok(self.waiting.is_some())
    }

    fn tell(&mut self, message: &[u8]) -> Result<(), Reason> {
        let mut message = message.to_vec();
        if self.spoils == Some(message.len()) {
            message[0] ^= 8;
        }
        self.out.send(message).map_err(gone)
    }

    fn hear(&mut self, message: &mut [u8]) -> Result<(), Reason> {
        let got = match self.waiting.take() {
            Some(got) => got,
            None => self.incoming.recv().map_err(gone)?,
        };
        assert_eq!(got.len(), message.len(), "both ends speak of the same size");
        message.copy_from_slice(&got);
        Ok(())
    }

    fn send(&mut self, memory: &Buffers, message: Range<usize>) -> Result<(), Reason> {
        self.tell(memory.own(message)?)
    }

    fn receive(&mut self, memory: &mut Buffers, message: Range<usize>) -> Result<(), Reason> {
        self.hear(memory.own_both(0..0, message)?.1)
    }

    fn exchange(
        &mut self,
        memory: &mut Buffers,
        out: Range<usize>,
        into: Range<usize>,
    ) -> Result<(), Reason> {
        self.send(memory, out)?;
        self.receive(memory, into)
    }
}

const SIZES: [u64; 5] = [1, 5, 64, 1000, 40_000];

fn buffers() -> Buffers {
    Buffers::new(40_000, 1 << 20, true).expect("memory")
}

/// Runs a trial in `mode` with a follower whose sent messages of one size are spoilt; what the leader says, its samples,
/// and what the follower says.
fn trial(mode: Mode, spoils: Option<usize>) -> (Result<(), Reason>, Vec<Sample>, Result<(), Reason>) {
    let (ours, theirs) = pipe();
    let following = std::thread::spawn(move || {
        let transport = Pipe { spoils, ..theirs };
        Follower::new(transport, buffers()).serve(&AtomicU64::new(0))
    });
    let mut kept = Kept::until(12);
    let stop = kept.stop.clone();
    let mut leader = Leader::new(ours, buffers(), mode, &SIZES);
    let ran = leader.run(&stop, &mut kept).and_then(|()| leader.check());
    if ran.is_ok() {
        assert!(leader.checked().1 > 0);
    }
    drop(leader);
    (ran, kept.samples, following.join().expect("joined"))
}

#[test]
fn every_size_has_as_many_samples_give_or_take_the_last_round() {
    for mode in [Mode::PingPong, Mode::Stream, Mode::Both] {
        let (ran, samples, followed) = trial(mode, None);
        ran.expect("measured");
        followed.expect("followed to the end");
        let of = |size: u64| {
            let at =
                |sample: &&Sample| sample.at.bytes("size").ok().flatten().is_some_and(|at| at.get() == size);
            samples.iter().filter(at).count()
        };
        // One way the first third of the sizes is 40,000 and 5 B, the second 1000 and 1 B.
        let counts = if mode == Mode::Stream { [2, 3, 2, 2, 3] } else { [3, 3, 2, 2, 2] };
        assert_eq!(SIZES.map(of), counts, "{mode:?}");
        assert!(samples.iter().all(|sample| sample.channel == CHANNEL && sample.amount.value() >= 1.0));
    }
}

#[test]
fn a_spoilt_message_is_corrupt_data_at_its_place() {
    let (ran, ..) = trial(Mode::PingPong, Some(1000));
    let error = ran.expect_err("noticed");
    assert_eq!(error.cause, Cause::CorruptData);
    assert!(error.text.contains("byte 0 of a message of 1000 bytes"), "{}", error.text);
}

#[test]
fn commands_have_a_connection_of_their_own_and_every_size_its_own() {
    let (mut ours, theirs) = pipe();
    let following = std::thread::spawn(move || Follower::new(theirs, buffers()).serve(&AtomicU64::new(0)));
    ours.used.clear();
    let mut leader = Leader::new(ours, buffers(), Mode::Stream, &SIZES);
    let mut kept = Kept::until(SIZES.len());
    leader.run(&kept.stop.clone(), &mut kept).expect("measured");
    assert_eq!(leader.transport().used, [0, 5, 2, 4, 1, 3]);
    drop(leader);
    following.join().expect("joined").expect("followed");
}

#[test]
fn messages_of_a_sample_are_counted_as_the_mode_moves_them() {
    assert_eq!(messages_per_sample(Mode::PingPong, 10), 20);
    assert_eq!(messages_per_sample(Mode::Both, 10), 20);
    assert_eq!(messages_per_sample(Mode::Stream, 10), 10);
}

#[test]
fn only_the_middle_half_of_messages_one_way_is_timed() {
    const COUNT: u64 = 8;
    const LATE: Duration = Duration::from_millis(200);
    let (mut ours, theirs) = pipe();
    let following = std::thread::spawn(move || Follower::new(theirs, buffers()).serve(&AtomicU64::new(0)));
    let command = Command { verb: Verb::Take, connection: 1, size: 64, count: COUNT };
    ours.tell(&command.to_bytes()).expect("sent");
    let sent = |ours: &mut Pipe, count: u64| {
        (0..count).for_each(|_| ours.tell(&[0x5a; 64]).expect("sent"));
    };
    std::thread::sleep(LATE);
    sent(&mut ours, around(COUNT) + COUNT);
    std::thread::sleep(LATE);
    sent(&mut ours, around(COUNT));
    let mut told = [0; Taken::LENGTH];
    ours.hear(&mut told).expect("told");
    let taken = Taken::from_bytes(told);
    let late = LATE.as_nanos() as u64;
    assert!(taken.took.get() < late, "neither pause is in the time: {taken:?}");
    assert!(taken.since.get() >= late / 2, "the second one came after it: {taken:?}");
    drop(ours);
    following.join().expect("joined").expect("followed");
}
