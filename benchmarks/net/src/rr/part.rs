//! What both ends share.

use seatrial_model::{Case, PartPlacement, Reason};

use super::client::RrClient;
use super::config::RrConfig;
use super::server::RrServer;
use seatrial_bench::{Prepared, ServerSide};

/// The part of `case` at `place`.
pub fn prepare(case: &Case, place: &PartPlacement) -> Result<Prepared, Reason> {
    let config = RrConfig::of(case, place)?;
    match place.part.as_str() {
        "client" => RrClient::prepare(config, place),
        _ => RrServer::new(config, place).prepare(place),
    }
}
