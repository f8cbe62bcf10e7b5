//! `versus rdma`: the RDMA benchmarks against perftest and qperf, on one device and in turn.
//!
//! Where this machine has no RDMA device, the comparison boots a guest that plays one (soft-RoCE under emulation) and runs
//! there, all of it in one boot. An emulated processor is tens of times slower than a real one and its link is a copy in
//! memory: such figures compare what the programs cost on the way to the device, and say nothing of any card.

mod ours;
mod peers;
mod read;

use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result};
use seatrial_model::Unit;
use seatrial_stats::Better;

use super::{Area, Figure, Hardware, Row, kept};
use crate::packages::{self, Package};
use crate::versus::ours as release;
use crate::workspace;

pub const RDMA: Area = Area {
    name: "rdma",
    about: "RDMA benchmarks against perftest and qperf: one device, both ends on this machine, same sizes, depth and time \
            (in a guest: emulated, path cost only)",
    packages: PEERS,
    peers: &[],
    rows,
    prepare,
    alone: None,
    machine: Hardware::here,
};

const PEERS: &[Package] = &[
    Package { name: "perftest", program: "ib_write_bw", reason: "the reference for RDMA" },
    Package { name: "qperf", program: "qperf", reason: "the reference for completions by events" },
];

/// Seconds that both sides measure in each turn.
const SECONDS: u32 = 2;

/// Seconds until a guest is ended: two dozen rows of a dozen rounds, on a machine that does other things too.
const GUEST_SECONDS: &str = "10800";

/// Benchmarks of bandwidth, and the programs of perftest that do the same.
const BANDWIDTH: [(&str, &str); 3] =
    [("write_bw", "ib_write_bw"), ("read_bw", "ib_read_bw"), ("send_bw", "ib_send_bw")];

/// Benchmarks of latency whose ends poll, and the programs of perftest that do. `ib_write_lat` polls memory at both ends;
/// perftest has nothing that writes and waits for completions, so that `rdma.write_lat` stands against qperf alone.
const LATENCY: [(&str, &str); 3] =
    [("write_poll_lat", "ib_write_lat"), ("send_lat", "ib_send_lat"), ("read_lat", "ib_read_lat")];

/// Operations of `rdma.atomic`, their words, and how perftest spells them.
const ATOMICS: [(&str, &str, &str); 2] =
    [("fetch_add", "fetch and add", "FETCH_AND_ADD"), ("compare_swap", "compare and swap", "CMP_AND_SWAP")];

/// Benchmarks of latency, how they wait, and the tests of qperf that wait so.
const QPERF_LATENCY: [(&str, &str, &str); 4] = [
    ("write_lat", "event", "rc_rdma_write_lat"),
    ("send_lat", "event", "rc_lat"),
    ("read_lat", "event", "rc_rdma_read_lat"),
    ("write_poll_lat", "polled", "rc_rdma_write_poll_lat"),
];

/// Benchmarks of bandwidth, and the tests of qperf that do the same with eight times as much under way.
const QPERF_BANDWIDTH: [(&str, &str); 3] =
    [("write_bw", "rc_rdma_write_bw"), ("read_bw", "rc_rdma_read_bw"), ("send_bw", "rc_bw")];

fn prepare() -> Result<()> {
    packages::require(PEERS)?;
    let in_guest = Path::new("/run/guest/facts").exists();
    if !in_guest {
        release::build()?;
    }
    match device() {
        Ok(_) => Ok(()),
        Err(error) if in_guest => Err(error.context("the guest plays none")),
        Err(_) => again_in_a_guest(),
    }
}

/// The first device of this machine.
fn device() -> Result<String> {
    let files = std::fs::read_dir("/sys/class/infiniband").into_iter().flatten().flatten();
    let names = files.map(|entry| entry.file_name().to_string_lossy().into_owned());
    names.min().context("there is no RDMA device")
}

