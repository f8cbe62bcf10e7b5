//! Reduces slices to bandwidth per direction.

use seatrial_model::{
    Case, Cause, Fact, HeldBack, Measures, Params, PartRecord, Reason, Row, Sample, Unit, Values,
};
use serde_json::json;

use super::cell::Grid;
use super::pinned::{IN_LANE, OUT_LANE};
use crate::watch::{GpuReading, GpuReadings};
use crate::{Lost, Slice, by_slice, tell};
use seatrial_bench::{Trials, by_coords, median};

#[derive(Clone, Debug, PartialEq)]
struct Coords {
    name: &'static str,
    size: String,
    node: Option<u64>,
    near: bool,
}

/// Rates in GB/s.
struct Cell {
    place: Coords,
    trials: Trials,
}

pub fn reduce(case: &Case, parts: &[PartRecord]) -> Result<Measures, Reason> {
    let (cells, lost) = cells(parts);
    if cells.is_empty() {
        let text = "no slice of copies finished within the time; raise -p time= or lower -p size=";
        return Err(Reason::new(Cause::TooShort, text));
    }
    let grid = Grid::of(case)?;
    let largest = seatrial_model::Bytes(grid.largest()).to_string();
    let mut measures = Measures::default();
    let values = |trials: &Vec<Vec<f64>>, unit| Values { unit, trials: trials.clone() };
    let rates = |cell: &Cell| values(&cell.trials, Unit::GigabytesPerSecond);
    for cell in cells.iter().filter(|cell| cell.place.near && cell.place.size == largest) {
        measures.metrics.insert(cell.place.name.to_owned(), rates(cell));
    }
    for (name, metric) in [("h2d", "h2d_remote"), ("d2h", "d2h_remote")] {
        let remote = cells.iter().filter(|cell| !cell.place.near && cell.place.name == name);
        if let Some(cell) = remote.min_by(|a, b| median(&a.trials).total_cmp(&median(&b.trials))) {
            measures.metrics.insert(metric.to_owned(), rates(cell));
            let near = cells.iter().find(|other| other.place.near && other.place.name == name);
            let share = near.map(|near| 100.0 * median(&cell.trials) / median(&near.trials));
            measures.evidence.insert(format!("{metric}_percent_of_near"), json!(share));
        }
    }
    for metric in ["h2d_latency", "d2h_latency", "latency"] {
        let each = |sample: &Sample| Some(sample.span().get() as f64 / sample.amount.value());
        for place in by_coords(parts, metric, each) {
            measures.metrics.insert(metric.to_owned(), values(&place.trials, Unit::Nanosecond));
        }
    }
    let row = |cell: &Cell| {
        let mut at = Params::default();
        at.set("direction", cell.place.name);
        match (grid.nodes.len() > 1, cell.place.node) {
            (true, Some(node)) => at.set("memory_node", node),
            _ => at.set("size", cell.place.size.as_str()),
        }
        Row { at, values: rates(cell) }
    };
    let sizes = grid.cells.iter().any(|cell| cell.size != grid.largest());
    let series = match (grid.nodes.len() > 1, sizes) {
        (true, _) => Some("matrix"),
        (false, true) => Some("by_size"),
        // One size and one node need no series.
        _ => None,
    };
    if let Some(series) = series {
        measures.series.insert(series.to_owned(), cells.iter().map(row).collect());
    }
    tell(&mut measures, case, parts);
    if let Some(readings) = GpuReadings::of(&measures.evidence) {
        HeldBack(readings.0.values().filter_map(GpuReading::slow_link).collect()).put(&mut measures.evidence);
    }
    measures.findings.extend(lost.finding());
    Ok(measures)
}

fn cells(parts: &[PartRecord]) -> (Vec<Cell>, Lost) {
    let values = |slice: Slice<'_>| {
        let (at, rates) = (slice.at(), slice.rates().unwrap_or_default());
        let of = |lane| rates.iter().find(|rate| rate.lane == lane).map(|rate| rate.bytes_per_second / 1e9);
        let (into, out_of) = (of(IN_LANE), of(OUT_LANE));
        let both = into.zip(out_of).map(|(into, out_of)| into + out_of);
        let named: Vec<(&'static str, Option<f64>)> = match at.text("direction") {
            Ok("h2d") => vec![("h2d", into)],
            Ok("d2h") => vec![("d2h", out_of)],
            _ => vec![("both_h2d", into), ("both_d2h", out_of), ("both", both)],
        };
        let size = at.text("size").unwrap_or_default();
        let (node, near) = (at.count("memory_node").ok(), at.count("near") == Ok(1));
        let cell = |(name, rate): (&'static str, Option<f64>)| {
            Some((Coords { name, size: size.to_owned(), node, near }, rate?))
        };
        named.into_iter().filter_map(cell).collect()
    };
    let (found, lost) = by_slice(parts, values);
    (found.into_iter().map(|(place, trials)| Cell { place, trials }).collect(), lost)
}
