//! What both ends share.

use seatrial_model::{Case, PartPlacement};

use super::client::Client;
use super::config::RrConfig;
use super::server::Server;
use seatrial_bench::{Error, Part};

/// The part of `case` at `place`.
pub fn part(case: &Case, place: &PartPlacement) -> Result<Box<dyn Part>, Error> {
    let config = RrConfig::of(case, place)?;
    Ok(match place.part.as_str() {
        "client" => Box::new(Client::new(config, place)),
        _ => Box::new(Server::at(place, config)),
    })
}
