//! What both ends share.

use seatrial_model::{Case, PartPlacement, Value};

use super::client::Client;
use super::config::ConnectConfig;
use super::server::Server;
use seatrial_bench::ends;
use seatrial_bench::{Error, Part};

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
