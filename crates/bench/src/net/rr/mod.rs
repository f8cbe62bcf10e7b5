//! `net.rr`: how long a request and its response take between two nodes.

mod client;
mod part;
mod plan;
mod reduce;
mod server;
#[cfg(test)]
mod tests;

use seatrial_model::{
    About, Better, Bytes, Case, Cost, Interaction, Kind, Limits, Measures, MetricSpec, ParamSpec, Params,
    PartRecord, Place, Reason, Site, Unit,
};

use crate::{Benchmark, Error, Part, common};

/// The benchmark.
pub struct RequestResponse;

const fn latency(name: &'static str, doc: &'static str) -> MetricSpec {
    MetricSpec { name, doc, unit: Unit::Microsecond, better: Better::Lower }
}

const ABOUT: About = About {
    id: "net.rr",
    version: 1,
    title: "request and response over TCP: round trip time, one at a time",
    doc: include_str!("doc.md"),
    params: &[
        ParamSpec {
            name: "request",
            doc: "Bytes of a request.",
            kind: Kind::Size(Bytes(1), Bytes::mib(16)),
            word: None,
            default: "1 B",
        },
        ParamSpec {
            name: "response",
            doc: "Bytes of a response; auto is as many as the request.",
            kind: Kind::Size(Bytes(1), Bytes::mib(16)),
            word: Some("auto"),
            default: "auto",
        },
        common::ends::INTERFACE,
        ParamSpec { default: "1 s", ..common::TIME },
        common::TRIALS,
        common::MAX_TRIALS,
        common::PRECISION,
    ],
    metrics: &[
        latency(
            "round_trip",
            "Time from the request's first byte to the response's last, median of each slice.",
        ),
        latency("p99", "Time that 99 % of all round trips do not exceed."),
        latency("p999", "Time that 99.9 % of all round trips do not exceed."),
        latency("slowest", "The longest round trip."),
        MetricSpec {
            name: "rate",
            doc: "Round trips a second, one after the other.",
            unit: Unit::PerSecond,
            better: Better::Higher,
        },
    ],
    series: &[],
    parts: &["client", "server"],
    needs: &[],
    probes: &["steal", "load"],
    cost: Cost { seconds: 4, written: 0 },
    interaction: Interaction::Loads("one core of each of two nodes, and the link between them lightly"),
};

impl Benchmark for RequestResponse {
    fn about(&self) -> &'static About {
        &ABOUT
    }

    fn plan(&self, params: &Params, site: &Site) -> Result<Vec<Case>, Reason> {
        plan::plan(&ABOUT, params, site)
    }

    fn limits(&self, _: &Case, _: &Site) -> Limits {
        plan::limits(&ABOUT)
    }

    fn part(&self, case: &Case, place: &Place) -> Result<Box<dyn Part>, Error> {
        part::part(case, place)
    }

    fn reduce(&self, case: &Case, parts: &[PartRecord]) -> Result<Measures, Reason> {
        reduce::reduce(case, parts)
    }
}
