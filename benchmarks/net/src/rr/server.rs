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
    let mut number = 0_u64;
    loop {
        let bytes =
            match wire.receive(&mut request).map_err(|error| failed("reading request", number, &error))? {
                ReceivedMessage::Message(bytes) => bytes,
                ReceivedMessage::Nothing if over.load(Ordering::Relaxed) => return Ok(()),
                ReceivedMessage::Nothing => continue,
                ReceivedMessage::Closed => return Ok(()),
            };
        if wire.is_udp() {
            // Earlier requests may be lost, and one that was given up may still arrive.
            match number_after(&request[..verified(bytes)], number) {
                Some(this) => number = this,
                None if is_before(&request[..verified(bytes)], number) => continue,
                None => {}
            }
        }
        if bytes != request.len() {
            let text = format!("request {number} is {bytes} B long, not {}", request.len());
            return Err(Reason::new(Cause::CorruptData, text));
        }
        if let Some(at) = first_wrong(&request[..verified(bytes)], number) {
            let text = format!("byte {at} of request {number} is {:#04x}", request[at]);
            return Err(Reason::new(Cause::CorruptData, text));
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
