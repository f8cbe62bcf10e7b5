//! `versus cobalt2`: `mem.pipeline` against the program that it follows.
//!
//! The first row is as near to the original as ours goes: a thread a step, one block a step, the same time, the same kind
//! of pages. What remains is that ours really reads. The second row is ours as it is meant. A turn takes half a minute.

mod original;

use std::cell::OnceCell;
use std::rc::Rc;

use seatrial_model::Unit;
use seatrial_stats::Better;

use self::original::Original;
use super::peer::{GCC, GIT};
use super::{Area, Figure, Hardware, Row, ours};

pub const COBALT2: Area = Area {
    name: "cobalt2",
    about: "mem.pipeline against mem-test of the COBALT2 compliance suite, both on 702 Gbit/s",
    packages: &[GCC, GIT],
    peers: &[],
    rows,
    prepare: ours::build,
    alone: None,
    machine: Hardware::here,
};

/// Of 702 Gbit/s the original credits 81 to reading that its compiler removes. Where memory is the limit, doing that work
/// may cost as much.
const GOAL: f64 = (702.0 - 81.0) / 702.0;

/// Parameters of ours that come nearest to the original, and those of a measurement as it is meant, which is other work: past
/// the caches and without breaks there is no rate that ours should reach of the original's.
const ROWS: [(&str, Option<f64>, [&str; 2]); 2] = [
    ("thread a step, one block a step", Some(GOAL), ["threads=step", "blocks=one"]),
    ("thread a core, past the caches", None, ["threads=core", "blocks=rotate"]),
];

fn rows() -> Vec<Row> {
    let original: Rc<OnceCell<Original>> = Rc::default();
    let row = |(name, goal, params): (&str, Option<f64>, [&'static str; 2])| {
        let original = Rc::clone(&original);
        let figure = Figure {
            name: format!("{name} vs mem-test"),
            unit: Unit::GigabitsPerSecond,
            better: Better::Higher,
            goal,
        };
        // One trial, as long as the original runs.
        let ours = move || {
            let pages = format!("pages={}", ours::pages());
            let params = [params[0], params[1], "time=25166ms", &pages];
            ours::mean_of_trial("mem.pipeline", params, "throughput")
        };
        // Fetched and built when it has its first turn.
        let peer = move || match original.get() {
            Some(built) => built.run(),
            None => {
                let built = Original::build()?;
                original.get_or_init(|| built).run()
            }
        };
        Row::one(figure, ours, peer)
    };
    ROWS.map(row).into()
}
