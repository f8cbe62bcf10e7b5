//! `versus storage`: `storage.file` against fio, tuned by hand and as it comes, and against elbencho and IOR where there are
//! any; `storage.metadata` against mdtest.
//!
//! Both sides have a file of the same size on the same file system, the same blocks, depth, time and CPU, one thread, and
//! go past the page cache. On the disk the device is the limit and latency and bandwidth show; on the loop device over
//! memory it is fast enough for the programs' own cost to show. Seatrial makes new incompressible data for every block
//! that it writes, and compares every block that it reads with what it must be; fio does neither unless it is told to. The
//! cost of a block is compared between sides that do the same: both make and check, or, with `verify=none`, neither does.

mod elbencho;
mod fio;
mod ior;
pub(super) mod ours;
pub(super) mod places;

use std::rc::Rc;

use anyhow::Result;
use seatrial_model::Unit;
use seatrial_stats::Better;

use self::fio::Way;
use self::places::{Place, Places};
use super::{Area, Figure, Hardware, Row, Taking};
use crate::packages::{self, Package};

pub const STORAGE: Area = Area {
    name: "storage",
    about: "storage.file and storage.metadata against fio, elbencho, IOR and mdtest: same file system, size, pattern, block, depth and CPU",
    packages: PEERS,
    peers: &[&ior::IOR],
    rows,
    prepare,
    alone: None,
    machine: Hardware::here,
};

const PEERS: &[Package] =
    &[Package { name: "fio", program: "fio", reason: "the reference for files and disks" }];

/// Seconds that both sides measure in each turn.
const SECONDS: u32 = 2;

/// Size of each file.
const SIZE: &str = "512m";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Job {
    write: bool,
    random: bool,
    /// Bytes at once, as fio and elbencho spell it.
    block: &'static str,
    depth: u32,
}

const fn job(write: bool, random: bool, block: &'static str, depth: u32) -> Job {
    Job { write, random, block, depth }
}

pub(super) const READ_128: Job = job(false, true, "4k", 128);
pub(super) const WRITE_128: Job = job(true, true, "4k", 128);
const READ_1: Job = job(false, true, "4k", 1);
pub(super) const READ_LARGE: Job = job(false, false, "1m", 8);
pub(super) const WRITE_LARGE: Job = job(true, false, "1m", 8);

impl Job {
    /// Its words in the name of a row.
    pub(super) fn words(self) -> String {
        let operation = if self.write { "write" } else { "read" };
        let (pattern, block) = if self.random { ("random", "4 KiB") } else { ("sequential", "1 MiB") };
        format!("{pattern} {operation}, {block}, depth {}", self.depth)
    }

    /// What is compared besides the cost: its words, unit and direction.
    fn figure(self) -> (&'static str, Unit, Better, fn(&Figures) -> f64) {
        match (self.depth, self.random) {
            (1, _) => ("median latency", Unit::Microsecond, Better::Lower, |told| told.latency),
            (_, true) => ("IOPS", Unit::PerSecond, Better::Higher, |told| told.iops),
            (_, false) => ("bandwidth", Unit::MegabytesPerSecond, Better::Higher, |told| told.megabytes),
        }
    }
}

/// What one turn gave: rates over the whole of its time.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Figures {
    iops: f64,
    /// Bytes a second, in MB/s.
    megabytes: f64,
    /// Median from handing a request over to learning that it is done, in microseconds.
    latency: f64,
    /// Time on CPUs for one block, in microseconds.
    cpu: f64,
}

pub(super) type Turn = Box<dyn FnMut() -> Result<Figures>>;

/// What is compared where.
const WORKS: &[(Place, Job)] = &[
    (Place::Disk, READ_128),
    (Place::Disk, WRITE_128),
    (Place::Disk, READ_1),
    (Place::Disk, READ_LARGE),
    (Place::Disk, WRITE_LARGE),
    (Place::Loop, READ_128),
    (Place::Loop, WRITE_128),
    (Place::Loop, READ_1),
    (Place::Loop, READ_LARGE),
    (Place::Loop, WRITE_LARGE),
];

/// What is compared with fio that makes and checks data as ours does. No large reads: fio that verifies ends after two passes,
/// which here is within its own warm-up.
const CHECKED: &[(Place, Job)] =
    &[(Place::Loop, READ_128), (Place::Loop, WRITE_128), (Place::Loop, WRITE_LARGE)];

/// What is compared with elbencho, which has no io_uring and no warm-up, and whose CPU time is that of the whole program.
const WITH_ELBENCHO: &[(Place, Job)] = &[
    (Place::Loop, READ_128),
    (Place::Loop, WRITE_128),
    (Place::Loop, READ_LARGE),
    (Place::Loop, WRITE_LARGE),
];

fn prepare() -> Result<()> {
    packages::require(PEERS)?;
    // One that was named and is not there is a mistake; where nobody named one, its rows are left out.
    if std::env::var_os(elbencho::PROGRAM).is_some() {
        elbencho::program()?;
    }
    super::ours::build()
}

fn rows() -> Vec<Row> {
    let places = Rc::new(Places::new(places::root()));
    let mut rows = Vec::new();
    let with_fio = |place, job: Job, verify, way: Way| {
        let unverified = if verify == "none" { ", verify=none" } else { "" };
        let name = format!("{place}, {}{unverified} vs {}", job.words(), way.words());
        let turns = (ours::turn(&places, place, job, verify), fio::turn(&places, place, job, way));
        (name, job, turns)
    };
    for (place, job) in WORKS {
        // All that ours makes and checks, against nothing of it: what the device gives shall be the same.
        rows.push(rate(with_fio(*place, *job, "full", Way::Tuned)));
        rows.push(both(with_fio(*place, *job, "none", Way::Tuned)));
    }
    rows.push(rate(with_fio(Place::Loop, READ_128, "full", Way::Default)));
    for (place, job) in CHECKED {
        rows.push(both(with_fio(*place, *job, "full", Way::Checked)));
    }
    for (place, job) in WITH_ELBENCHO {
        // As it comes it makes new data for every block that it writes, and looks at none that it reads.
        let (verify, words) = if job.write { ("full", "") } else { ("none", ", verify=none") };
        let name = format!("{place}, {}{words} vs elbencho", job.words());
        let turns = (ours::turn(&places, *place, *job, verify), elbencho::turn(&places, *place, *job));
        let row = both((name, *job, turns));
        rows.push(row.unless(|| elbencho::program().err().map(|error| error.to_string())));
    }
    rows.extend(ior::rows(&places, Place::Loop));
    rows
}

/// A row's name, its job, and the turns of both sides.
pub(super) type Sides = (String, Job, (Turn, Turn));

/// What is compared of the work.
fn rate((name, job, (mut ours, mut peer)): Sides) -> Row {
    let (figure, taken) = figure(&name, job);
    Row::one(figure, move || Ok(taken(&ours()?)), move || Ok(taken(&peer()?)))
}

/// What is compared of the work, and what it cost: of sides that do the same.
pub(super) fn both((name, job, (ours, peer)): Sides) -> Row {
    let cost = Figure {
        name: format!("{name}, CPU time a block"),
        unit: Unit::Microsecond,
        better: Better::Lower,
        goal: Some(1.0),
    };
    let both: [Taking<Figures>; 2] = [figure(&name, job), (cost, |told| told.cpu)];
    Row::several(both, ours, peer)
}

fn figure(name: &str, job: Job) -> Taking<Figures> {
    let (words, unit, better, taken) = job.figure();
    (Figure { name: format!("{name}, {words}"), unit, better, goal: Some(1.0) }, taken)
}
