//! Every way to send against every way to receive, over real sockets.

use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::time::Duration;

use rustix::io::Errno;
use rustix::net::sockopt;

use super::*;

fn pair() -> (TcpStream, TcpStream) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let ours = TcpStream::connect(listener.local_addr().expect("told")).expect("connected");
    let (theirs, _) = listener.accept().expect("accepted");
    for end in [&ours, &theirs] {
        end.set_read_timeout(Some(Duration::from_millis(10))).expect("set");
        end.set_write_timeout(Some(Duration::from_millis(10))).expect("set");
    }
    (ours, theirs)
}

fn source() -> Arc<Source> {
    let bytes: Vec<u8> = (0..200_000_u32).map(|at| (at % 251) as u8).collect();
    Arc::new(Source::new(&bytes).expect("made"))
}

type Makes<T> = fn(&TcpStream, &Arc<Source>) -> Result<Box<T>, Errno>;

const SENDS: [(&str, Makes<dyn Push>); 4] = [
    ("write", |socket, source| Ok(Box::new(SendPlain::new(socket, Arc::clone(source))?))),
    ("sendfile", |socket, source| Ok(Box::new(SendFile::new(socket, Arc::clone(source))?))),
    ("zerocopy", |socket, source| Ok(Box::new(SendPinned::new(socket, Arc::clone(source))?))),
    ("uring", |socket, source| Ok(Box::new(SendRing::new(socket, Arc::clone(source))?))),
];

const RECEIVES: [(&str, Makes<dyn Pull>); 4] = [
    ("read", |socket, _| Ok(Box::new(ReadPlain::new(socket, 70_000, 0)?))),
    ("trunc", |socket, _| Ok(Box::new(ReadTruncated::new(socket, 70_000)?))),
    ("zerocopy", |socket, _| Ok(Box::new(ReadMapped::new(socket, 70_000)?))),
    ("uring", |socket, _| Ok(Box::new(ReadRing::new(socket, 70_000, 0)?))),
];

/// Repeats a call that a signal interrupts. A dropped ring interrupts its thread's next call, like a signal.
fn uninterrupted(mut call: impl FnMut() -> Result<usize, Errno>) -> Result<usize, Errno> {
    loop {
        match call() {
            Err(Errno::INTR) => {}
            other => return other,
        }
    }
}

fn refused(error: Errno) -> bool {
    matches!(error, Errno::NOSYS | Errno::PERM | Errno::OPNOTSUPP | Errno::NOMEM)
}

fn moved(push: &mut dyn Push, pull: &mut dyn Pull, source: &[u8], copies: bool) {
    let wanted = source.len();
    let (mut sent, mut came) = (0, Vec::new());
    let mut count = 0;
    while count < wanted {
        if sent < wanted {
            match push.push(sent, (wanted - sent).min(50_000)) {
                Ok(bytes) => sent += bytes,
                Err(Errno::AGAIN | Errno::INTR) => {}
                Err(error) => panic!("sending: {error}"),
            }
        }
        match pull.pull() {
            Ok(0) => panic!("the end after {count}"),
            Ok(bytes) => {
                count += bytes;
                came.extend_from_slice(pull.last());
            }
            Err(Errno::AGAIN | Errno::INTR) => {}
            Err(error) => panic!("receiving: {error}"),
        }
    }
    assert_eq!((sent, count), (wanted, wanted));
    if copies {
        assert!(came == source, "what came is not what was sent");
    }
}

#[test]
fn every_way_to_send_meets_every_way_to_receive() {
    let source = source();
    for (send, make_push) in SENDS {
        for (receive, make_pull) in RECEIVES {
            let (ours, theirs) = pair();
            let (push, pull) = (make_push(&ours, &source), make_pull(&theirs, &source));
            match (push, pull) {
                (Ok(mut push), Ok(mut pull)) => {
                    moved(&mut *push, &mut *pull, &source, receive != "trunc");
                    assert_eq!(push.settle(), Ok(0), "{send}");
                    assert_eq!(pull.settle(), Ok(0), "{receive}");
                }
                (Err(error), _) | (_, Err(error)) => {
                    assert!(
                        [send, receive].contains(&"uring") && refused(error),
                        "{send} {receive}: {error}"
                    );
                }
            }
        }
    }
}

