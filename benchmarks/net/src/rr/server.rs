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
use super::message::{MessagePattern, is_numbered, number_after, verified_bytes};
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

    /// The loop checks every byte; this only reports whether the server failed.
    fn verify(&mut self, server: &mut ServerThread) -> Result<Integrity, Reason> {
        let checked = self.served.load(Ordering::Relaxed) * self.config.request as u64;
        server.verify(checked, Integrity::Verified { checked })
    }
}

/// Answers until the client closes or `over` is set. Every byte of a request is checked unless with verify=none; its number
/// shows a lost or repeated request. The client's time runs from the request to the response: between them only the number is looked
/// at. The response is made before the request arrives, and the rest of the request is checked after the response is sent. A wrong
/// request of a trial ends the server before the round trip by which the client asks, after the trial, whether it still answers.
fn serve(mut wire: Wire, config: &RrConfig, served: &AtomicU64, over: &AtomicBool) -> Result<(), Reason> {
    let mut request = vec![0; config.request];
    let mut response = vec![0; config.response];
    let pattern = MessagePattern::default();
    let verified = |bytes| verified_bytes(config.verification, bytes);
    let made = verified(response.len());
    let mut unclear = Unclear::new("request", request.len(), wire.is_udp());
    let mut number = 0_u64;
    pattern.fill(&mut response[..made], number);
    loop {
        let bytes =
            match wire.receive(&mut request).map_err(|error| failed("reading request", number, &error))? {
                ReceivedMessage::Message(bytes) => bytes,
                ReceivedMessage::Nothing if over.load(Ordering::Relaxed) => return unclear.undecided(),
                ReceivedMessage::Nothing => continue,
                ReceivedMessage::Closed => return unclear.undecided(),
            };
        let checked = &request[..verified(bytes)];
        if wire.is_udp() {
            // Earlier requests may be lost, and one that was given up may still arrive.
            match number_after(checked, number) {
                Some(this) => {
                    unclear.expected()?;
                    if this != number {
                        number = this;
                        pattern.fill(&mut response[..made], number);
                    }
                }
                None if pattern.is_before(checked, number) => {
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
        if !is_numbered(checked, number) {
            if let Some(wrong) = wrong(&pattern, checked, number) {
                unclear.unknown(wrong)?;
            }
            continue;
        }
        while !wire.send(&response).map_err(|error| failed("writing response", number, &error))? {
            if over.load(Ordering::Relaxed) {
                return Ok(());
            }
        }
        if let Some(wrong) = wrong(&pattern, checked, number) {
            return Err(wrong);
        }
        number += 1;
        served.store(number, Ordering::Relaxed);
        pattern.fill(&mut response[..made], number);
    }
}

fn wrong(pattern: &MessagePattern, request: &[u8], number: u64) -> Option<Reason> {
    let at = pattern.first_wrong(request, number)?;
    let text = format!("byte {at} of request {number} is {:#04x}", request[at]);
    Some(Reason::new(Cause::CorruptData, text))
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
        let (pattern, mut message) = (MessagePattern::default(), vec![0; len]);
        for number in numbers {
            pattern.fill(&mut message, *number);
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

    /// The client's time must not hold the check of its request.
    #[test]
    fn a_wrong_byte_behind_the_number_is_found_after_the_response_was_sent() {
        use std::io::{Read, Write};
        use std::net::TcpListener;

        const LEN: usize = 300;
        let case = unpinned(&[("request", "300 B"), ("response", "300 B")]);
        let config = RrConfig::of(&case, &case.places[1]).expect("config");
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let mut ours = TcpStream::connect(listener.local_addr().expect("told")).expect("connected");
        let wire = Wire::stream(listener.accept().expect("accepted").0);
        wire.set_wait(Wait::Block, IO_TIMEOUT).expect("set");
        let (pattern, served) = (MessagePattern::default(), AtomicU64::new(0));
        let (mut message, mut response) = ([0; LEN], [0; LEN]);
        pattern.fill(&mut message, 0);
        message[LEN - 1] ^= 1;
        ours.write_all(&message).expect("sent");
        let ended = serve(wire, &config, &served, &AtomicBool::new(false)).expect_err("wrong data");
        assert!(ended.text.starts_with("byte 299 of request 0 is "), "{ended:?}");
        ours.read_exact(&mut response).expect("answered");
        assert_eq!((pattern.first_wrong(&response, 0), served.into_inner()), (None, 0));
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
