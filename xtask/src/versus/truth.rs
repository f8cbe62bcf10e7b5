//! `versus truth`: what a part of the truth costs: the same work by this build with a check left out, and with all of them.
//!
//! Both sides are Seatrial; the "peer" is the one that leaves nothing out. A ratio above 1 is what leaving out gains.

use std::rc::Rc;

use seatrial_model::Unit;
use seatrial_stats::Better;

use super::storage::places::{Place, Places, root};
use super::storage::{self, READ_128, READ_LARGE, WRITE_128, WRITE_LARGE};
use super::{Area, Figure, Hardware, Row, ours};

pub const TRUTH: Area = Area {
    name: "truth",
    about: "Seatrial with a check left out against Seatrial with all of them",
    packages: &[],
    peers: &[],
    rows,
    prepare: ours::build,
    alone: None,
    machine: Hardware::here,
};

/// A work whose record tells one value of it.
#[derive(Clone, Copy)]
struct OwnWork {
    /// The work, what is left out, and what the other side has.
    name: &'static str,
    bench: &'static str,
    params: &'static [&'static str],
    /// Words of the command line of each side, which say whether it has probes.
    sides: [&'static [&'static str]; 2],
    metric: &'static str,
    unit: Unit,
    better: Better,
}

const VERIFY: [&[&str]; 2] = [&["--no-probes", "-p", "verify=none"], &["--no-probes", "-p", "verify=full"]];

const WORKS: &[OwnWork] = &[
    OwnWork {
        name: "mem.bandwidth, read: verify=none vs full",
        bench: "mem.bandwidth",
        params: &["kernel=read", "array=256 MiB", "time=600 ms"],
        sides: VERIFY,
        metric: "bandwidth",
        unit: Unit::GigabytesPerSecond,
        better: Better::Higher,
    },
    OwnWork {
        name: "net.tcp_stream, loopback: verify=none vs full",
        bench: "net.tcp_stream",
        params: &["time=2 s"],
        sides: VERIFY,
        metric: "throughput",
        unit: Unit::GigabitsPerSecond,
        better: Better::Higher,
    },
    OwnWork {
        name: "net.tcp_stream, loopback: affinity=none vs auto",
        bench: "net.tcp_stream",
        params: &["time=2 s"],
        sides: [&["--no-probes", "-p", "affinity=none"], &["--no-probes", "-p", "affinity=auto"]],
        metric: "throughput",
        unit: Unit::GigabitsPerSecond,
        better: Better::Higher,
    },
    OwnWork {
        name: "net.udp_stream, 1448 B, plain, loopback: verify=none vs full",
        bench: "net.udp_stream",
        params: &["message=1448 B", "offload=plain", "time=2 s"],
        sides: VERIFY,
        metric: "throughput",
        unit: Unit::GigabitsPerSecond,
        better: Better::Higher,
    },
    OwnWork {
        name: "net.rr, 16 KiB, loopback: verify=none vs full",
        bench: "net.rr",
        params: &["request=16 KiB", "time=2 s"],
        sides: VERIFY,
        metric: "round_trip",
        unit: Unit::Microsecond,
        better: Better::Lower,
    },
    OwnWork {
        name: "mem.bandwidth, read: --no-probes vs probes",
        bench: "mem.bandwidth",
        params: &["kernel=read", "array=256 MiB", "time=600 ms"],
        sides: [&["--no-probes"], &[]],
        metric: "bandwidth",
        unit: Unit::GigabytesPerSecond,
        better: Better::Higher,
    },
];

fn rows() -> Vec<Row> {
    let places = Rc::new(Places::new(root()));
    let mut rows = Vec::new();
    for job in [READ_LARGE, WRITE_LARGE, READ_128, WRITE_128] {
        for verify in ["header", "none"] {
            let name = format!("storage.file, {}: verify={verify} vs full", job.words());
            let side = |verify| storage::ours::turn(&places, Place::Loop, job, verify);
            let mut row = storage::both((name, job, (side(verify), side("full"))));
            row.figures.iter_mut().for_each(|figure| figure.goal = None);
            rows.push(row);
        }
    }
    rows.extend(WORKS.iter().copied().map(row));
    rows
}

fn row(work: OwnWork) -> Row {
    let OwnWork { name, bench, params, sides, metric, unit, better } = work;
    let side = move |words: &'static [&'static str]| {
        move || {
            let mut command = ours::here();
            command.args(words);
            // Between two processes of this machine.
            if bench.starts_with("net.") {
                command.args(["--pattern", "alone"]);
            }
            ours::trial_with_probes(command, bench, params, |record, _| ours::median(record, metric))
        }
    };
    let figure = Figure { name: name.to_owned(), unit, better, goal: None };
    Row::one(figure, side(sides[0]), side(sides[1]))
}
