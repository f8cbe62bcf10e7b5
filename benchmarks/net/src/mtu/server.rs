//! The answering end. Its thread runs from the connection to its end.

use std::io::{self, ErrorKind};
use std::net::TcpStream;

use seatrial_model::{Cause, Integrity, Reason};
use serde_json::json;

use super::control::Message;
use super::datagram::Datagrams;
use super::meet::{meet, own_mtu};
use super::search::Fate;
use seatrial_bench::{ServerEnd, ServerThread, Serving, Sink, second_handles};

pub struct MtuServer;

pub fn begin(mut streams: Vec<TcpStream>) -> Result<Serving<MtuServer>, Reason> {
    let own = second_handles(&streams)?;
    let mut stream = streams.remove(0);
    let datagrams = meet(&mut stream)?;
    // The server takes no times, so its thread is not pinned.
    let server = ServerThread::start(own, None, move |_| serve(stream, datagrams))?;
    Ok(Serving { server, end: MtuServer })
}

impl ServerEnd for MtuServer {
    fn tell(&self, server: &ServerThread, out: &mut dyn Sink) {
        out.evidence("interface_mtu", json!(server.control().and_then(own_mtu)));
    }

    fn verify(&mut self, _: &mut ServerThread) -> Result<Integrity, Reason> {
        Ok(Integrity::Unverified { why: "the client checks every packet".to_owned() })
    }
}

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
        // A damaged packet counts as lost: the UDP checksum should have dropped it.
        Message::Expect { number, size, wait_ms } => {
            Ok(if datagrams.arrives(number, size, wait_ms)? == Ok(true) { Message::Yes } else { Message::No })
        }
        Message::Send { number, size } => Ok(match datagrams.send(number, size)? {
            Fate::Arrived => Message::Yes,
            Fate::Lost => Message::No,
            Fate::Refused => Message::Refused,
        }),
        other => Err(io::Error::other(format!("an unexpected message: {other:?}"))),
    }
}
