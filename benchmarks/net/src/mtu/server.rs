//! The end that is asked. It serves from a thread of its own, from the connection to its end.

use std::io::{self, ErrorKind};
use std::net::TcpStream;

use seatrial_model::{Cause, Integrity, Reason};
use serde_json::json;

use super::config::MtuConfig;
use super::control::Message;
use super::datagram::Datagrams;
use super::meet::{meet, own_mtu};
use super::search::Fate;
use seatrial_bench::Sink;
use seatrial_bench::{Listener, ServerSide, ServerThread};

pub struct MtuServer {
    pub config: MtuConfig,
}

impl ServerSide for MtuServer {
    fn listen(&mut self) -> Result<Listener, Reason> {
        Listener::open(&self.config.endpoint())
    }

    fn begin(&mut self, listener: Listener) -> Result<ServerThread, Reason> {
        let mut stream = listener.accept(1)?.only()?;
        let own = stream.try_clone().map_err(|error| Reason::new(Cause::IoError, error.to_string()))?;
        let datagrams = meet(&mut stream)?;
        // Whoever measures no time is at home on any CPU.
        ServerThread::start(vec![own], None, move |_| serve(stream, datagrams))
    }

    fn tell(&self, server: &ServerThread, out: &mut dyn Sink) {
        out.evidence("interface_mtu", json!(server.control().and_then(own_mtu)));
    }

    fn verify(&mut self, _: &mut ServerThread) -> Result<Integrity, Reason> {
        Ok(Integrity::Unverified {
            why: "the client hears of every packet whether it arrived as sent".to_owned(),
        })
    }
}

/// Answers until the client closes.
fn serve(mut stream: TcpStream, mut datagrams: Datagrams) -> Result<(), Reason> {
    loop {
        let answer = match Message::read(&mut stream) {
            Ok(message) => carry_out(&mut datagrams, message),
            Err(error) if matches!(error.kind(), ErrorKind::UnexpectedEof | ErrorKind::ConnectionReset) => {
                return Ok(());
            }
            Err(error) => Err(error),
        };
        let told = answer.and_then(|answer| answer.write(&mut stream));
        told.map_err(|error| Reason::new(Cause::IoError, format!("answering the client: {error}")))?;
    }
}

fn carry_out(datagrams: &mut Datagrams, message: Message) -> io::Result<Message> {
    match message {
        // A packet that arrives spoilt has not arrived: the checksum of UDP would have dropped it.
        Message::Expect { number, size, wait_ms } => {
            Ok(if datagrams.arrives(number, size, wait_ms)? == Ok(true) { Message::Yes } else { Message::No })
        }
        Message::Send { number, size } => Ok(match datagrams.send(number, size)? {
            Fate::Arrived => Message::Yes,
            Fate::Lost => Message::No,
            Fate::Refused => Message::Refused,
        }),
        other => Err(io::Error::other(format!("{other:?} was not expected"))),
    }
}
