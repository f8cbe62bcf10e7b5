//! The case between two ends.

use seatrial_model::{About, Bytes, Case, Cause, Nanos, Params, Reason, Site};

use super::config;
use seatrial_bench::Ends;
use seatrial_bench::affinity::place_threads;

/// Payload of the largest datagram: 65,535 B less the headers of IPv4 (20 B) and UDP (8 B).
const LARGEST_DATAGRAM: Bytes = Bytes(65_507);

/// SCTP takes a message whole or not at all: it has to fit into the smallest send buffer that a kernel has by default
/// (net.core.wmem_default).
const LARGEST_SCTP: Bytes = Bytes::kib(64);

pub fn plan(about: &About, params: &Params, site: &Site) -> Result<Vec<Case>, Reason> {
    let ends = Ends::of(site, params)?;
    let mut case = ends.case(about, params, seatrial_bench::budget(params)?);
    let rate = config::rate(params);
    if rate.is_some() && params.text("wait").is_ok_and(|wait| wait == "block") {
        // With rate= the client polls in any case, so as not to miss the time of the next request.
        case.planned.set("client_wait", "spin");
    }
    let response = params.bytes("response").ok().flatten().or(params.bytes("request").ok().flatten());
    if let Some(bytes) = response {
        case.planned.set("response", bytes);
    }
    let largest = match params.text("protocol") {
        Ok("udp") => LARGEST_DATAGRAM,
        Ok("sctp") => LARGEST_SCTP,
        _ => Bytes(u64::MAX),
    };
    let request = params.bytes("request").ok().flatten();
    if let Some(too_long) = [request, response].into_iter().flatten().find(|bytes| *bytes > largest) {
        let text = format!("a message cannot hold {too_long}: set at most {largest}, or -p protocol=tcp");
        return Err(Reason::new(Cause::Contradiction, text));
    }
    let threads = if config::load(params).is_some() { 2 } else { 1 };
    place_threads(&ends, site, params, threads)?.apply(&ends, about.parts.names(), &mut case);
    case.budget.overhead = Nanos::millis(150);
    Ok(vec![case])
}
