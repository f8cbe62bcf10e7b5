//! Letting the peer's connections in, and nobody else's.

use std::io::{self, Read};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use seatrial_model::{Cause, Reason};
use seatrial_sys::callers::Callers;
use seatrial_sys::proof::{Key, Side, Until, exchange};

use super::peer_address::release;
use super::{ANSWER_WITHIN, Accepted, WITHIN};

/// Callers that are being asked at the same time, so that a flood of unauthenticated callers costs no more than this: of more the one
/// that waited longest is hung up on.
pub(super) const ASKED_AT_ONCE: usize = 256;

/// Of these, callers from one address. A peer makes its connections one after the other.
const ASKED_OF_ONE: usize = 128;

/// How often an open port is looked at.
const POLL_INTERVAL: Duration = Duration::from_millis(1);

/// Waits for `count` connections that prove the key, and closes the port.
pub(super) fn admit(listener: TcpListener, key: &Key, count: usize) -> Result<Accepted, Reason> {
    let deadline = Instant::now() + WITHIN;
    let (answer, answers) = channel();
    let asked = Arc::new(Callers::new(ASKED_AT_ONCE, ASKED_OF_ONE));
    let mut streams: Vec<Option<TcpStream>> = (0..count).map(|_| None).collect();
    let mut callers = 0;
    while streams.iter().any(Option::is_none) {
        if Instant::now() >= deadline {
            return Err(late(&streams, callers));
        }
        match listener.accept() {
            Ok((stream, from)) => {
                callers += 1;
                if let Ok(ticket) = asked.enter(from.ip(), &stream) {
                    ask(stream, ticket, key, &answer, &asked);
                }
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => thread::sleep(POLL_INTERVAL),
            Err(error) => {
                let text = format!("waiting for the peer to connect: {error}");
                return Err(Reason::new(Cause::IoError, text));
            }
        }
        // The others have not proven the key.
        for (number, stream) in answers.try_iter().flatten() {
            match streams.get_mut(number as usize) {
                Some(free @ None) => *free = Some(stream),
                _ => {
                    let text = format!("the peer made connection {number} of {count} twice or too many");
                    return Err(Reason::new(Cause::Protocol, text));
                }
            }
        }
    }
    // All are there, so that whoever is still being asked is a stranger as well.
    let strangers = callers - count;
    Ok(Accepted { streams: streams.into_iter().flatten().collect(), strangers })
}

/// Asks on a thread of its own: who says nothing holds up nobody else.
fn ask(
    stream: TcpStream,
    ticket: u64,
    key: &Key,
    answer: &Sender<io::Result<(u32, TcpStream)>>,
    asked: &Arc<Callers>,
) {
    let (key, told, others) = (key.clone(), answer.clone(), Arc::clone(asked));
    let asking = move || {
        let met = prove(stream, &key);
        others.leave(ticket);
        // Nobody listens any more when all are there.
        let _ = told.send(met);
    };
    if let Err(error) = thread::Builder::new().name("ask".to_owned()).spawn(asking) {
        asked.leave(ticket);
        let _ = answer.send(Err(error));
    }
}

fn prove(stream: TcpStream, key: &Key) -> io::Result<(u32, TcpStream)> {
    stream.set_nonblocking(false)?;
    let mut until = Until::new(&stream, ANSWER_WITHIN);
    exchange(&mut until, key, Side::Listener)?;
    let mut number = [0; 4];
    until.read_exact(&mut number)?;
    release(&stream)?;
    Ok((u32::from_le_bytes(number), stream))
}

fn late(streams: &[Option<TcpStream>], callers: usize) -> Reason {
    let strangers = callers - streams.iter().flatten().count();
    let missing = streams.iter().filter(|stream| stream.is_none()).count();
    let others =
        if strangers == 0 { String::new() } else { format!("; {strangers} others did, without the key") };
    let of =
        if streams.len() == 1 { String::new() } else { format!(" {missing} of {} times", streams.len()) };
    let text = format!("the peer did not connect{of} within {} s{others}", WITHIN.as_secs());
    Reason::new(Cause::PartnerLost, text)
}
