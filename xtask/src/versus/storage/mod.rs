//! `versus storage`: `storage.file` against fio, tuned by hand and as it comes, and against elbencho where there is one.
//!
//! Both sides have a file of the same size on the same file system, the same blocks, depth, time and CPU, one thread, and
//! go past the page cache. On the disk the device is the limit and latency and bandwidth show; on the loop device over
//! memory it is fast enough for the programs' own cost to show. Seatrial makes new incompressible data for every block
//! that it writes, and compares every block that it reads with what it must be; fio does neither unless it is told to, and
//! has rows for both.

mod elbencho;
mod fio;
mod ours;
mod places;

use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;

use anyhow::Result;
use seatrial_model::Unit;
use seatrial_stats::Better;

use self::fio::Way;
use self::places::{Place, Places};
use super::{Area, Row, Work};
use crate::packages::{self, Package};
use crate::workspace;

/// The area.
pub const STORAGE: Area = Area {
    name: "storage",
    about: "storage.file against fio and elbencho: same file system, size, pattern, block, depth and CPU",
    packages: PEERS,
    rows,
    alone: None,
};

const PEERS: &[Package] =
    &[Package { name: "fio", program: "fio", reason: "the reference for files and disks" }];

/// Seconds that both sides measure in each turn.
const SECONDS: u32 = 2;

/// Size of each file.
const SIZE: &str = "512m";

/// What is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Job {
    write: bool,
    random: bool,
    /// Bytes at once, as fio and elbencho spell it.
    block: &'static str,
    depth: u32,
}

const fn job(write: bool, random: bool, block: &'static str, depth: u32) -> Job {
    Job { write, random, block, depth }
}

const READ_128: Job = job(false, true, "4k", 128);
const WRITE_128: Job = job(true, true, "4k", 128);
const READ_1: Job = job(false, true, "4k", 1);
const READ_LARGE: Job = job(false, false, "1m", 8);
const WRITE_LARGE: Job = job(true, false, "1m", 8);

impl Job {
    /// Its words in the name of a row.
    fn words(self) -> String {
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
struct Figures {
    /// Blocks a second.
    iops: f64,
    /// Bytes a second, in MB/s.
    megabytes: f64,
    /// Median from handing a request over to learning that it is done, in microseconds.
    latency: f64,
    /// Time on CPUs for one block, in microseconds.
    cpu: f64,
}

/// A turn, which two rows share.
type Turn = Rc<dyn Fn() -> Result<Figures>>;

/// For rows that show both figures side by side and ask for nothing.
const NO_GOAL: f64 = 0.0;

/// What is compared where, and with which peers. Some 13 minutes with `--rounds 6` on a machine that does nothing else.
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

/// What is compared with elbencho, which has no io_uring.
const WITH_ELBENCHO: &[(Place, Job)] = &[
    (Place::Loop, READ_128),
    (Place::Loop, WRITE_128),
    (Place::Loop, READ_LARGE),
    (Place::Loop, WRITE_LARGE),
];

fn rows() -> Result<Vec<Row>> {
    packages::require(PEERS)?;
    workspace::run(&mut workspace::cargo(["build", "--release", "--locked", "--package", "seatrial"]))?;
    let places = Rc::new(Places::new(places::root()));
    let mut rows = Vec::new();
    for (place, job, ways) in WORKS {
        for way in *ways {
            let name = format!("{place}, {} vs {}", job.words(), way.words());
            let (ours, peer) = (ours::turn(&places, *place, *job), fio::turn(&places, *place, *job, *way));
            // A program that neither makes nor checks data does less for a block.
            let cost_goal = if *way == Way::Checked { 1.0 } else { NO_GOAL };
            rows.extend(pair(&name, *job, cost_goal, ours, peer));
        }
    }
    let Some(program) = elbencho::program()? else {
        let named = elbencho::PROGRAM;
        eprintln!("elbencho: not found on the search path, and {named} names none; its rows are left out");
        return Ok(rows);
    };
    for (place, job) in WITH_ELBENCHO {
        let name = format!("{place}, {} vs elbencho", job.words());
        let (ours, peer) =
            (ours::turn(&places, *place, *job), elbencho::turn(&program, &places, *place, *job));
        // As it comes it makes new data for every block that it writes, and looks at none that it reads.
        rows.extend(pair(&name, *job, if job.write { 1.0 } else { NO_GOAL }, ours, peer));
    }
    Ok(rows)
}

/// A row for the figure and one for the cost, of the same turns.
fn pair(name: &str, job: Job, cost_goal: f64, ours: Turn, peer: Turn) -> [Row; 2] {
    let (words, unit, better, figure) = job.figure();
    let (ours, ours_cost) = shared(ours, figure);
    let (peer, peer_cost) = shared(peer, figure);
    let first = Row { name: format!("{name}, {words}"), unit, better, goal: 1.0, ours, peer };
    let cost = Row {
        name: format!("{name}, CPU time a block"),
        unit: Unit::Microsecond,
        better: Better::Lower,
        goal: cost_goal,
        ours: ours_cost,
        peer: peer_cost,
    };
    [first, cost]
}

/// The figure of a turn, and its cost: the second takes the turns that the first has made, in their order, and makes its
/// own only when there are none left.
fn shared(turn: Turn, figure: fn(&Figures) -> f64) -> (Work, Work) {
    let made: Rc<RefCell<VecDeque<f64>>> = Rc::default();
    let (kept, again) = (Rc::clone(&made), Rc::clone(&turn));
    let first: Work = Box::new(move || {
        let told = turn()?;
        kept.borrow_mut().push_back(told.cpu);
        Ok(figure(&told))
    });
    let cost: Work = Box::new(move || {
        let before = made.borrow_mut().pop_front();
        before.map_or_else(|| again().map(|told| told.cpu), Ok)
    });
    (first, cost)
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    #[test]
    fn the_cost_is_that_of_the_turns_whose_figure_was_taken_and_then_of_new_ones() {
        let count = Rc::new(Cell::new(0.0));
        let counted = Rc::clone(&count);
        let turn: Turn = Rc::new(move || {
            counted.set(counted.get() + 1.0);
            Ok(Figures { iops: 10.0, cpu: counted.get(), ..Figures::default() })
        });
        let (mut iops, mut cost) = shared(turn, |told| told.iops);
        assert_eq!([iops().unwrap(), iops().unwrap()], [10.0, 10.0]);
        assert_eq!([cost().unwrap(), cost().unwrap()], [1.0, 2.0]);
        assert_eq!(count.get(), 2.0);
        assert_eq!(cost().unwrap(), 3.0);
    }

    #[test]
    fn rows_are_told_apart_by_their_names() {
        let mut names: Vec<String> = WORKS
            .iter()
            .flat_map(|(place, job, ways)| {
                ways.iter().map(move |way| format!("{place}, {} vs {}", job.words(), way.words()))
            })
            .collect();
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), count);
    }
}