/// Does what this process was asked for in a guest, and ends with its exit status.
#[expect(
    clippy::exit,
    reason = "the guest has printed the table and judged the goals: nothing is left to do here"
)]
fn again_in_a_guest() -> Result<()> {
    let program = std::env::current_exe().context("cannot find this program")?;
    eprintln!("no RDMA device here: a guest with soft-RoCE does it, under emulation");
    let mut guest = Command::new(&program);
    guest
        .args(["guest", "run", "--limit", GUEST_SECONDS, "--writable"])
        .arg(workspace::root().join(kept::FOLDER))
        .args(["--", "env"])
        // Nothing of this environment is in a guest, and the release binary is looked for below this folder.
        .arg(format!("CARGO_TARGET_DIR={}", release::target().display()))
        .arg(&program)
        .args(std::env::args_os().skip(1));
    let status = guest.status().context("cannot start the guest")?;
    std::process::exit(status.code().unwrap_or(1));
}

fn rows() -> Vec<Row> {
    [with_perftest(), atomics(), with_qperf()].into_iter().flatten().collect()
}

/// The same work on both sides, so that ours shall be no worse.
fn with_perftest() -> Vec<Row> {
    let mut rows = Vec::new();
    for (verb, program) in BANDWIDTH {
        for (size, label) in [(65_536, "64 KiB"), (4096, "4 KiB")] {
            let figure = throughput(format!("rdma.{verb}, {label}, depth 128 vs {program}"), Some(1.0));
            let [ours, peer] = [ours::throughput(verb, size, "polled"), peers::bandwidth(program, size)];
            rows.push(Row::one(figure, ours, peer));
        }
    }
    for (verb, program) in LATENCY {
        let figure = latency(format!("rdma.{verb}, 2 B, median vs {program}'s typical"), Some(1.0));
        rows.push(Row::one(figure, ours::latency(verb, 2, "polled"), peers::typical(program)));
    }
    rows
}

/// Ours looks at every result, perftest at none: nothing is asked for.
fn atomics() -> Vec<Row> {
    let mut rows = Vec::new();
    for (operation, words, theirs) in ATOMICS {
        let figure = Figure {
            name: format!("rdma.atomic, {words}, 16 under way vs ib_atomic_bw (no result looked at)"),
            unit: Unit::MegaPerSecond,
            better: Better::Higher,
            goal: None,
        };
        rows.push(Row::one(figure, ours::atomics(operation, "rate"), peers::atomics(theirs)));
        let name = format!("rdma.atomic, {words}, median vs ib_atomic_lat's typical (no result looked at)");
        let ours = ours::atomics(operation, "latency");
        rows.push(Row::one(latency(name, None), ours, peers::typical_of_atomics(theirs)));
    }
    rows
}

/// qperf tells means and we medians, and in bulk it has more under way: nothing is asked for. Whether it gets a connection
/// depends on the machine.
fn with_qperf() -> Vec<Row> {
    let mut rows = Vec::new();
    for (verb, completion, test) in QPERF_LATENCY {
        let how = if completion == "event" { "by events" } else { "polled" };
        let name = format!("rdma.{verb}, 1 B, {how}, median vs qperf {test} -cm1, mean");
        let row =
            Row::one(latency(name, None), ours::latency(verb, 1, completion), peers::qperf_latency(test));
        rows.push(row.unless(move || peers::no_qperf(test)));
    }
    for (verb, test) in QPERF_BANDWIDTH {
        let name = format!("rdma.{verb}, 64 KiB, by events, depth 128 vs qperf {test} -cm1, depth 1024");
        let ours = ours::throughput(verb, 65_536, "event");
        let row = Row::one(throughput(name, None), ours, peers::qperf_bandwidth(test));
        rows.push(row.unless(move || peers::no_qperf(test)));
    }
    rows
}

fn throughput(name: String, goal: Option<f64>) -> Figure {
    Figure { name, unit: Unit::GigabitsPerSecond, better: Better::Higher, goal }
}

fn latency(name: String, goal: Option<f64>) -> Figure {
    Figure { name, unit: Unit::Microsecond, better: Better::Lower, goal }
}
