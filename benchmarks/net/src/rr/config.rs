//! The parameters of a case as both ends need them.

use super::wire::Wait;
use seatrial_bench::Direction;
use seatrial_bench::{Endpoint, ends};
use seatrial_model::{Case, Cause, Params, PartPlacement, Reason, Value};

/// Sizes in bytes, how messages go, and where the connection goes.
#[derive(Clone, Debug)]
pub struct RrConfig {
    pub request: usize,
    pub response: usize,
    pub udp: bool,
    pub wait: Wait,
    /// Requests a second of an open loop; none asks when the last answer is there.
    pub rate: Option<u64>,
    /// Which way a stream runs beside, if one does.
    pub load: Option<Direction>,
    /// The interface of this end, when the plan knows it.
    pub interface: Option<String>,
    /// Whether both ends are on one node.
    pub alone: bool,
}

impl RrConfig {
    pub(super) fn of(case: &Case, place: &PartPlacement) -> Result<Self, Reason> {
        let missing =
            |what: &str| Reason::new(Cause::Protocol, format!("the case carries no size of a {what}"));
        let params = &case.params;
        let request = params.bytes("request")?.ok_or_else(|| missing("request"))?;
        let response = case.planned.bytes("response")?.ok_or_else(|| missing("response"))?;
        Ok(Self {
            request: request.get() as usize,
            response: response.get() as usize,
            udp: params.text("protocol")? == "udp",
            wait: if params.text("wait")? == "spin" { Wait::Spin } else { Wait::Block },
            rate: rate(params),
            load: load(params),
            interface: ends::interface_for(case, place.index),
            alone: case.nodes.len() == 1,
        })
    }

    /// Where the connection begins or ends.
    pub fn endpoint(&self) -> Endpoint<'_> {
        Endpoint::tcp(self.interface.as_deref(), self.alone)
    }

    /// One for the requests, or for meeting; one more for a stream beside them.
    pub fn connections(&self) -> usize {
        if self.load.is_some() { 2 } else { 1 }
    }
}

/// The rate of an open loop.
pub fn rate(params: &Params) -> Option<u64> {
    match params.get("rate") {
        Some(Value::Count(rate)) => Some(*rate),
        _ => None,
    }
}

/// The stream beside the requests.
pub fn load(params: &Params) -> Option<Direction> {
    params.text("load").ok().and_then(Direction::parse)
}
