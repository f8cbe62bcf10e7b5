//! `mem.pipeline`: whether a machine keeps the pace of many memory operations at once, and how much faster it could.

#[cfg(test)]
mod fixture;
mod lateness;
mod layout;
mod limits;
mod part;
mod pattern;
mod permute;
mod plan;
mod queue;
mod reduce;
mod ring;
pub mod scenario;
mod settings;
mod shared;
mod stream;
mod team;
#[cfg(test)]
mod tests;
mod window;

use seatrial_model::{
    About, AxisSpec, Better, Case, Cost, Interaction, Kind, Limits, Measures, MetricSpec, ParamSpec, Params,
    PartPlacement, PartRecord, Reason, SeriesSpec, Site, Unit,
};

use crate::{Benchmark, Error, Part, common};

pub struct Pipeline;

const ABOUT: About = About {
    id: "mem.pipeline",
    version: 1,
    title: "many paced memory operations at once, such as COBALT2's",
    doc: include_str!("doc.md"),
    params: &[
        ParamSpec {
            name: "scenario",
            doc: "The demand: steps with operation, block and rate; cobalt2 is 702 Gbit/s, cobalt2-readme 621 Gbit/s.",
            kind: Kind::Choice(scenario::NAMES),
            word: None,
            default: "cobalt2",
        },
        ParamSpec {
            name: "mode",
            doc: "Keep the scenario's pace, or search for the fastest pace that is kept.",
            kind: Kind::Choice(&["paced", "max"]),
            word: None,
            default: "paced",
        },
        ParamSpec {
            name: "threads",
            doc: "A pinned thread a core that takes the most urgent block, or a thread for every step of every station.",
            kind: Kind::Choice(&["core", "step"]),
            word: None,
            default: "core",
        },
        ParamSpec {
            name: "blocks",
            doc: "Go through enough blocks to leave the caches behind, or use one again and again as the original does.",
            kind: Kind::Choice(&["rotate", "one"]),
            word: None,
            default: "rotate",
        },
        ParamSpec {
            name: "sched",
            doc: "Scheduling of the threads: other, or fifo:N for SCHED_FIFO of priority N, which takes a privilege.",
            kind: Kind::Text,
            word: None,
            default: "other",
        },
        common::PAGES,
        ParamSpec { default: "4 s", ..common::TIME },
        common::TRIALS,
        common::MAX_TRIALS,
        common::PRECISION,
    ],
    metrics: &[
        MetricSpec {
            name: "throughput",
            doc: "Counted bits of the blocks finished in the window over its time; mode max: at the fastest pace kept.",
            unit: Unit::GigabitsPerSecond,
            better: Better::Higher,
        },
        MetricSpec {
            name: "achieved",
            doc: "In mode paced: throughput in percent of what the scenario demands.",
            unit: Unit::Percent,
            better: Better::Higher,
        },
        MetricSpec {
            name: "headroom",
            doc: "In mode max: the fastest pace at which at most 0.25 % of the blocks are late, over the scenario's.",
            unit: Unit::Count,
            better: Better::Higher,
        },
        MetricSpec {
            name: "late",
            doc: "Blocks that were not finished by their deadline, in percent of those due in the window.",
            unit: Unit::Percent,
            better: Better::Lower,
        },
        MetricSpec {
            name: "lateness_p99",
            doc: "Time from deadline to end of a block that 99 % of all blocks do not exceed; 0 for a block in time.",
            unit: Unit::Microsecond,
            better: Better::Lower,
        },
        MetricSpec {
            name: "lateness_max",
            doc: "The same of the latest block.",
            unit: Unit::Microsecond,
            better: Better::Lower,
        },
        MetricSpec {
            name: "traffic_least",
            doc: "What crosses the memory bus at least: every byte of a block once for loading and once for storing it.",
            unit: Unit::GigabytesPerSecond,
            better: Better::Higher,
        },
        MetricSpec {
            name: "traffic_most",
            doc: "Estimate of the most: with the lines that are read before they are stored to (write-allocate).",
            unit: Unit::GigabytesPerSecond,
            better: Better::Higher,
        },
    ],
    series: &[
        SeriesSpec {
            name: "by_step",
            doc: "Throughput by step, over all stations.",
            unit: Unit::GigabitsPerSecond,
            better: Better::Higher,
            axes: &[AxisSpec { name: "step", unit: Unit::Count }],
        },
        SeriesSpec {
            name: "late_by_step",
            doc: "Late blocks by step, in percent of those due.",
            unit: Unit::Percent,
            better: Better::Lower,
            axes: &[AxisSpec { name: "step", unit: Unit::Count }],
        },
        SeriesSpec {
            name: "by_node",
            doc: "Throughput by NUMA node.",
            unit: Unit::GigabitsPerSecond,
            better: Better::Higher,
            axes: &[AxisSpec { name: "node", unit: Unit::Count }],
        },
        SeriesSpec {
            name: "late_by_node",
            doc: "Late blocks by NUMA node, in percent of those due.",
            unit: Unit::Percent,
            better: Better::Lower,
            axes: &[AxisSpec { name: "node", unit: Unit::Count }],
        },
    ],
    parts: &["worker"],
    needs: &[],
    probes: &["steal", "load"],
    cost: Cost { seconds: 36, written: 0 },
    interaction: Interaction::Loads("memory and all cores of the node"),
};

impl Benchmark for Pipeline {
    fn about(&self) -> &'static About {
        &ABOUT
    }

    fn plan(&self, params: &Params, site: &Site) -> Result<Vec<Case>, Reason> {
        plan::plan(&ABOUT, params, site)
    }

    fn limits(&self, case: &Case, site: &Site) -> Limits {
        limits::limits(&ABOUT, case, site)
    }

    fn part(&self, case: &Case, place: &PartPlacement) -> Result<Box<dyn Part>, Error> {
        Ok(Box::new(part::Worker::new(case, place)?))
    }

    fn reduce(&self, case: &Case, parts: &[PartRecord]) -> Result<Measures, Reason> {
        reduce::reduce(case, parts)
    }
}
