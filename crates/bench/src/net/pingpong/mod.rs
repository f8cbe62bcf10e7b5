//! `net.pingpong`: messages of many sizes back and forth over TCP or RDMA, by NetPIPE's method.

mod advice;
mod by_verbs;
mod part;
mod plan;
mod tcp;
#[cfg(test)]
mod tests;
mod transferred;
mod verbs;

use seatrial_model::{
    About, AxisSpec, Better, Bytes, Case, Cost, Factor, Interaction, Kind, Limits, Measures, MetricSpec,
    ParamSpec, Params, PartPlacement, PartRecord, Reason, SeriesSpec, Site, Unit,
};

use crate::common::pingpong::{Curve, Mode};
use crate::{Benchmark, Error, Part, common};

pub struct PingPong;

const SIZE: &[AxisSpec] = &[AxisSpec { name: "size", unit: Unit::Byte }];

const ABOUT: About = About {
    id: "net.pingpong",
    version: 2,
    title: "messages of all sizes back and forth over TCP or RDMA: throughput and latency by size",
    doc: include_str!("doc.md"),
    params: &[
        ParamSpec {
            name: "mode",
            doc: "One message there and one back, messages one way on a fresh connection for each size, or both ways at once.",
            kind: Kind::Choice(Mode::WORDS),
            word: None,
            default: "pingpong",
        },
        ParamSpec {
            name: "transport",
            doc: "What carries the messages: TCP, or RDMA writes over the ports of the interface (verbs).",
            kind: Kind::Choice(&["tcp", "verbs"]),
            word: None,
            default: "tcp",
        },
        ParamSpec {
            name: "from",
            doc: "The smallest message.",
            kind: Kind::Size(Bytes(1), Bytes::mib(256)),
            word: None,
            default: "1 B",
        },
        ParamSpec {
            name: "to",
            doc: "The largest message.",
            kind: Kind::Size(Bytes(1), Bytes::mib(256)),
            word: None,
            default: "64 MiB",
        },
        ParamSpec {
            name: "beside",
            doc: "How many bytes beside each size two more are measured; 0 measures none.",
            kind: Kind::Count(0, 1024),
            word: None,
            default: "3",
        },
        ParamSpec {
            name: "buffers",
            doc: "Every message from and into the same memory, which the caches hold, or each other memory than the last.",
            kind: Kind::Choice(&["same", "different"]),
            word: None,
            default: "same",
        },
        ParamSpec {
            name: "socket_buffer",
            doc: "Size of the send and the receive buffer of each socket of TCP; auto lets the kernel fit them.",
            kind: Kind::Size(Bytes::kib(4), Bytes::gib(1)),
            word: Some("auto"),
            default: "auto",
        },
        common::affinity::AFFINITY,
        common::ends::INTERFACE,
        ParamSpec { default: "2 s", ..common::TIME },
        common::TRIALS,
        common::MAX_TRIALS,
        ParamSpec { default: "5", ..common::PRECISION },
    ],
    metrics: &[
        MetricSpec {
            name: "throughput",
            doc: "Payload over time at the size where it is highest; of both ways together in mode both.",
            unit: Unit::GigabitsPerSecond,
            better: Better::Higher,
        },
        MetricSpec {
            name: "latency",
            doc: "Half the round trip of messages below 64 B; in mode pingpong only.",
            unit: Unit::Microsecond,
            better: Better::Lower,
        },
        MetricSpec {
            name: "half_size",
            doc: "The smallest message that reaches half of the highest throughput.",
            unit: Unit::Byte,
            better: Better::Lower,
        },
    ],
    series: &[
        SeriesSpec {
            name: "by_size",
            doc: "Payload over time by size of the message.",
            unit: Unit::GigabitsPerSecond,
            better: Better::Higher,
            axes: SIZE,
        },
        SeriesSpec {
            name: "time_by_size",
            doc: "Half the round trip by size of the message; in mode pingpong only.",
            unit: Unit::Microsecond,
            better: Better::Lower,
            axes: SIZE,
        },
    ],
    parts: &["leader", "follower"],
    needs: &[],
    probes: &["steal", "load", "nic", "qdisc", "softnet", "snmp", "ib_port"],
    cost: Cost { seconds: 8, written: 0 },
    interaction: Interaction::Loads("one core of each of two nodes, and the link between them"),
};

impl Benchmark for PingPong {
    fn about(&self) -> &'static About {
        &ABOUT
    }

    fn factors(&self) -> &'static [Factor] {
        &[common::affinity::UNPINNED]
    }

    fn plan(&self, params: &Params, site: &Site) -> Result<Vec<Case>, Reason> {
        plan::plan(&ABOUT, params, site)
    }

    fn limits(&self, case: &Case, site: &Site) -> Limits {
        plan::limits(&ABOUT, case, site)
    }

    fn part(&self, case: &Case, place: &PartPlacement) -> Result<Box<dyn Part>, Error> {
        part::part(case, place)
    }

    fn reduce(&self, case: &Case, parts: &[PartRecord]) -> Result<Measures, Reason> {
        let curve = Curve::of(parts);
        let mode = plan::mode(case)?;
        let mut measures = curve.measures(mode)?;
        transferred::transferred(parts, mode, plan::is_by_verbs(&case.params)).tell(case, &mut measures);
        if let Some(connection) = parts.iter().find_map(|part| part.evidence.get("connection")) {
            measures.findings.extend(advice::window(&curve, connection));
            measures.evidence.insert("connection".to_owned(), connection.clone());
        }
        if let Some(device) = parts.iter().find_map(|part| part.evidence.get("device")) {
            measures.evidence.insert("device".to_owned(), device.clone());
        }
        measures.findings.extend(advice::not_reached(case, &curve));
        Ok(measures)
    }
}
