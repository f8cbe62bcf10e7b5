//! Matrices as tables whose cells are coloured by how far they are from the median: numbers first, colour beside them.

use std::collections::HashMap;

use askama::Template;
use seatrial_analysis::Matrix;
use seatrial_model::record::CaseRecord;
use seatrial_model::{Better, Unit};

use super::shown::Shown;
use super::words::{fixed, quantity, text, unit};
use crate::labels::named_params;
use crate::number::{decimals, spread, whole_share};

/// Nodes of a matrix that is shown whole; of a larger one the worst are shown with each other.
const MOST: usize = 40;

/// Steps of colour on either side of the median.
const STEPS: f64 = 4.0;

/// Distance from the median, as a part of it, that gets the strongest colour at least: noise is not to glow.
const STRONGEST: f64 = 0.05;

#[derive(Clone, Debug, Default, Template)]
#[template(path = "heat.html")]
pub struct Heat {
    pub caption: String,
    /// What rows and columns are.
    pub corner: String,
    /// Names of the columns.
    pub columns: Vec<String>,
    /// Names of the rows, and their cells.
    pub rows: Vec<(String, Vec<HeatCell>)>,
    /// What to know when reading it.
    pub note: String,
}

#[derive(Clone, Debug, Default)]
pub struct HeatCell {
    /// The number; empty where nothing was measured.
    pub text: String,
    /// `b4` far on the bad side, `b0` at the median, `g4` far on the good side.
    pub class: String,
    /// All there is to say about it.
    pub detail: String,
    /// Where its case is shown in full.
    pub to: String,
}

/// A number before it is coloured.
pub struct Value {
    pub value: f64,
    /// What else is said of it.
    pub more: String,
    /// Where its case is shown in full.
    pub to: String,
}

impl Heat {
    /// The matrix of `values` by row and column.
    pub fn new(
        names: (&str, &str),
        rows: &[String],
        columns: &[String],
        values: &HashMap<(usize, usize), Value>,
        (of, better): (Unit, Better),
    ) -> Self {
        let decimals = decimals(values.values().map(|value| value.value));
        let colours = Colours::new(values.values().map(|value| value.value), better);
        let cell = |row: usize, column: usize| {
            let Some(found) = values.get(&(row, column)) else { return HeatCell::default() };
            let mut detail =
                format!("{} → {}: {}{}", rows[row], columns[column], fixed(found.value, decimals), unit(of));
            let off = colours.off(found.value);
            if off.abs() >= 0.001 {
                let side = if off < 0.0 { "below" } else { "above" };
                detail += &format!(", {} {side} the median", whole_share(100.0 * off.abs()));
            }
            if !found.more.is_empty() {
                detail += &format!(" · {}", found.more);
            }
            HeatCell {
                text: fixed(found.value, decimals),
                class: colours.class(found.value),
                detail: text(&detail),
                to: found.to.clone(),
            }
        };
        Self {
            corner: text(&format!("{} ↓ {} →", names.0, names.1)),
            columns: columns.iter().map(|name| text(name)).collect(),
            rows: rows
                .iter()
                .enumerate()
                .map(|(row, name)| (text(name), (0..columns.len()).map(|column| cell(row, column)).collect()))
                .collect(),
            ..Self::default()
        }
    }
}

/// How numbers are coloured.
struct Colours {
    median: f64,
    strongest: f64,
    better: Better,
}

impl Colours {
    fn new(values: impl Iterator<Item = f64>, better: Better) -> Self {
        let mut sorted: Vec<f64> = values.collect();
        sorted.sort_by(f64::total_cmp);
        let median = sorted.get(sorted.len() / 2).copied().unwrap_or_default();
        let ends = sorted.first().zip(sorted.last());
        let widest = ends.map_or(0.0, |(low, high)| (median - low).max(high - median));
        Self { median, strongest: widest.max(STRONGEST * median.abs()), better }
    }

    /// Distance from the median as a part of it.
    fn off(&self, value: f64) -> f64 {
        if self.median == 0.0 { 0.0 } else { (value - self.median) / self.median.abs() }
    }

