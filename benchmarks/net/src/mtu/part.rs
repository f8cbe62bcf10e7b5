//! What both ends share.

use seatrial_model::{Case, PartPlacement, Reason};

use super::client::MtuClient;
use super::config::MtuConfig;
use super::server::MtuServer;
use seatrial_bench::{Prepared, ServerSide, ends};

/// The part of `case` at `place`.
pub fn prepare(case: &Case, place: &PartPlacement) -> Result<Prepared, Reason> {
    let config =
        MtuConfig { interface: ends::interface_for(case, place.index), alone: case.nodes.len() == 1 };
    match place.part.as_str() {
        "client" => MtuClient::prepare(config, place),
        _ => MtuServer { config }.prepare(place),
    }
}
