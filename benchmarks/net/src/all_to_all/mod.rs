//! `net.all_to_all`: every node to every other at one moment, and the node that holds the others back.

mod ends;
mod flows;
mod kernel;
mod part;
mod reduce;
#[cfg(test)]
mod tests;

use seatrial_bench::all_to_all::{self, TeamSize};
use seatrial_bench::group::{NodePlan, send_limits, with_parts};
use seatrial_bench::{Benchmark, Part};
use seatrial_model::{About, Actor, Bytes, Cost, Interaction, Kind, ParamSpec, Parts, Remedy};

/// A part has as many threads that receive as threads that send.
const TEAM: TeamSize = TeamSize { flows_of_thread: 8, teams: 2 };

const ABOUT: About = About {
    id: "net.all_to_all",
    title: "TCP throughput of all nodes to all others at one moment",
    doc: include_str!("doc.md"),
    checks: &[
        Remedy::new(
            Actor::Root,
            "check speed and errors of the interface of the slowest node (`ethtool INTERFACE`, `ethtool -S INTERFACE`)",
        ),
        Remedy::new(
            Actor::NetworkTeam,
            "where all nodes are slow, check the links between the switches: their sum may be less than that of the ports",
        ),
        Remedy::new(Actor::User, "measure again with `-p threads=8`: a core of each node may be the limit"),
    ],
    params: &[
        all_to_all::SHIFT,
        seatrial_bench::group::PER_NODE,
        ParamSpec::new(all_to_all::THREADS, Kind::Load(1, 256), "auto").word("auto").doc(
            "Threads of each part that send, and as many that receive; auto: one for every 8 flows, 4 at most.",
        ),
        ParamSpec::new("message", Kind::Size(Bytes(1), Bytes::mib(64)), "auto")
            .word("auto")
            .doc("Size of each send call; auto is 128 KiB."),
        seatrial_bench::affinity::AFFINITY,
        seatrial_bench::interfaces::INTERFACE,
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
    probes: &["steal", "load", "throttle", "nic", "softnet", "snmp"],
    cost: Cost { seconds: 7, written: 0 },
    interaction: Interaction::Loads("the network between all nodes fully, and several cores of each"),
    ..About::WORKER
};

pub const BENCHMARK: Benchmark = Benchmark {
    about: &ABOUT,
    factors: &[],
    plan: |about, params, site| {
        let params = &with_parts(params, site)?;
        let near = |node: &_, peer: &_, parts, threads| {
            NodePlan::near_interface(params, node, peer, parts * threads)
        };
        Ok(vec![all_to_all::case(about, params, site, TEAM, near)?])
    },
    limits: |about, case, site| all_to_all::limits(about, case, send_limits(case, site)),
    part: |case, place| Part::new(case, place, part::prepare),
    liveness_check: |_, _| None,
    reduce: reduce::reduce,
};
