//! What both ends share.

use seatrial_model::{Case, PartPlacement, Reason};

use super::client::Client;
use super::config::MtuConfig;
use super::server::Server;
use seatrial_bench::{Prepared, ServerSide, ends};

/// The part of `case` at `place`.
///
/// # Errors
/// When the system refuses.
pub fn prepare(case: &Case, place: &PartPlacement) -> Result<Prepared, Reason> {
    let config =
        MtuConfig { interface: ends::interface_for(case, place.index), alone: case.nodes.len() == 1 };
    match place.part.as_str() {
        "client" => Client::prepare(config, place),
        _ => Server { config }.prepare(place),
    }
}
