//! The end of a flow, when the clock no longer runs: what was sent and what was received are held against each other.
//!
//! The receiver says that it is ready, so that from here on it sees every byte, however it received before. The sender
//! then sends some more of the stream and a closing word with the number of bytes before it, and closes its side;
//! the receiver checks every byte until there, and answers with its own number.

use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::time::{Duration, Instant};

use seatrial_model::{Cause, Integrity};

use super::pattern::{Check, PERIOD, bytes};
use super::terms::Name;
use crate::Error;

/// How long nothing may happen. The phase itself has a deadline too, which is longer.
const PATIENCE: Duration = Duration::from_secs(8);

/// How long a sender waits for what it sent to be read and confirmed: many seconds of a slow link's queue.
const CONFIRMED_WITHIN: Duration = Duration::from_secs(20);

/// What the receiver says when it is ready.
const READY: u8 = 0x52;

/// Bytes that are sent for the check alone: few enough for the slowest connection.
pub const TAIL: usize = 8 << 10;

/// First half of the closing word; the other half is the number of bytes. No piece of the stream is like it.
const CLOSING: [u8; 8] = *b"\xffsea\xfeend";
const CLOSING_LEN: usize = 16;

/// The sender's side; `total` bytes were sent. `half_close` is for protocols that can close one side alone.
///
/// # Errors
/// When the peer does not answer in time, or the connection breaks.
pub fn send_end(
    name: Name,
    mut stream: &TcpStream,
    total: u64,
    half_close: bool,
) -> Result<Integrity, Error> {
    let mut ready = [0];
    hear(name, stream, &mut ready, PATIENCE, "the receiver did not say that it is ready")?;
    let from = (total % PERIOD as u64) as usize;
    let stream_bytes = bytes(from + TAIL);
    let mut last = stream_bytes[from..].to_vec();
    let total = total + last.len() as u64;
    last.extend(CLOSING);
    last.extend(total.to_le_bytes());
    let mut rest = &last[..];
    let deadline = Instant::now() + CONFIRMED_WITHIN;
    while !rest.is_empty() {
        match stream.write(rest) {
            Ok(taken) => rest = &rest[taken..],
            Err(error) if passing(&error) && Instant::now() < deadline => {}
            Err(error) if passing(&error) => {
                let text = format!(
                    "{name}: the receiver did not take the end of the stream within {} s",
                    CONFIRMED_WITHIN.as_secs()
                );
                return Err(Error::new(Cause::IoError, text));
            }
            Err(error) => return Err(failed(name, "sending the end of the stream", &error)),
        }
    }
    if half_close {
        stream.shutdown(Shutdown::Write).map_err(|error| failed(name, "closing one side", &error))?;
    }
    let mut received = [0; 8];
    hear(name, stream, &mut received, CONFIRMED_WITHIN, "the receiver did not confirm what was sent")?;
    let received = u64::from_le_bytes(received);
    if received != total {
        let first = format!("{name}: {total} bytes were sent and {received} received");
        return Ok(Integrity::Corrupt { wrong: total.abs_diff(received), of: total, first });
    }
    Ok(Integrity::Verified { checked: 0 })
}

/// The receiver's side; `total` bytes were received, and `check` has seen some of them.
///
/// # Errors
/// When the sender falls silent, or the connection breaks.
pub fn receive_end(
    name: Name,
    mut stream: &TcpStream,
    total: u64,
    check: &mut Check,
    half_close: bool,
) -> Result<(), Error> {
    stream.write_all(&[READY]).map_err(|error| failed(name, "saying that it is ready", &error))?;
    let mut buffer = vec![0; 256 << 10];
    // The last bytes seen may be the closing word: they wait until others follow.
    let mut held: Vec<u8> = Vec::with_capacity(buffer.len() + CLOSING_LEN);
    let mut at = total;
    let mut progress = Instant::now();
    loop {
        match stream.read(&mut buffer) {
            Ok(0) => break,
            Ok(came) => {
                progress = Instant::now();
                held.extend_from_slice(&buffer[..came]);
                let sure = held.len().saturating_sub(CLOSING_LEN);
                check.look(&held[..sure], at);
                at += sure as u64;
                held.drain(..sure);
                if !half_close && held.starts_with(&CLOSING) {
                    break;
                }
            }
            Err(error) if passing(&error) && progress.elapsed() < PATIENCE => {}
            Err(error) => return Err(failed(name, "reading the end of the stream", &error)),
        }
    }
    if !held.starts_with(&CLOSING) || held.len() < CLOSING_LEN {
        let text = format!("{name}: the peer closed the connection after {} bytes", at + held.len() as u64);
        return Err(Error::new(Cause::PartnerLost, text));
    }
    let sent = u64::from_le_bytes(held[8..16].try_into().unwrap_or_default());
    if sent != at {
        check.fault(format!("{name}: {sent} bytes were sent and {at} received"));
    }
    stream.write_all(&at.to_le_bytes()).map_err(|error| failed(name, "confirming what was received", &error))
}

/// Reads all of `room` within `span`.
fn hear(
    name: Name,
    mut stream: &TcpStream,
    room: &mut [u8],
    span: Duration,
    else_: &str,
) -> Result<(), Error> {
    let deadline = Instant::now() + span;
    let mut got = 0;
    while got < room.len() {
        match stream.read(&mut room[got..]) {
            Ok(0) => {
                let text = format!("{name}: {else_}: it closed the connection");
                return Err(Error::new(Cause::PartnerLost, text));
            }
            Ok(came) => got += came,
            Err(error) if passing(&error) && Instant::now() < deadline => {}
            Err(error) if passing(&error) => {
                let text = format!("{name}: {else_} within {} s", span.as_secs());
                return Err(Error::new(Cause::IoError, text));
            }
            Err(error) => return Err(failed(name, "waiting for the receiver", &error)),
        }
    }
    Ok(())
}

/// Whether it is only the socket's short deadline.
fn passing(error: &std::io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted)
}

fn failed(name: Name, what: &str, error: &std::io::Error) -> Error {
    Error::new(Cause::IoError, format!("{name}: {what}: {error}"))
}
