//! The end that answers. It serves from a thread of its own from the connection to its end, so that no request finds it
//! between two phases.

use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::JoinHandle;

use seatrial_model::{Cause, Integrity, Phase, Place};
use serde_json::json;

use super::part::{Terms, fill, first_wrong};
use crate::common::{Listening, pin};
use crate::{Error, Offer, Part, Sink, Stop};

/// How often a phase looks whether it is over; nothing of the measurement waits for it.
const LOOK: std::time::Duration = std::time::Duration::from_millis(5);

/// The answering part.
pub struct Server {
    terms: Terms,
    place: Place,
    listening: Option<Listening>,
    serving: Option<Serving>,
}

struct Serving {
    stream: TcpStream,
    thread: Option<JoinHandle<Result<(), Error>>>,
    served: Arc<AtomicU64>,
}

impl Server {
    pub fn new(terms: Terms, place: &Place) -> Self {
        Self { terms, place: place.clone(), listening: None, serving: None }
    }
}

impl Part for Server {
    fn prepare(&mut self) -> Result<Offer, Error> {
        let listening = Listening::open(&self.terms.endpoint())?;
        let reach = listening.reach()?;
        self.listening = Some(listening);
        Ok(Offer::new(&self.place, json!(reach)))
    }

    fn connect(&mut self, _: &[Offer]) -> Result<(), Error> {
        let listening = self
            .listening
            .take()
            .ok_or_else(|| Error::new(Cause::Protocol, "told to connect before it listened"))?;
        let stream = listening.accept(1)?.only()?;
        let own = stream.try_clone().map_err(|error| Error::new(Cause::IoError, error.to_string()))?;
        let served = Arc::new(AtomicU64::new(0));
        let (terms, cpu, counter) =
            (self.terms.clone(), self.place.seats.first().map(|seat| seat.cpu), Arc::clone(&served));
        let serve = move || {
            if let Some(cpu) = cpu {
                pin(cpu)?;
            }
            serve(stream, &terms, &counter)
        };
        let thread = std::thread::Builder::new().name("serve".to_owned()).spawn(serve).map_err(|error| {
            Error::new(Cause::Denied, format!("cannot start a thread that serves: {error}"))
        })?;
        self.serving = Some(Serving { stream: own, thread: Some(thread), served });
        Ok(())
    }

    fn run(&mut self, _: Phase, stop: &Stop, out: &mut dyn Sink) -> Result<(), Error> {
        let serving = self
            .serving
            .as_mut()
            .ok_or_else(|| Error::new(Cause::Protocol, "told to run before it was connected"))?;
        while !stop.is_over() {
            if serving.thread.as_ref().is_some_and(JoinHandle::is_finished) {
                return serving
                    .end()
                    .and(Err(Error::new(Cause::PartnerLost, "the client closed the connection")));
            }
            std::thread::sleep(LOOK.min(stop.left()));
        }
        out.evidence("served", json!(serving.served.load(Ordering::Relaxed)));
        Ok(())
    }

    /// The client checks every byte of the answers, and the server every byte of the requests, as they come; here it is
    /// only asked whether it had to stop.
    fn verify(&mut self) -> Result<Integrity, Error> {
        let Some(serving) = &mut self.serving else {
            return Ok(Integrity::Unverified { why: "there was no connection".to_owned() });
        };
        let checked = serving.served.load(Ordering::Relaxed) * self.terms.request as u64;
        if serving.thread.as_ref().is_some_and(JoinHandle::is_finished) {
            match serving.end() {
                Err(error) if error.cause == Cause::CorruptData => {
                    return Ok(Integrity::Corrupt { wrong: 1, of: checked, first: error.text });
                }
                other => other?,
            }
        }
        Ok(Integrity::Verified { checked })
    }
}

impl Serving {
    fn end(&mut self) -> Result<(), Error> {
        match self.thread.take().map(JoinHandle::join) {
            Some(Ok(ended)) => ended,
            Some(Err(_)) => Err(Error::new(Cause::Crash, "the serving thread panicked")),
            None => Ok(()),
        }
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        // Ends the thread's read.
        let _ = self.stream.shutdown(Shutdown::Both);
        let _ = self.end();
    }
}

/// Answers until the client closes. Every byte of a request is checked: the first ones number it, so that a lost or
/// repeated one is noticed too.
fn serve(mut stream: TcpStream, terms: &Terms, served: &AtomicU64) -> Result<(), Error> {
    let mut request = vec![0; terms.request];
    let mut response = vec![0; terms.response];
    let mut number = 0_u64;
    loop {
        match stream.read_exact(&mut request) {
            Ok(()) => {}
            Err(error) if error.kind() == ErrorKind::UnexpectedEof => return Ok(()),
            Err(error) => {
                return Err(Error::new(Cause::IoError, format!("reading request {number}: {error}")));
            }
        }
        if let Some(at) = first_wrong(&request, number) {
            let text = format!("byte {at} of request {number} is {:#04x}", request[at]);
            return Err(Error::new(Cause::CorruptData, text));
        }
        fill(&mut response, number);
        stream
            .write_all(&response)
            .map_err(|error| Error::new(Cause::IoError, format!("writing response {number}: {error}")))?;
        number += 1;
        served.store(number, Ordering::Relaxed);
    }
}
