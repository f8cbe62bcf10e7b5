//! Letting the peer's connections in, and nobody else's.

use std::io::{self, Read};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use seatrial_model::Cause;
use seatrial_sys::proof::{Key, Side, exchange};

use super::reach::{hold, release};
use super::{Accepted, WITHIN};
use crate::Error;

/// Callers that are being asked at the same time. Beyond that they are hung up on, so that a flood of strangers costs
/// no more than this.
pub(super) const ASKED_AT_ONCE: usize = 256;

/// How often an open port is looked at.
const LOOK: Duration = Duration::from_millis(1);

/// Waits for `count` connections that prove the key, and closes the port.
pub(super) fn admit(listener: TcpListener, key: &Key, count: usize) -> Result<Accepted, Error> {
    let deadline = Instant::now() + WITHIN;
    let (answer, answers) = channel();
    let asked = Arc::new(AtomicUsize::new(0));
    let mut streams: Vec<Option<TcpStream>> = (0..count).map(|_| None).collect();
    let mut callers = 0;
    while streams.iter().any(Option::is_none) {
        if Instant::now() >= deadline {
            return Err(late(&streams, callers));
        }
        match listener.accept() {
            Ok((stream, _)) => {
                callers += 1;
                if asked.load(Ordering::Relaxed) < ASKED_AT_ONCE {
                    ask(stream, key, &answer, &asked);
                }
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => thread::sleep(LOOK),
            Err(error) => {
                let text = format!("waiting for the peer to connect: {error}");
                return Err(Error::new(Cause::IoError, text));
            }
        }
        // The others have not proven the key.
        for (number, stream) in answers.try_iter().flatten() {
            match streams.get_mut(number as usize) {
                Some(free @ None) => *free = Some(stream),
                _ => {
                    let text = format!("the peer made connection {number} of {count} twice or too many");
                    return Err(Error::new(Cause::Protocol, text));
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
    key: &Key,
    answer: &Sender<io::Result<(u32, TcpStream)>>,
    asked: &Arc<AtomicUsize>,
) {
    let (key, told, count) = (key.clone(), answer.clone(), Arc::clone(asked));
    asked.fetch_add(1, Ordering::Relaxed);
    let asking = move || {
        // Nobody listens any more when all are there.
        let _ = told.send(prove(stream, &key));
        count.fetch_sub(1, Ordering::Relaxed);
    };
    if let Err(error) = thread::Builder::new().name("ask".to_owned()).spawn(asking) {
        asked.fetch_sub(1, Ordering::Relaxed);
        let _ = answer.send(Err(error));
    }
}

fn prove(mut stream: TcpStream, key: &Key) -> io::Result<(u32, TcpStream)> {
    hold(&stream)?;
    exchange(&mut stream, key, Side::Listener)?;
    let mut number = [0; 4];
    stream.read_exact(&mut number)?;
    release(&stream)?;
    Ok((u32::from_le_bytes(number), stream))
}

fn late(streams: &[Option<TcpStream>], callers: usize) -> Error {
    let strangers = callers - streams.iter().flatten().count();
    let missing = streams.iter().filter(|stream| stream.is_none()).count();
    let others =
        if strangers == 0 { String::new() } else { format!("; {strangers} others did, without the key") };
    let of =
        if streams.len() == 1 { String::new() } else { format!(" {missing} of {} times", streams.len()) };
    let text = format!("the peer did not connect{of} within {} s{others}", WITHIN.as_secs());
    Error::new(Cause::PartnerLost, text)
}
