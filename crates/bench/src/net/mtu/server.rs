//! The end that is asked. It serves from a thread of its own, from the connection to its end.

use std::io::{self, ErrorKind};
use std::net::{Shutdown, TcpStream};
use std::thread::JoinHandle;
use std::time::Duration;

use seatrial_model::{Cause, Integrity, Phase, Place};
use serde_json::json;

use super::control::Message;
use super::datagram::Datagrams;
use super::part::{Terms, meet, own_mtu};
use super::search::Fate;
use crate::common::Listening;
use crate::{Error, Offer, Part, Sink, Stop};

/// How often a phase looks whether it is over.
const LOOK: Duration = Duration::from_millis(5);

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
        let mut stream = listening.accept(1)?.only()?;
        let own = stream.try_clone().map_err(|error| Error::new(Cause::IoError, error.to_string()))?;
        let datagrams = meet(&mut stream)?;
        let thread = std::thread::Builder::new()
            .name("serve".to_owned())
            .spawn(move || serve(stream, datagrams))
            .map_err(|error| {
                Error::new(Cause::Denied, format!("cannot start a thread that serves: {error}"))
            })?;
        self.serving = Some(Serving { stream: own, thread: Some(thread) });
        Ok(())
    }

    fn run(&mut self, _: Phase, stop: &Stop, out: &mut dyn Sink) -> Result<(), Error> {
        let serving = self
            .serving
            .as_mut()
            .ok_or_else(|| Error::new(Cause::Protocol, "told to run before it was connected"))?;
        while !stop.is_over() {
            if serving.thread.as_ref().is_some_and(JoinHandle::is_finished) {
                let lost = Error::new(Cause::PartnerLost, "the client closed the connection");
                return serving.end().and(Err(lost));
            }
            std::thread::sleep(LOOK.min(stop.left()));
        }
        out.evidence("interface_mtu", json!(own_mtu(&serving.stream)));
        Ok(())
    }

    fn verify(&mut self) -> Result<Integrity, Error> {
        Ok(Integrity::Unverified {
            why: "the client hears of every packet whether it arrived as sent".to_owned(),
        })
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

/// Answers until the client closes.
fn serve(mut stream: TcpStream, mut datagrams: Datagrams) -> Result<(), Error> {
    loop {
        let answer = match Message::read(&mut stream) {
            Ok(message) => carry_out(&mut datagrams, message),
            Err(error) if matches!(error.kind(), ErrorKind::UnexpectedEof | ErrorKind::ConnectionReset) => {
                return Ok(());
            }
            Err(error) => Err(error),
        };
        let told = answer.and_then(|answer| answer.write(&mut stream));
        told.map_err(|error| Error::new(Cause::IoError, format!("answering the client: {error}")))?;
    }
}

fn carry_out(datagrams: &mut Datagrams, message: Message) -> io::Result<Message> {
    match message {
        // A packet that arrives spoilt has not arrived: the checksum of UDP would have dropped it.
        Message::Expect { number, size } => {
            Ok(if datagrams.arrives(number, size)? == Ok(true) { Message::Yes } else { Message::No })
        }
        Message::Send { number, size } => Ok(match datagrams.send(number, size)? {
            Fate::Arrived => Message::Yes,
            Fate::Lost => Message::No,
            Fate::Refused => Message::Refused,
        }),
        other => Err(io::Error::other(format!("{other:?} was not expected"))),
    }
}
