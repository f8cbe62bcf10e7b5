//! `rdma.all_to_all`: RDMA writes of every node to every other at one moment, and the node that holds the others back.

mod part;
mod plan;
mod ports;
mod reduce;
mod sender;

use seatrial_bench::all_to_all::{self, CountedAt};
use seatrial_bench::verbs::{Method, RemoteCompletion, params as p};
use seatrial_bench::{Benchmark, Part};
use seatrial_model::{About, Actor, Cost, Interaction, Kind, ParamSpec, Parts, Remedy};
use seatrial_sys::verbs::VerbKind;

const METHOD: Method = Method { verb: VerbKind::Write, remote_completion: RemoteCompletion::None };

/// A write is complete when the remote card has received it, as in `rdma.write_bw`.
const COUNTED: CountedAt = CountedAt::Sender;

const ABOUT: About = About {
    id: "rdma.all_to_all",
    title: "RDMA writes of all nodes to all others at one moment",
    doc: include_str!("doc.md"),
    checks: &[
        Remedy::new(
            Actor::NetworkTeam,
            "check width, speed and errors of the port of the slowest node (`ibstat`, `perfquery`, `mlxlink`)",
        ),
        Remedy::new(
            Actor::NetworkTeam,
            "where all nodes are slow, check the links between the switches, the routing, and on RoCE flow control (PFC, ECN)",
        ),
        Remedy::new(
            Actor::Root,
            "compare the PCIe link of the card of the slowest node with its slot (`lspci -vv`)",
        ),
    ],
    params: &[
        all_to_all::SHIFT,
        seatrial_bench::group::PER_NODE,
        ParamSpec::new(all_to_all::THREADS, Kind::Load(1, 128), "auto").word("auto").doc(
            "Threads of each part, each with a completion queue of its own; auto: one for every 64 flows, 4 at most.",
        ),
        ParamSpec {
            doc: "Port of the first node, such as mlx5_0/1, or a device of one port; the other nodes use the port of the \
                  same name, or the one in the same place. Of several ports (mlx5_0/1+mlx5_1/1) the parts of a node take \
                  one each, in turn. auto: each active port in turn, a case for each.",
            ..p::DEVICE
        },
        p::SIZE,
        ParamSpec::new("depth", Kind::Load(1, 8192), "auto").word("auto").doc(
            "Maximum outstanding messages of each flow; auto: 16, but at most 64 MiB of all flows of a part together.",
        ),
        p::MODERATION,
        p::COMPLETION,
        p::MTU,
        p::SERVICE_LEVEL,
        p::TRAFFIC_CLASS,
        p::PKEY_INDEX,
        p::GID_INDEX,
        seatrial_bench::PAGES,
        seatrial_bench::affinity::AFFINITY,
        seatrial_bench::WARM_UP,
        ParamSpec { default: "1 s", ..seatrial_bench::TIME },
        seatrial_bench::TRIALS,
        seatrial_bench::MAX_TRIALS,
        seatrial_bench::PRECISION,
        seatrial_bench::SCHED,
    ],
    metrics: &[
        all_to_all::THROUGHPUT,
        all_to_all::SLOWEST_FLOW,
        all_to_all::FAIRNESS,
        all_to_all::SLOWEST_NODE,
        all_to_all::SLOWEST_EXCHANGE,
    ],
    series: &[all_to_all::BY_NODE, all_to_all::BY_FLOW, seatrial_bench::BY_TIME],
    parts: Parts::TwoOrMore("node"),
    probes: &["steal", "load", "throttle", "ib_port", "nic"],
    cost: Cost { seconds: 7, written: 0 },
    interaction: Interaction::Loads("the RDMA network between all nodes fully, and a core of each for each thread"),
    ..About::WORKER
};

pub const BENCHMARK: Benchmark = Benchmark {
    about: &ABOUT,
    factors: &[],
    plan: plan::plan,
    limits: plan::limits,
    part: |case, place| Part::new(case, place, part::prepare),
    liveness_check: |_, _| None,
    reduce: reduce::reduce,
};
