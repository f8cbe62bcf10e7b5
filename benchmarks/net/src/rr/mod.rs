//! `net.rr`: how long a request and its response take between two nodes.

mod client;
mod config;
mod load;
mod message;
mod plan;
mod reduce;
mod request_loop;
mod server;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod truth;
mod unclear;
mod wire;

use seatrial_model::{
    About, Actor, Bytes, Case, Cost, Interaction, Kind, MetricSpec, ParamSpec, PartPlacement, Parts, Reason,
    Remedy, Unit,
};

use crate::metrics::latency;
use crate::protocol;
use client::RrClient;
use config::RrConfig;
use seatrial_bench::{Benchmark, Part, Prepared, call, pin, serve};

const ABOUT: About = About {
    id: "net.rr",
    version: 3,
    title: "request and response over TCP, UDP or SCTP: round trip time, one at a time or at a set rate",
    doc: include_str!("doc.md"),
    checks: &[
        Remedy::new(
            Actor::Root,
            "limit the C-states of idle cores, set the governor to performance, lower rx-usecs (`ethtool -C`)",
        ),
        Remedy::new(
            Actor::NetworkTeam,
            "check the load and the errors of the links and switch ports between the two nodes",
        ),
    ],
    params: &[
        ParamSpec::new("request", Kind::Size(Bytes(1), Bytes::mib(16)), "1 B").doc("Size of a request."),
        ParamSpec::new("response", Kind::Size(Bytes(1), Bytes::mib(16)), "auto")
            .word("auto")
            .doc("Size of a response; auto: the size of the request."),
        ParamSpec::new("protocol", Kind::Choice(&["tcp", "udp", "sctp"]), "tcp")
            .doc("Transport protocol; sctp needs kernel support."),
        ParamSpec::new("rate", Kind::Count(1, 10_000_000), "max").word("max").doc(
            "Requests per second, sent whether or not the previous one is answered; max: the next request \
             is sent after the answer.",
        ),
        ParamSpec::new("wait", Kind::Choice(&["block", "spin"]), "block")
            .doc("block: the ends sleep until a message arrives; spin: they poll for it."),
        ParamSpec::new("load", Kind::Choice(&["none", "forward", "reverse"]), "none")
            .doc("Direction of a stream at full load beside the requests, over SCTP with protocol=sctp, else over TCP; none: no stream."),
        seatrial_bench::affinity::AFFINITY,
        seatrial_bench::interfaces::INTERFACE,
        seatrial_bench::interfaces::PEER_INTERFACE,
        seatrial_bench::VERIFY,
        ParamSpec { default: "1 s", ..seatrial_bench::TIME },
        seatrial_bench::TRIALS,
        seatrial_bench::MAX_TRIALS,
        seatrial_bench::PRECISION,
        seatrial_bench::SCHED,
    ],
    metrics: &[
        latency(
            "round_trip",
            "Time from the first byte of a request to the last byte of its response, median of each slice.",
        ),
        latency("p99", "99th percentile of the round trips."),
        latency("p999", "99.9th percentile of the round trips."),
        latency("p9999", "99.99th percentile of the round trips."),
        latency("slowest", "The longest round trip."),
        MetricSpec::higher_is_better("rate", Unit::PerSecond).doc("Round trips per second."),
        MetricSpec::lower_is_better("loss", Unit::Percent)
            .doc("Requests without an answer, in percent of those sent; UDP only."),
    ],
    series: &[],
    parts: Parts::Two(["client", "server"]),
    needs: &[],
    probes: &["steal", "load", "clock", "nic", "qdisc", "softnet", "snmp"],
    cost: Cost { seconds: 4, written: 0 },
    interaction: Interaction::Loads("one core of each of two nodes, and little of the link"),
};

pub const BENCHMARK: Benchmark = Benchmark {
    about: &ABOUT,
    factors: &[seatrial_bench::affinity::UNPINNED],
    plan: plan::plan,
    limits: |about, _, _| seatrial_bench::no_limits(about),
    part: |case, place| Part::new(case, place, prepare),
    liveness_check: |_, _| None,
    reduce: reduce::reduce,
};

fn prepare(case: &Case, place: &PartPlacement) -> Result<Prepared, Reason> {
    let config = RrConfig::of(case, place)?;
    let (endpoint, count, cpus) =
        (config.endpoint.clone(), config.connections(), [place.cpu(0), place.cpu(1)]);
    if place.part != "client" {
        let protocol = config.protocol.clone();
        let served = serve(place, &endpoint, count, move |streams| server::begin(streams, config, cpus));
        return served.map_err(|error| protocol::refused(&protocol, error));
    }
    cpus[0].map_or(Ok(()), pin)?;
    call(place, endpoint, count, move |streams| RrClient::begin(streams, config, cpus[1]))
}
