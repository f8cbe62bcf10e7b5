//! The end that answers. It serves from a thread of its own from the connection to its end, so that no request finds it
//! between two phases.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use seatrial_model::{Cause, Integrity, PartPlacement, Reason};
use serde_json::json;

use super::config::RrConfig;
use super::load::Stream;
use super::message::{fill, first_wrong, is_before, number_after};
use super::wire::{ReceivedMessage, Wire};
use seatrial_bench::Direction;
use seatrial_bench::Sink;
use seatrial_bench::{Listener, ServerSide, ServerThread};

/// How long the server sleeps at most before it looks whether it is wanted any more.
const PATIENCE: Duration = Duration::from_millis(50);

pub struct RrServer {
    config: RrConfig,
    /// Of the requests, and of the stream beside them.
    cpus: [Option<u32>; 2],
    served: Arc<AtomicU64>,
    load: Option<Stream>,
}

impl RrServer {
    pub fn new(config: RrConfig, place: &PartPlacement) -> Self {
        let cpus = [0, 1].map(|binding| place.bindings.get(binding).map(|binding| binding.cpu));
        Self { config, cpus, served: Arc::default(), load: None }
    }
}

impl ServerSide for RrServer {
    fn listen(&mut self) -> Result<Listener, Reason> {
        Listener::open(&self.config.endpoint())
    }

    fn begin(&mut self, listener: Listener) -> Result<ServerThread, Reason> {
        let failed = |error: std::io::Error| {
            Reason::new(Cause::IoError, format!("setting up the connection: {error}"))
        };
        let mut streams = listener.accept(self.config.connections())?.streams.into_iter();
        let stream =
            streams.next().ok_or_else(|| Reason::new(Cause::Protocol, "no connection was asked for"))?;
        if let (Some(load), Some(beside)) = (self.config.load, streams.next()) {
            self.load = Some(Stream::begin(beside, load == Direction::Reverse, self.cpus[1])?);
        }
        let control = stream.try_clone().map_err(failed)?;
        let wire = if self.config.udp { Wire::udp(stream)? } else { Wire::tcp(stream) };
        wire.set_wait(self.config.wait, PATIENCE).map_err(failed)?;
        let (config, served) = (self.config.clone(), Arc::clone(&self.served));
        let work = move |over: &AtomicBool| serve(wire, &config, &served, over);
        ServerThread::start(vec![control], self.cpus[0], work)
    }

    /// A server of datagrams does not notice that its client is gone.
    fn is_deaf(&self) -> bool {
        self.config.udp
    }

    fn tell(&self, _: &ServerThread, out: &mut dyn Sink) {
        out.evidence("served", json!(self.served.load(Ordering::Relaxed)));
    }

    /// The client checks every byte of the answers, and the server every byte of the requests, as they come; here it is
    /// only asked whether it had to stop.
    fn verify(&mut self, server: &mut ServerThread) -> Result<Integrity, Reason> {
        let checked = self.served.load(Ordering::Relaxed) * self.config.request as u64;
        if server.is_finished() {
            match server.end() {
                Err(error) if error.cause == Cause::CorruptData => {
                    return Ok(Integrity::Corrupt { wrong: 1, of: checked, first: error.text });
                }
                other => other?,
            }
        }
        Ok(Integrity::Verified { checked })
    }
}

/// Answers until the client closes or nobody wants it any more. Every byte of a request is checked: the first ones
/// number it, so that a lost or repeated one is noticed too.
fn serve(mut wire: Wire, config: &RrConfig, served: &AtomicU64, over: &AtomicBool) -> Result<(), Reason> {
    let mut request = vec![0; config.request];
    let mut response = vec![0; config.response];
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
            // Requests before this one may have been lost; one that was given up may still come.
            match number_after(&request[..bytes], number) {
                Some(this) => number = this,
                None if is_before(&request[..bytes], number) => continue,
                None => {}
            }
        }
        if bytes != request.len() {
            let text = format!("request {number} is {bytes} B long, not {}", request.len());
            return Err(Reason::new(Cause::CorruptData, text));
        }
        if let Some(at) = first_wrong(&request, number) {
            let text = format!("byte {at} of request {number} is {:#04x}", request[at]);
            return Err(Reason::new(Cause::CorruptData, text));
        }
        fill(&mut response, number);
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
