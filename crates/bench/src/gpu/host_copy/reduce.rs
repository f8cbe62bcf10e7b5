//! From pieces of slices to bandwidth in each direction.

use std::collections::BTreeMap;

use seatrial_model::{Case, Cause, Measures, Params, PartRecord, Reason, Row, Sample, Unit, Values};
use seatrial_stats::Sorted;
use serde_json::json;

use super::cell::Grid;
use super::pinned::{IN_LANE, OUT_LANE};
use crate::common::gpu::{common_rates, findings_of};
use crate::common::{by_place, misplaced};

/// The rates of one direction at one place on the axes, in GB/s by trial.
#[derive(Clone, Debug)]
struct Cell {
    /// `h2d`, `d2h`, `both`, `both_h2d` or `both_d2h`.
    name: &'static str,
    size: String,
    node: Option<u64>,
    near: bool,
    trials: Vec<Vec<f64>>,
}

pub fn reduce(case: &Case, parts: &[PartRecord]) -> Result<Measures, Reason> {
    let cells = cells(parts);
    if cells.is_empty() {
        let text = "no slice of copies came to its end within the time; raise -p time= or lower -p size=";
        return Err(Reason::new(Cause::TooShort, text));
    }
    let grid = Grid::of(case).map_err(Reason::from)?;
    let largest = seatrial_model::Bytes(grid.largest()).to_string();
    let mut measures = Measures::default();
    let values = |trials: &Vec<Vec<f64>>, unit| Values { unit, trials: trials.clone() };
    let rates = |cell: &Cell| values(&cell.trials, Unit::GigabytesPerSecond);
    for cell in cells.iter().filter(|cell| cell.near && cell.size == largest) {
        measures.metrics.insert(cell.name.to_owned(), rates(cell));
    }
    for (name, metric) in [("h2d", "h2d_remote"), ("d2h", "d2h_remote")] {
        let remote = cells.iter().filter(|cell| !cell.near && cell.name == name);
        if let Some(cell) = remote.min_by(|a, b| median(&a.trials).total_cmp(&median(&b.trials))) {
            measures.metrics.insert(metric.to_owned(), rates(cell));
            let near = cells.iter().find(|other| other.near && other.name == name);
            let share = near.map(|near| 100.0 * median(&cell.trials) / median(&near.trials));
            measures.evidence.insert(format!("{metric}_percent_of_near"), json!(share));
        }
    }
    for metric in ["h2d_latency", "d2h_latency", "latency"] {
        let each = |sample: &Sample| Some(sample.span().get() as f64 / sample.amount.value());
        for place in by_place(parts, metric, each) {
            measures.metrics.insert(metric.to_owned(), values(&place.trials, Unit::Nanosecond));
        }
    }
    let row = |cell: &Cell| {
        let mut at = Params::default();
        at.set("direction", cell.name);
        match (grid.nodes.len() > 1, cell.node) {
            (true, Some(node)) => at.set("memory_node", node),
            _ => at.set("size", cell.size.as_str()),
        }
        Row { at, values: rates(cell) }
    };
    let sizes = grid.cells.iter().any(|cell| cell.size != grid.largest());
    let series = match (grid.nodes.len() > 1, sizes) {
        (true, _) => Some("matrix"),
        (false, true) => Some("by_size"),
        // One size at one place: the metrics say it all.
        _ => None,
    };
    if let Some(series) = series {
        measures.series.insert(series.to_owned(), cells.iter().map(row).collect());
    }
    for name in ["gpu", "place", "pages", "held_by", "watch"] {
        if let Some(value) = parts.last().and_then(|part| part.evidence.get(name)) {
            measures.evidence.insert(name.to_owned(), value.clone());
        }
    }
    measures.evidence.insert("integrity".to_owned(), json!(parts.first().map(|part| &part.integrity)));
    measures.findings = findings_of(case, parts);
    measures.findings.extend(parts.first().and_then(|part| misplaced(&part.evidence)));
    Ok(measures)
}

/// The rates of every slice, in the order of the cells' first slices.
fn cells(parts: &[PartRecord]) -> Vec<Cell> {
    let mut trials: Vec<u32> = parts.iter().map(|part| part.trial).collect();
    trials.dedup();
    let mut cells: Vec<Cell> = Vec::new();
    for part in parts {
        let trial = trials.iter().position(|number| *number == part.trial).unwrap_or(0);
        let mut slices: BTreeMap<u64, Vec<&Sample>> = BTreeMap::new();
        for sample in part.samples.iter().filter(|sample| sample.channel == "copy") {
            slices.entry(sample.at.count("slice").unwrap_or(0)).or_default().push(sample);
        }
        for samples in slices.values() {
            let at = &samples[0].at;
            let Some(lanes) = common_rates(samples) else { continue };
            let of =
                |lane| lanes.iter().find(|rate| rate.lane == lane).map(|rate| rate.bytes_per_second / 1e9);
            let (into, out_of) = (of(IN_LANE), of(OUT_LANE));
            let both = into.zip(out_of).map(|(into, out_of)| into + out_of);
            let named: &[(&'static str, Option<f64>)] = match at.text("direction") {
                Ok("h2d") => &[("h2d", into)],
                Ok("d2h") => &[("d2h", out_of)],
                _ => &[("both_h2d", into), ("both_d2h", out_of), ("both", both)],
            };
            for (name, rate) in named {
                let Some(rate) = rate else { continue };
                let size = at.text("size").unwrap_or_default();
                let node = at.count("memory_node").ok();
                let is_it = |cell: &Cell| cell.name == *name && cell.size == size && cell.node == node;
                let index = cells.iter().position(is_it).unwrap_or_else(|| {
                    let near = at.count("near") == Ok(1);
                    cells.push(Cell { name, size: size.to_owned(), node, near, trials: vec![] });
                    cells.len() - 1
                });
                let of_trials = &mut cells[index].trials;
                of_trials.resize(of_trials.len().max(trial + 1), Vec::new());
                of_trials[trial].push(*rate);
            }
        }
    }
    cells.iter_mut().for_each(|cell| cell.trials.retain(|trial| !trial.is_empty()));
    cells
}

/// Cells have rates, and these are finite.
fn median(trials: &[Vec<f64>]) -> f64 {
    Sorted::pooled(trials).map_or(0.0, |rates| rates.median())
}
