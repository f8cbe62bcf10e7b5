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
use std::rc::Rc;

use anyhow::{Context, Result};
use seatrial_model::Unit;
use seatrial_stats::Better;

use self::peers::Peer;
use super::{Area, Row};
use crate::packages::{self, Package};
use crate::workspace;

/// The area.
pub const RDMA: Area = Area {
    name: "rdma",
    about: "RDMA benchmarks against perftest and qperf: one device, both ends on this machine, same sizes, depth and time \
            (in a guest: emulated, path cost only)",
    packages: PEERS,
    rows,
    alone: None,
};

const PEERS: &[Package] = &[
    Package { name: "perftest", program: "ib_write_bw", reason: "the reference for RDMA" },
    Package { name: "qperf", program: "qperf", reason: "the reference for latencies by completion queues" },
];

/// Seconds that both sides measure in each turn.
const SECONDS: u32 = 2;

/// Seconds until a guest is ended: a dozen rows of a dozen rounds, on a machine that does other things too.
const GUEST_SECONDS: &str = "7200";

/// For rows that show both figures side by side and ask for nothing.
const NO_GOAL: f64 = 0.0;

fn rows() -> Result<Vec<Row>> {
    packages::require(PEERS)?;
    let in_guest = Path::new("/run/guest/facts").exists();
    if !in_guest {
        workspace::run(&mut workspace::cargo(["build", "--release", "--locked", "--package", "seatrial"]))?;
    }
    match device() {
        Some(device) => Ok(on(&Rc::from(device.as_str()))),
        None if in_guest => anyhow::bail!("the guest has no RDMA device"),
        None => again_in_a_guest(),
    }
}

/// The first device of this machine.
fn device() -> Option<String> {
    let folder = std::fs::read_dir("/sys/class/infiniband").ok()?;
    let mut names: Vec<String> =
        folder.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names.into_iter().next()
}

/// Does what this process was asked for in a guest, and ends with its exit status.
#[expect(
    clippy::exit,
    reason = "the guest has printed the table and judged the goals: nothing is left to do here"
)]
fn again_in_a_guest() -> Result<Vec<Row>> {
    let program = std::env::current_exe().context("cannot find this program")?;
    eprintln!("no RDMA device here: a guest with soft-RoCE does it, under emulation");
    let mut guest = Command::new(&program);
    guest
        .args(["guest", "run", "--limit", GUEST_SECONDS, "--", "env"])
        // Nothing of this environment is in a guest, and the release binary is looked for below this folder.
        .arg(format!("CARGO_TARGET_DIR={}", ours::target().display()))
        .arg(&program)
        .args(std::env::args_os().skip(1));
    let status = guest.status().context("cannot start the guest")?;
    std::process::exit(status.code().unwrap_or(1));
}

fn on(device: &Rc<str>) -> Vec<Row> {
    let mut rows = Vec::new();
    for (verb, program) in [("write_bw", "ib_write_bw"), ("read_bw", "ib_read_bw"), ("send_bw", "ib_send_bw")]
    {
        for (size, label) in [(65_536, "64 KiB"), (4096, "4 KiB")] {
            rows.push(Row {
                name: format!("rdma.{verb}, {label}, depth 128 vs {program}"),
                unit: Unit::GigabitsPerSecond,
                better: Better::Higher,
                goal: 1.0,
                ours: ours::throughput(device, verb, size),
                peer: peers::bandwidth(device, program, size),
            });
        }
    }
    for (verb, program) in
        [("write_poll_lat", "ib_write_lat"), ("send_lat", "ib_send_lat"), ("read_lat", "ib_read_lat")]
    {
        rows.push(Row {
            name: format!("rdma.{verb}, 2 B, median vs {program}'s typical"),
            unit: Unit::Microsecond,
            better: Better::Lower,
            goal: 1.0,
            ours: ours::latency(device, verb, "polled"),
            peer: peers::typical(device, program),
        });
    }
    rows.push(Row {
        name: "rdma.atomic, fetch and add, 16 under way vs ib_atomic_bw (no result looked at)".to_owned(),
        unit: Unit::MegaPerSecond,
        better: Better::Higher,
        goal: NO_GOAL,
        ours: ours::atomics(device),
        peer: peers::atomics(device),
    });
    // Means against a median: both figures side by side.
    let by_events =
        [("write_lat", "rc_rdma_write_lat"), ("send_lat", "rc_lat"), ("read_lat", "rc_rdma_read_lat")];
    for (verb, test) in by_events.into_iter().filter(|(_, test)| Peer::qperf_works(test)) {
        rows.push(Row {
            name: format!("rdma.{verb}, 1 B, by events, median vs qperf {test} -cm1, mean"),
            unit: Unit::Microsecond,
            better: Better::Lower,
            goal: NO_GOAL,
            ours: ours::latency(device, verb, "event"),
            peer: peers::qperf(test),
        });
    }
    rows
}