    fn class(&self, value: f64) -> String {
        let part = if self.strongest > 0.0 { (value - self.median) / self.strongest } else { 0.0 };
        let good = if self.better == Better::Lower { -part } else { part };
        let step = (STEPS * good.abs()).round() as u8;
        format!("{}{step}", if good < 0.0 { 'b' } else { 'g' })
    }
}

/// The matrices of pairs of nodes.
pub fn of_pairs(shown: &Shown<'_>) -> Vec<Heat> {
    let matrices = seatrial_analysis::matrices(&shown.document.results);
    // A ring or a list of neighbours says no more than the cases do.
    let told = matrices.iter().filter(|matrix| matrix.cells.len() > matrix.nodes.len());
    told.map(|matrix| of_matrix(shown, matrix)).collect()
}

fn of_matrix(shown: &Shown<'_>, matrix: &Matrix) -> Heat {
    let is_of = |case: &&CaseRecord| {
        case.bench == matrix.bench && case.group == matrix.group && case.params == matrix.params
    };
    let mut cases: HashMap<(&str, &str), &CaseRecord> = HashMap::new();
    for case in shown.document.results.iter().filter(is_of) {
        if let [one, other] = case.nodes.as_slice() {
            cases.insert((one, other), case);
        }
    }
    let chosen = chosen(matrix);
    let names: Vec<String> = chosen.iter().map(|node| matrix.nodes[*node].clone()).collect();
    let mut values = HashMap::new();
    for (row, one) in chosen.iter().enumerate() {
        for (column, other) in chosen.iter().enumerate() {
            let Some(value) = matrix.cells.get(&(*one, *other)) else { continue };
            let case = cases.get(&(matrix.nodes[*one].as_str(), matrix.nodes[*other].as_str()));
            let metric = case.and_then(|case| case.metrics.get(&matrix.metric));
            let more = metric
                .map(|metric| format!("{} from {} samples", spread(metric.median, metric.ci95), metric.n));
            let to = case.map(|case| shown.place(case.case.as_str())).unwrap_or_default();
            values.insert((row, column), Value { value: *value, more: more.unwrap_or_default(), to });
        }
    }
    let heat = Heat::new(("from", "to"), &names, &names, &values, (matrix.unit, matrix.better));
    let params = cases.values().next().map(|case| named_params(case).join(" ")).unwrap_or_default();
    let params = if params.is_empty() { params } else { format!(" · {params}") };
    let of = unit(matrix.unit);
    let note = if names.len() < matrix.nodes.len() {
        let all = matrix.nodes.len();
        format!("The {} nodes of {all} whose pairs are worst, with each other.", names.len())
    } else {
        let all: Vec<f64> = matrix.cells.values().copied().collect();
        let colours = Colours::new(all.iter().copied(), matrix.better);
        format!("{} pairs, median {}.", all.len(), quantity(colours.median, matrix.unit))
    };
    Heat {
        caption: text(&format!("{}{params} · {} between nodes,{of}", matrix.bench, matrix.metric)),
        note,
        ..heat
    }
}

/// The nodes that are shown: all, or those whose pairs are worst.
fn chosen(matrix: &Matrix) -> Vec<usize> {
    let all = 0..matrix.nodes.len();
    if matrix.nodes.len() <= MOST {
        return all.collect();
    }
    let sign = if matrix.better == Better::Lower { -1.0 } else { 1.0 };
    let mut ranked: Vec<(usize, f64)> =
        all.filter_map(|node| Some((node, sign * matrix.of_node(node)?.0))).collect();
    ranked.sort_by(|one, other| one.1.total_cmp(&other.1));
    let mut chosen: Vec<usize> = ranked.into_iter().take(MOST).map(|(node, _)| node).collect();
    chosen.sort_unstable();
    chosen
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn noise_does_not_glow_and_the_bad_side_is_that_of_the_metric() {
        let noise = Colours::new([100.0, 100.1, 99.9].into_iter(), Better::Higher);
        assert_eq!(noise.class(99.9), "b0");
        let rates = Colours::new([9.4, 9.41, 4.7].into_iter(), Better::Higher);
        assert_eq!((rates.class(4.7), rates.class(9.4)), ("b4".to_owned(), "g0".to_owned()));
        let times = Colours::new([2.0, 2.0, 4.0].into_iter(), Better::Lower);
        assert_eq!(times.class(4.0), "b4");
    }
}
