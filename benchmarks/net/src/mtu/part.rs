//! What both ends share.

use seatrial_model::{Case, PartPlacement};

use super::client::Client;
use super::config::MtuConfig;
use super::server::Server;
use seatrial_bench::Part;
use seatrial_bench::ends;

/// The part of `case` at `place`.
pub fn part(case: &Case, place: &PartPlacement) -> Box<dyn Part> {
    let config =
        MtuConfig { interface: ends::interface_for(case, place.index), alone: case.nodes.len() == 1 };
    match place.part.as_str() {
        "client" => Box::new(Client::new(config, place)),
        _ => Box::new(Server::at(place, config)),
    }
}
