//! `net.pingpong`: messages of many sizes back and forth over TCP, RDMA or MPI, by NetPIPE's method.

mod advice;
mod by_mpi;
mod by_verbs;
mod config;
mod ends;
mod layer;
mod part;
mod plan;
mod tcp;
#[cfg(test)]
mod tests;
mod transferred;
mod verbs;

use seatrial_model::{
    About, Actor, AxisSpec, Bytes, Case, Cost, Interaction, Kind, Measures, MetricSpec, ParamSpec,
    PartRecord, Parts, Reason, Remedy, SeriesSpec, Unit,
};

use seatrial_bench::pingpong::{Mode, PingPongCurve};
use seatrial_bench::{Benchmark, Transferred};
use seatrial_mpi_job::between_nodes::tell_moved;
use seatrial_mpi_job::params;
use seatrial_mpi_job::worker::keep_job;

use crate::rails;
use layer::Layer;

pub use by_mpi::start;

pub const ID: &str = "net.pingpong";

const SIZE: &[AxisSpec] = &[AxisSpec { name: "size", unit: Unit::Byte }];

const ABOUT: About = About {
    id: ID,
    version: 3,
    title: "messages of all sizes back and forth over TCP, RDMA or MPI: throughput and latency by size",
    doc: include_str!("doc.md"),
    checks: &[
        Remedy::new(
            Actor::Root,
            "limit the C-states of idle cores and the interrupt moderation of the card (`ethtool -C`)",
        ),
        Remedy::new(
            Actor::NetworkTeam,
            "check speed and errors of the links and switch ports between the two nodes",
        ),
    ],
    params: &[
        ParamSpec::new("mode", Kind::Choice(Mode::WORDS), "pingpong").doc(
            "pingpong: one message there and one back; stream: messages in one direction, on a fresh \
             connection for each size; both: messages in both directions at once.",
        ),
        ParamSpec::new("transport", Kind::Choice(Layer::WORDS), "tcp").doc(
            "TCP, RDMA over the ports of the interface (verbs), or an MPI library (mpi), which uses one of them; several in \
             one run are shown side by side.",
        ),
        verbs::OPERATION,
        params::LIBRARY,
        params::LAUNCHER,
        params::THREAD_LEVEL,
        ParamSpec::new("from", Kind::Size(Bytes(1), Bytes::mib(256)), "1 B").doc("The smallest message."),
        ParamSpec::new("to", Kind::Size(Bytes(1), Bytes::mib(256)), "64 MiB").doc("The largest message."),
        ParamSpec::new("beside", Kind::Count(0, 1024), "3")
            .doc("Also measure each size minus and plus this many bytes; 0: do not."),
        ParamSpec::new("buffers", Kind::Choice(&["same", "different", "fresh"]), "same").doc(
            "same: every message uses the same memory, which the caches hold; different: every message uses \
             other memory than the last; fresh: with transport=verbs, memory that is registered and \
             deregistered per message.",
        ),
        ParamSpec::new("socket_buffer", Kind::Size(Bytes::kib(4), Bytes::gib(1)), "auto").word("auto").doc(
            "Size of the send and the receive buffer of each TCP socket (SO_SNDBUF, SO_RCVBUF); auto: \
             kernel autotuning.",
        ),
        crate::max_segment::MTU,
        seatrial_bench::affinity::AFFINITY,
        seatrial_bench::interfaces::INTERFACE,
        seatrial_bench::interfaces::PEER_INTERFACE,
        ParamSpec::new(rails::RAILS.name, Kind::Text, "none").word("none").doc(
            "Interfaces of both nodes that each message is split over, such as eth0+eth1, or their number, such as 2: cards \
             of one speed that both nodes have under one name; eth0:eth1 is another interface of the second node; cross: all such \
             cards, each to the next one of the second node; none uses only `interface`.",
        ),
        ParamSpec { default: "3 s", ..seatrial_bench::TIME },
        seatrial_bench::TRIALS,
        seatrial_bench::MAX_TRIALS,
        ParamSpec { default: "5", ..seatrial_bench::PRECISION },
        seatrial_bench::SCHED,
    ],
    metrics: &[
        MetricSpec::higher_is_better("throughput", Unit::GigabitsPerSecond)
            .doc("Payload rate at the fastest size; with mode=both the sum of both directions."),
        MetricSpec::lower_is_better("latency", Unit::Microsecond)
            .doc("Half the round trip of messages below 64 B; with mode=pingpong only."),
        MetricSpec::lower_is_better("half_size", Unit::Byte)
            .doc("The smallest message that reaches half of the highest throughput."),
        MetricSpec::lower_is_better("saturation_size", Unit::Byte)
            .doc("The smallest message that reaches 95 % of the highest throughput."),
    ],
    series: &[
        SeriesSpec::higher_is_better("by_size", Unit::GigabitsPerSecond, SIZE)
            .doc("Payload rate by message size."),
        SeriesSpec::lower_is_better("time_by_size", Unit::Microsecond, SIZE)
            .doc("Half the round trip by message size; with mode=pingpong only."),
    ],
    parts: Parts::Two(["leader", "follower"]),
    needs: &[],
    probes: &["steal", "load", "nic", "qdisc", "softnet", "snmp", "ib_port"],
    cost: Cost { seconds: 11, written: 0 },
    interaction: Interaction::Loads("one core of each of two nodes, and the link between them"),
};

pub const BENCHMARK: Benchmark = Benchmark {
    about: &ABOUT,
    factors: &[seatrial_bench::affinity::UNPINNED],
    plan: plan::plan,
    limits: plan::limits,
    part: part::part,
    liveness_check: |_, _| None,
    reduce,
};

fn reduce(case: &Case, parts: &[PartRecord]) -> Result<Measures, Reason> {
    let curve = PingPongCurve::of(parts);
    let mode = plan::mode(case)?;
    let mut measures = curve.measures(mode)?;
    let (rails, layer) = (rails::of(case), Layer::of(&case.params));
    if layer == Layer::Mpi {
        tell_moved(case, parts, &mut measures, |_, slice| transferred::between_ranks(slice, mode));
        keep_job(&mut measures, parts);
    } else {
        let paths = transferred::transferred(parts, mode, rails.len().max(1), layer);
        match rails.is_empty() {
            true => paths[0].tell(case, &mut measures),
            false => {
                let paths: Vec<_> = rails.into_iter().zip(paths).collect();
                Transferred::tell_by_interface(&paths, case, &mut measures);
            }
        }
    }
    measures.keep_evidence(parts, &["connection", "device"]);
    if let Some(connection) = measures.evidence.get("connection").filter(|_| mode == Mode::PingPong) {
        measures.findings.extend(advice::window(&curve, connection));
    }
    measures.findings.extend(advice::not_reached(case, &curve));
    if curve.points.first().map(|point| point.size) != plan::sizes_of(case)?.first().copied() {
        // A smaller size might reach as much.
        ["half_size", "saturation_size"].iter().for_each(|name| _ = measures.metrics.remove(*name));
    }
    Ok(measures)
}
