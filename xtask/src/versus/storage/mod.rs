//! `versus storage`: `storage.file` against fio, tuned by hand and as it comes, and against elbencho and IOR where there are
//! any; `storage.metadata` against mdtest.
//!
//! Both sides have a file of the same size on the same file system, the same blocks, depth, time and CPU, one thread, and
//! go past the page cache. On the disk the device is the limit and latency and bandwidth show; on the loop device over
//! memory it is fast enough for the programs' own cost to show. Seatrial makes new incompressible data for every block
//! that it writes, and compares every block that it reads with what it must be; fio does neither unless it is told to, and
//! has rows for both; in rows with `verify=none` ours does neither.

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
use super::{Area, Figure, Row, Taking};
use crate::packages::{self, Package};

pub const STORAGE: Area = Area {
    name: "storage",
    about: "storage.file and storage.metadata against fio, elbencho, IOR and mdtest: same file system, size, pattern, block, depth and CPU",
    packages: PEERS,
    peers: &[&ior::IOR],
    rows,
    prepare,
    alone: None,
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

/// What is compared where, and with which peers.
const WORKS: &[(Place, Job, &[Way])] = &[
    (Place::Disk, READ_128, &[Way::Tuned]),
    (Place::Disk, WRITE_128, &[Way::Tuned]),
    (Place::Disk, READ_1, &[Way::Tuned]),
    (Place::Disk, READ_LARGE, &[Way::Tuned]),
    (Place::Disk, WRITE_LARGE, &[Way::Tuned]),
    (Place::Loop, READ_128, &[Way::Tuned, Way::Checked, Way::Default]),
    (Place::Loop, WRITE_128, &[Way::Tuned, Way::Checked]),
    (Place::Loop, READ_1, &[Way::Tuned]),
    // Not with its data checked: fio that verifies ends after two passes, which here is within its own warm-up.
    (Place::Loop, READ_LARGE, &[Way::Tuned]),
    (Place::Loop, WRITE_LARGE, &[Way::Checked]),
];

/// What is compared with fio that neither makes nor checks data, while ours does neither.
const UNVERIFIED: &[(Place, Job)] = &[
    (Place::Loop, READ_128),
    (Place::Loop, WRITE_128),
    (Place::Loop, READ_LARGE),
    (Place::Loop, WRITE_LARGE),
];

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
    for (place, job, ways) in WORKS {
        for way in *ways {
            let name = format!("{place}, {} vs {}", job.words(), way.words());
            let (ours, peer) =
                (ours::turn(&places, *place, *job, "full"), fio::turn(&places, *place, *job, *way));
            // A program that neither makes nor checks data does less for a block.
            let cost_goal = (*way == Way::Checked).then_some(1.0);
            rows.push(row(&name, *job, cost_goal, ours, peer));
        }
    }
    for (place, job) in UNVERIFIED {
        let name = format!("{place}, {}, verify=none vs {}", job.words(), Way::Tuned.words());
        let ours = ours::turn(&places, *place, *job, "none");
        rows.push(row(&name, *job, Some(1.0), ours, fio::turn(&places, *place, *job, Way::Tuned)));
    }
    for (place, job) in WITH_ELBENCHO {
        let name = format!("{place}, {} vs elbencho", job.words());
        let (ours, peer) = (ours::turn(&places, *place, *job, "full"), elbencho::turn(&places, *place, *job));
        // As it comes it makes new data for every block that it writes, and looks at none that it reads.
        let row = row(&name, *job, job.write.then_some(1.0), ours, peer);
        rows.push(row.unless(|| elbencho::program().err().map(|error| error.to_string())));
    }
    rows.extend(ior::rows(&places, Place::Loop));
    rows
}

/// What is compared of the work, and what it cost.
pub(super) fn row(name: &str, job: Job, cost_goal: Option<f64>, ours: Turn, peer: Turn) -> Row {
    let (words, unit, better, figure) = job.figure();
    let first = Figure { name: format!("{name}, {words}"), unit, better, goal: Some(1.0) };
    let cost = Figure {
        name: format!("{name}, CPU time a block"),
        unit: Unit::Microsecond,
        better: Better::Lower,
        goal: cost_goal,
    };
    let both: [Taking<Figures>; 2] = [(first, figure), (cost, |told| told.cpu)];
    Row::several(both, ours, peer)
}