#[test]
fn nobody_waits_for_longer_than_he_may() {
    let source = source();
    for (name, make) in RECEIVES {
        let (_ours, theirs) = pair();
        let Ok(mut pull) = make(&theirs, &source) else { continue };
        assert_eq!(uninterrupted(|| pull.pull()), Err(Errno::AGAIN), "{name}");
        assert_eq!(pull.settle(), Ok(0), "{name}");
    }
    for (name, make) in SENDS {
        let (ours, _theirs) = pair();
        let Ok(mut push) = make(&ours, &source) else { continue };
        let full = (0..10_000).find_map(|_| uninterrupted(|| push.push(0, source.len())).err());
        assert_eq!(full, Some(Errno::AGAIN), "{name}: nobody reads");
        push.settle().unwrap_or_else(|error| panic!("{name}: {error}"));
    }
}

#[test]
fn the_end_and_a_reset_are_told() {
    let source = source();
    for (name, make) in RECEIVES {
        let (ours, theirs) = pair();
        let Ok(mut pull) = make(&theirs, &source) else { continue };
        drop(ours);
        assert_eq!(uninterrupted(|| pull.pull()), Ok(0), "{name}");
    }
    for (name, make) in SENDS {
        let (ours, theirs) = pair();
        let Ok(mut push) = make(&ours, &source) else { continue };
        drop(theirs);
        let mut answers = (0..10_000).map(|_| uninterrupted(|| push.push(0, 1000)));
        let error = answers.find_map(|answer| answer.err().filter(|error| *error != Errno::AGAIN));
        assert!(matches!(error, Some(Errno::PIPE | Errno::CONNRESET)), "{name}: {error:?}");
    }
}

#[test]
fn what_is_under_way_is_taken_back_though_the_peer_reads_now_and_then() {
    let source = source();
    for _ in 0..20 {
        let (ours, theirs) = pair();
        // Zero-copy memory counts as locked memory, of which an ordinary user has a few MiB.
        sockopt::set_socket_send_buffer_size(&ours, 1 << 17).expect("set");
        sockopt::set_socket_recv_buffer_size(&theirs, 1 << 17).expect("set");
        let Ok(mut push) = SENDS[3].1(&ours, &source) else { return };
        let mut pull = ReadPlain::new(&theirs, 4 << 20, 0).expect("made");
        let mut sent = 0;
        let full = loop {
            match uninterrupted(|| push.push(0, source.len())) {
                Ok(bytes) => sent += bytes,
                Err(error) => break error,
            }
        };
        if refused(full) {
            return;
        }
        assert_eq!(full, Errno::AGAIN, "after {sent} bytes");
        // Room for the pending request: it is retried while being cancelled.
        let mut received = uninterrupted(|| pull.pull()).expect("there");
        sent += push.settle().expect("ends");
        drop(push);
        drop(ours);
        while let Ok(bytes @ 1..) = uninterrupted(|| pull.pull()) {
            received += bytes;
        }
        assert_eq!(sent, received);
    }
}

#[test]
fn lent_pages_are_told_when_they_are_free_again() {
    let source = source();
    for (name, make) in [SENDS[2], SENDS[3]] {
        let (ours, theirs) = pair();
        let Ok(mut push) = make(&ours, &source) else { continue };
        let mut pull = ReadPlain::new(&theirs, 1 << 20, 0).expect("made");
        // Notifications may be late; the loopback copies everything in the end.
        for _ in 0..20 {
            moved(&mut *push, &mut pull, &source, true);
        }
        push.settle().expect("settled");
        let seen = push.zero_copied().expect("lends");
        assert!(seen.ended > 0 && seen.copied <= seen.ended, "{name}: {seen:?}");
    }
}
