//! Accepts the peer's connections and rejects all others.

use std::io::{self, Read};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::mpsc::channel;
use std::thread;
use std::time::{Duration, Instant};

use seatrial_model::{Cause, Reason};
use seatrial_sys::callers::Callers;
use seatrial_sys::proof::{Key, Side, authenticate};

use super::peer_address::disable_nagle;
use super::{ANSWER_WITHIN, Accepted};

/// Most callers in authentication at a time, which bounds the cost of a flood; beyond, the oldest is disconnected.
pub(super) const ASKED_AT_ONCE: usize = 256;

/// Most of them from one address. A peer makes fewer at a time.
const ASKED_OF_ONE: usize = 128;

const POLL_INTERVAL: Duration = Duration::from_millis(1);

/// Waits for `count` connections that prove the key, and closes the port.
pub(super) fn admit(
    listener: TcpListener,
    key: &Key,
    count: usize,
    within: Duration,
) -> Result<Accepted, Reason> {
    let deadline = Instant::now() + within;
    let (answer, answers) = channel();
    let asked = Arc::new(Callers::new(ASKED_AT_ONCE, ASKED_OF_ONE));
    let mut streams: Vec<Option<TcpStream>> = (0..count).map(|_| None).collect();
    let mut callers = 0;
    while streams.iter().any(Option::is_none) {
        if Instant::now() >= deadline {
            return Err(late(&streams, callers, within));
        }
        match listener.accept() {
            Ok((stream, from)) => {
                callers += 1;
                let (key, answer) = (key.clone(), answer.clone());
                // Nobody listens any more when all are there.
                let tell = move |met| _ = answer.send(met);
                let _ = asked.ask(stream, from.ip(), move |stream| prove(stream, &key), tell);
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => thread::sleep(POLL_INTERVAL),
            Err(error) => {
                let text = format!("waiting for the peer to connect: {error}");
                return Err(Reason::new(Cause::IoError, text));
            }
        }
        // The other callers have not proved the key.
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
    // All peers are connected, so all callers still in authentication are foreign.
    let foreign = callers - count;
    Ok(Accepted { streams: streams.into_iter().flatten().collect(), foreign })
}

fn prove(stream: TcpStream, key: &Key) -> io::Result<(u32, TcpStream)> {
    let mut number = [0; 4];
    authenticate(&stream, key, Side::Listener, ANSWER_WITHIN, |until| until.read_exact(&mut number))?;
    disable_nagle(&stream)?;
    Ok((u32::from_le_bytes(number), stream))
}

fn late(streams: &[Option<TcpStream>], callers: usize, within: Duration) -> Reason {
    let foreign = callers - streams.iter().flatten().count();
    let missing = streams.iter().filter(|stream| stream.is_none()).count();
    let others =
        if foreign == 0 { String::new() } else { format!("; {foreign} others did, without the key") };
    let of =
        if streams.len() == 1 { String::new() } else { format!(" {missing} of {} times", streams.len()) };
    let text = format!("the peer did not connect{of} within {} s{others}", within.as_secs());
    Reason::new(Cause::PartnerLost, text)
}
