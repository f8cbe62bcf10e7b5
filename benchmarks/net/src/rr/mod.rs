//! `net.rr`: how long a request and its response take between two nodes.

mod client;
mod config;
mod load;
mod message;
mod part;
mod plan;
mod reduce;
mod request_loop;
mod server;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod truth;
mod wire;

use seatrial_model::{About, Bytes, Cost, Interaction, Kind, MetricSpec, ParamSpec, Unit};

use seatrial_bench::{Benchmark, Part};

const fn latency(name: &'static str, doc: &'static str) -> MetricSpec {
    MetricSpec::lower_is_better(name, Unit::Microsecond).doc(doc)
}

const ABOUT: About = About {
    id: "net.rr",
    version: 3,
    title: "request and response over TCP or UDP: round trip time, one at a time or at a set rate",
    doc: include_str!("doc.md"),
    params: &[
        ParamSpec::new("request", Kind::Size(Bytes(1), Bytes::mib(16)), "1 B").doc("Bytes of a request."),
        ParamSpec::new("response", Kind::Size(Bytes(1), Bytes::mib(16)), "auto")
            .word("auto")
            .doc("Bytes of a response; auto is as many as the request."),
        ParamSpec::new("protocol", Kind::Choice(&["tcp", "udp"]), "tcp").doc("What carries the messages."),
        ParamSpec::new("rate", Kind::Count(1, 10_000_000), "max").word("max").doc(
            "Requests a second, sent whether or not the last one is answered; max sends the next one \
             with the answer.",
        ),
        ParamSpec::new("wait", Kind::Choice(&["block", "spin"]), "block")
            .doc("Whether the ends sleep until a message comes, or ask for it again and again."),
        ParamSpec::new("load", Kind::Choice(&["none", "forward", "reverse"]), "none")
            .doc("A full TCP stream beside the requests: none, or the way it runs."),
        seatrial_bench::affinity::AFFINITY,
        seatrial_bench::ends::INTERFACE,
        ParamSpec { default: "1 s", ..seatrial_bench::TIME },
        seatrial_bench::TRIALS,
        seatrial_bench::MAX_TRIALS,
        seatrial_bench::PRECISION,
    ],
    metrics: &[
        latency(
            "round_trip",
            "Time from the request's first byte to the response's last, median of each slice.",
        ),
        latency("p99", "Time that 99 % of all round trips do not exceed."),
        latency("p999", "Time that 99.9 % of all round trips do not exceed."),
        latency("p9999", "Time that 99.99 % of all round trips do not exceed."),
        latency("slowest", "The longest round trip."),
        MetricSpec::higher_is_better("rate", Unit::PerSecond).doc("Round trips a second."),
        MetricSpec::lower_is_better("loss", Unit::Percent)
            .doc("Requests of which no answer came, of all that were sent; of UDP only."),
    ],
    series: &[],
    parts: &["client", "server"],
    needs: &[],
    probes: &["steal", "load", "clock", "nic", "qdisc", "softnet", "snmp"],
    cost: Cost { seconds: 4, written: 0 },
    interaction: Interaction::Loads("one core of each of two nodes, and the link between them lightly"),
};

pub const BENCHMARK: Benchmark = Benchmark {
    about: &ABOUT,
    factors: &[seatrial_bench::affinity::UNPINNED],
    plan: plan::plan,
    limits: |about, _, _| seatrial_bench::no_limits(about),
    part: |case, place| Part::new(case, place, part::prepare),
    liveness_check: |_, _| None,
    reduce: reduce::reduce,
};
