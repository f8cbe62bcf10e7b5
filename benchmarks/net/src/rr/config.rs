//! The configuration of both ends, read from the case.

use super::load::Stream;
use super::wire::{Wait, Wire};
use crate::protocol;
use seatrial_bench::{Direction, Endpoint, setting_up};
use seatrial_model::{Case, Cause, Params, PartPlacement, Reason, Value, Verification};
use seatrial_sys::net::set_sctp_nodelay;
use std::net::TcpStream;
use std::time::Duration;

#[derive(Clone)]
pub struct RrConfig {
    pub request: usize,
    pub response: usize,
    pub udp: bool,
    pub protocol: String,
    pub wait: Wait,
    /// Requests per second of an open loop; `None` sends the next request after the answer.
    pub rate: Option<u64>,
    /// Direction of the stream beside the requests, if there is one.
    pub load: Option<Direction>,
    pub endpoint: Endpoint,
    pub verification: Verification,
}

impl RrConfig {
    pub(super) fn of(case: &Case, place: &PartPlacement) -> Result<Self, Reason> {
        let missing =
            |what: &str| Reason::new(Cause::Protocol, format!("the case carries no size of a {what}"));
        let params = &case.params;
        let protocol = params.text("protocol")?.to_owned();
        let request = params.bytes("request")?.ok_or_else(|| missing("request"))?;
        let response = case.planned.bytes("response")?.ok_or_else(|| missing("response"))?;
        Ok(Self {
            request: request.get() as usize,
            response: response.get() as usize,
            udp: protocol == "udp",
            endpoint: Endpoint { protocol: protocol::of(&protocol), ..Endpoint::of(case, place) },
            protocol,
            wait: if params.text("wait")? == "spin" { Wait::Spin } else { Wait::Block },
            rate: rate(params),
            load: load(params),
            verification: Verification::of(params),
        })
    }

    /// The connection of the requests, and the stream beside them, which moves data to or from here.
    pub fn streams(
        &self,
        streams: Vec<TcpStream>,
        writes: Direction,
        cpu: Option<u32>,
    ) -> Result<(TcpStream, Option<Stream>), Reason> {
        let mut streams = streams.into_iter();
        let stream = streams.next().ok_or_else(|| Reason::new(Cause::Protocol, "no connection was made"))?;
        let begin = |(load, stream)| Stream::begin(stream, load == writes, cpu);
        Ok((stream, self.load.zip(streams.next()).map(begin).transpose()?))
    }

    /// The end of the requests and responses, on their connection or on datagrams beside it; see [`Wire::set_wait`].
    pub fn wire(&self, stream: TcpStream, wait: Wait, patience: Duration) -> Result<Wire, Reason> {
        if self.protocol == "sctp" {
            // As of TCP, whose connections are made without Nagle's algorithm.
            set_sctp_nodelay(&stream, true).map_err(|error| setting_up(error.into()))?;
        }
        let wire = if self.udp { Wire::udp(stream)? } else { Wire::stream(stream) };
        wire.set_wait(wait, patience).map_err(setting_up)?;
        Ok(wire)
    }

    /// One for the requests, or for the handshake of UDP; one more for a stream beside them.
    pub fn connections(&self) -> usize {
        if self.load.is_some() { 2 } else { 1 }
    }
}

pub fn rate(params: &Params) -> Option<u64> {
    match params.get("rate") {
        Some(Value::Count(rate)) => Some(*rate),
        _ => None,
    }
}

pub fn load(params: &Params) -> Option<Direction> {
    params.text("load").ok().and_then(Direction::parse)
}
