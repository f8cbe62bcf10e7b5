//! What both ends share.

use seatrial_model::{Case, PartPlacement, Reason, Value};

use super::client::ConnectClient;
use super::config::ConnectConfig;
use super::server::ConnectServer;
use seatrial_bench::ends;
use seatrial_bench::{Prepared, ServerSide};

/// The part of `case` at `place`.
pub fn prepare(case: &Case, place: &PartPlacement) -> Result<Prepared, Reason> {
    let config = ConnectConfig {
        exchange: case.params.get("exchange") == Some(&Value::Flag(true)),
        interface: ends::interface_for(case, place.index),
        alone: case.nodes.len() == 1,
    };
    match place.part.as_str() {
        "client" => ConnectClient::prepare(config, place),
        _ => ConnectServer::new(config, place).prepare(place),
    }
}
