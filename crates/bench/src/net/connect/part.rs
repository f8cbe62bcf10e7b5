//! What both ends share.

use seatrial_model::{Case, PartPlacement, Value};

use super::client::Client;
use super::server::Server;
use crate::common::{Endpoint, ends};
use crate::{Error, Part};

/// Bytes that go each way on a connection with an exchange: its number.
pub const NUMBER: usize = 8;

/// What is asked for, and where connections go.
#[derive(Clone, Debug)]
pub struct ConnectConfig {
    pub exchange: bool,
    pub interface: Option<String>,
    pub alone: bool,
}

impl ConnectConfig {
    pub fn endpoint(&self) -> Endpoint<'_> {
        Endpoint::tcp(self.interface.as_deref(), self.alone)
    }
}

/// The part of `case` at `place`.
pub fn part(case: &Case, place: &PartPlacement) -> Result<Box<dyn Part>, Error> {
    let config = ConnectConfig {
        exchange: case.params.get("exchange") == Some(&Value::Flag(true)),
        interface: ends::interface_for(case, place.index),
        alone: case.nodes.len() == 1,
    };
    Ok(match place.part.as_str() {
        "client" => Box::new(Client::new(config, place)),
        _ => Box::new(Server::at(place, config)),
    })
}
