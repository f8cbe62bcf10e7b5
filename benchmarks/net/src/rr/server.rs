//! The answering end. Its thread runs from the connection to its end, so that no request arrives between two phases.

use std::net::TcpStream;
use std::slice;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use seatrial_model::{Cause, Integrity, Reason};
use serde_json::json;

use super::config::RrConfig;
use super::load::Stream;
use super::message::{fill, first_wrong, is_before, number_after, verified_bytes};
use super::unclear::Unclear;
use super::wire::{ReceivedMessage, Wire};
use seatrial_bench::{Direction, ServerEnd, ServerThread, Serving, Sink, second_handles};

/// Longest sleep of the server until it checks for its end.
const IO_TIMEOUT: Duration = Duration::from_millis(50);

pub struct RrServer {
    config: RrConfig,
    served: Arc<AtomicU64>,
    _load: Option<Stream>,
}

pub fn begin(
    streams: Vec<TcpStream>,
    config: RrConfig,
    [cpu, load_cpu]: [Option<u32>; 2],
) -> Result<Serving<RrServer>, Reason> {
    let (stream, load) = config.streams(streams, Direction::Reverse, load_cpu)?;
    let control = second_handles(slice::from_ref(&stream))?;
    let wire = config.wire(stream, config.wait, IO_TIMEOUT)?;
    let end = RrServer { config: config.clone(), served: Arc::default(), _load: load };
    let served = Arc::clone(&end.served);
    let work = move |over: &AtomicBool| serve(wire, &config, &served, over);
    Ok(Serving { server: ServerThread::start(control, cpu, work)?, end })
}

impl ServerEnd for RrServer {
    /// A UDP server does not notice that its client is gone.
    fn is_deaf(&self) -> bool {
        self.config.udp
    }

    fn tell(&self, _: &ServerThread, out: &mut dyn Sink) {
        out.evidence("served", json!(self.served.load(Ordering::Relaxed)));
    }

    /// Client and server check every byte on arrival; this only reports whether the server failed.
    fn verify(&mut self, server: &mut ServerThread) -> Result<Integrity, Reason> {
        let checked = self.served.load(Ordering::Relaxed) * self.config.request as u64;
        server.verify(checked, Integrity::Verified { checked })
    }
}

/// Answers until the client closes or `over` is set. Every byte of a request is checked unless with verify=none; its number
/// shows a lost or repeated request.
fn serve(mut wire: Wire, config: &RrConfig, served: &AtomicU64, over: &AtomicBool) -> Result<(), Reason> {
    let mut request = vec![0; config.request];
    let mut response = vec![0; config.response];
    let verified = |bytes| verified_bytes(config.verification, bytes);
    let made = verified(response.len());
    let mut unclear = Unclear::new("request", request.len(), wire.is_udp());
    let mut number = 0_u64;
    loop {
        let bytes =
            match wire.receive(&mut request).map_err(|error| failed("reading request", number, &error))? {
                ReceivedMessage::Message(bytes) => bytes,
                ReceivedMessage::Nothing if over.load(Ordering::Relaxed) => return unclear.undecided(),
                ReceivedMessage::Nothing => continue,
                ReceivedMessage::Closed => return unclear.undecided(),
            };
        if wire.is_udp() {
            // Earlier requests may be lost, and one that was given up may still arrive.
            match number_after(&request[..verified(bytes)], number) {
                Some(this) => {
                    unclear.expected()?;
                    number = this;
                }
                None if is_before(&request[..verified(bytes)], number) => {
                    unclear.undecided()?;
                    continue;
                }
                None => {}
            }
        }
        if bytes != request.len() {
            let text = format!("request {number} is {bytes} B long, not {}", request.len());
            return Err(Reason::new(Cause::CorruptData, text));
        }
        if let Some(at) = first_wrong(&request[..verified(bytes)], number) {
            let text = format!("byte {at} of request {number} is {:#04x}", request[at]);
            unclear.unknown(Reason::new(Cause::CorruptData, text))?;
            continue;
        }
        fill(&mut response[..made], number);
        while !wire.send(&response).map_err(|error| failed("writing response", number, &error))? {
            if over.load(Ordering::Relaxed) {
                return Ok(());
            }
        }
        number += 1;
        served.store(number, Ordering::Relaxed);
    }
}

fn failed(doing: &str, number: u64, error: &std::io::Error) -> Reason {
    Reason::new(Cause::IoError, format!("{doing} {number}: {error}"))
}

#[cfg(test)]
mod tests {
    use std::net::UdpSocket;

    use super::super::tests::unpinned;
    use super::super::wire::Wait;
    use super::*;

    /// The first bytes of the responses to requests of these numbers, of `len` bytes, and how the server ended.
    fn answered(len: usize, numbers: &[u64]) -> (Vec<u8>, Result<(), Reason>) {
        let size = format!("{len} B");
        let case = unpinned(&[("protocol", "udp"), ("request", &size)]);
        let config = RrConfig::of(&case, &case.places[1]).expect("config");
        let socket = || UdpSocket::bind("127.0.0.1:0").expect("a socket");
        let (ours, theirs) = (socket(), socket());
        ours.connect(theirs.local_addr().expect("told")).expect("connected");
        theirs.connect(ours.local_addr().expect("told")).expect("connected");
        let mut message = vec![0; len];
        for number in numbers {
            fill(&mut message, *number);
            ours.send(&message).expect("sent");
        }
        let wire = Wire::Udp { socket: theirs, _control: None };
        wire.set_wait(Wait::Block, Duration::from_millis(20)).expect("set");
        let ended = serve(wire, &config, &AtomicU64::new(0), &AtomicBool::new(true));
        ours.set_nonblocking(true).expect("set");
        let mut firsts = Vec::new();
        while let Ok(bytes) = ours.recv(&mut message) {
            assert_eq!(bytes, len);
            firsts.push(message[0]);
        }
        (firsts, ended)
    }

    #[test]
    fn a_long_run_of_lost_requests_is_no_wrong_data() {
        assert_eq!(answered(8, &[0, 100, 3, 101]), (vec![0, 100, 101], Ok(())));
        assert_eq!(answered(1, &[0, 60, 3, 61]), (vec![0, 60, 61], Ok(())));
    }

    #[test]
    fn short_requests_that_may_be_wrong_or_behind_lost_ones_are_decided_by_the_next() {
        let cause = |numbers: &[u64]| answered(1, numbers).1.expect_err("refused").cause;
        assert_eq!(cause(&[0, 100, 101]), Cause::Contradiction);
        assert_eq!(cause(&[0, 100]), Cause::Contradiction, "the last one");
        assert_eq!(cause(&[0, 1, 100, 0]), Cause::Contradiction, "followed by an old one");
        assert_eq!(cause(&[0, 100, 1]), Cause::CorruptData, "nothing was lost before the next");
        assert_eq!(cause(&[0, 100, 2]), Cause::CorruptData, "it alone was");
    }
}
