//! What both ends share: sizes, and the pattern that requests and responses are made of.

use seatrial_model::{Case, Cause, Place};

use super::client::Client;
use super::server::Server;
use crate::common::{Endpoint, ends};
use crate::{Error, Part};

/// Sizes in bytes, and where the connection goes.
#[derive(Clone, Debug)]
pub struct Terms {
    pub request: usize,
    pub response: usize,
    /// The interface of this end, when the plan knows it.
    pub interface: Option<String>,
    /// Whether both ends are on one node.
    pub alone: bool,
}

impl Terms {
    /// Where the connection begins or ends.
    pub fn endpoint(&self) -> Endpoint<'_> {
        Endpoint::tcp(self.interface.as_deref(), self.alone)
    }
}

/// The part of `case` at `place`.
pub fn part(case: &Case, place: &Place) -> Result<Box<dyn Part>, Error> {
    let missing = |what: &str| Error::new(Cause::Protocol, format!("the case carries no size of a {what}"));
    let request = case.params.bytes("request")?.ok_or_else(|| missing("request"))?;
    let response = case.chosen.bytes("response")?.ok_or_else(|| missing("response"))?;
    let terms = Terms {
        request: request.get() as usize,
        response: response.get() as usize,
        interface: ends::interface_for(case, place.index),
        alone: case.nodes.len() == 1,
    };
    Ok(match place.part.as_str() {
        "client" => Box::new(Client::new(terms, place)),
        _ => Box::new(Server::new(terms, place)),
    })
}

/// Fills a message so that its place in the conversation and every byte of it can be checked: a counter, and from it on
/// a sequence that repeats with no power of two.
pub fn fill(message: &mut [u8], number: u64) {
    for (at, byte) in message.iter_mut().enumerate() {
        *byte = expected(at, number);
    }
}

/// The first byte of `message` that is not what [`fill`] wrote.
pub fn first_wrong(message: &[u8], number: u64) -> Option<usize> {
    message.iter().enumerate().position(|(at, byte)| *byte != expected(at, number))
}

fn expected(at: usize, number: u64) -> u8 {
    match number.to_le_bytes().get(at) {
        Some(byte) => *byte,
        None => ((at as u64 + number) % 251) as u8,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_of_a_message_can_be_checked() {
        let mut message = vec![0; 300];
        fill(&mut message, 7_000);
        assert_eq!(first_wrong(&message, 7_000), None);
        assert!(first_wrong(&message, 7_001).is_some(), "an old message is noticed");
        for at in [0, 7, 8, 150, 299] {
            let mut flipped = message.clone();
            flipped[at] ^= 4;
            assert_eq!(first_wrong(&flipped, 7_000), Some(at));
        }
    }
}
