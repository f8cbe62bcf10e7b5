//! The end that is asked. It serves from a thread of its own, from the connection to its end.

use std::io::{self, ErrorKind};
use std::net::TcpStream;

use seatrial_model::{Cause, Integrity, Phase, Place};
use serde_json::json;

use super::control::Message;
use super::datagram::Datagrams;
use super::part::{Terms, meet, own_mtu};
use super::search::Fate;
use crate::common::{Listening, Serving};
use crate::{Error, Offer, Part, Sink, Stop};

/// The answering part.
pub struct Server {
    terms: Terms,
    place: Place,
    listening: Option<Listening>,
    serving: Option<Serving>,
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
        // Whoever measures no time is at home on any CPU.
        self.serving = Some(Serving::start(vec![own], None, move |_| serve(stream, datagrams))?);
        Ok(())
    }

    fn run(&mut self, _: Phase, stop: &Stop, out: &mut dyn Sink) -> Result<(), Error> {
        let serving = self
            .serving
            .as_mut()
            .ok_or_else(|| Error::new(Cause::Protocol, "told to run before it was connected"))?;
        serving.attend(stop, false)?;
        out.evidence("interface_mtu", json!(serving.control().and_then(own_mtu)));
        Ok(())
    }

    fn verify(&mut self) -> Result<Integrity, Error> {
        Ok(Integrity::Unverified {
            why: "the client hears of every packet whether it arrived as sent".to_owned(),
        })
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
