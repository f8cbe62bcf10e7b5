//! The numbers of a fleet that is too large for a row a case: a row a question and metric, over all nodes.

use std::collections::BTreeMap;

use seatrial_model::record::CaseRecord;
use seatrial_model::{Better, Outcome, Unit};
use seatrial_stats::Sorted;

use super::plot::rug;
use super::shown::Shown;
use super::table::{Cell, Head, Row, Table};
use super::words::{fixed, text, unit};
use crate::labels::{self, Label};
use crate::number::{decimals, signed_share};
use crate::words::count;

/// Rows at most; the CSV and JSON forms have all.
const MOST_ROWS: usize = 160;

/// One metric of one question.
struct Spread<'a> {
    label: Label,
    metric: &'a str,
    unit: Unit,
    better: Better,
    /// With where it was measured, from the lowest.
    values: Vec<(f64, &'a CaseRecord)>,
    asked: usize,
}

/// The metrics of `cases` over nodes.
pub fn table(shown: &Shown<'_>, bench: &str, cases: &[&CaseRecord]) -> Table {
    let spreads = spreads(cases);
    let all: Vec<Label> = spreads.iter().map(|spread| spread.label.clone()).collect();
    let columns = labels::columns(&all);
    let mut heads = vec![Head::words("metric")];
    heads.extend(columns.iter().map(|column| Head::words(text(column.head()))));
    heads.extend([
        Head::words("in"),
        Head::numbers("measured", ""),
        Head::numbers("lowest", ""),
        Head::numbers("5 %", ""),
        Head::numbers("median", ""),
        Head::numbers("95 %", ""),
        Head::numbers("highest", ""),
        Head::words("worst"),
        Head::words("spread over nodes"),
    ]);
    let row = |(at, spread): (usize, &Spread<'_>)| {
        let labels = columns.iter().map(|column| text(&column.cells()[at]));
        let mut cells = vec![Cell::new(text(spread.metric))];
        cells.extend(labels.map(Cell::new));
        cells.extend(numbers(shown, spread));
        Row { cells, ..Row::default() }
    };
    let rows: Vec<Row> = spreads.iter().enumerate().take(MOST_ROWS).map(row).collect();
    let mut notes = Vec::new();
    if spreads.len() > MOST_ROWS {
        let more = count(spreads.len() - MOST_ROWS, "more row");
        notes.push((String::new(), format!("{more} in the CSV and JSON forms")));
    }
    let caption = text(&format!("{bench} over nodes"));
    let table = Table { caption, heads, rows, ..Table::default() };
    Table { notes, ..table.tidy() }
}

fn numbers(shown: &Shown<'_>, spread: &Spread<'_>) -> Vec<Cell> {
    let values: Vec<f64> = spread.values.iter().map(|(value, _)| *value).collect();
    let sorted = Sorted::new(&values).ok();
    let quantile = |part: f64| sorted.as_ref()?.quantile(part).ok();
    let decimals = decimals(values.first().into_iter().chain(values.last()).copied());
    let number = |value: Option<f64>| Cell::new(value.map_or(String::new(), |value| fixed(value, decimals)));
    let median = quantile(0.5).unwrap_or_default();
    let worst = match spread.better {
        Better::Lower => spread.values.last(),
        Better::Higher | Better::None => spread.values.first(),
    };
    let off = worst
        .filter(|_| median != 0.0)
        .map(|(value, _)| signed_share(100.0 * (value - median) / median.abs()));
    let (to, node) = worst.map_or((String::new(), String::new()), |(_, case)| {
        (shown.place(case.case.as_str()), text(&case.nodes.join("+")))
    });
    let label = format!(
        "{} values from {} to {}",
        values.len(),
        fixed(values[0], decimals),
        fixed(values[values.len() - 1], decimals)
    );
    let picture = rug(&values, worst.map(|(value, _)| *value), &label);
    vec![
        Cell::new(unit(spread.unit).trim()),
        Cell::new(if values.len() == spread.asked {
            values.len().to_string()
        } else {
            format!("{} of {}", values.len(), spread.asked)
        }),
        number(quantile(0.0)),
        number(quantile(0.05)),
        number(Some(median)),
        number(quantile(0.95)),
        number(quantile(1.0)),
        Cell::new(node).to(to).with(off.unwrap_or_default()),
        Cell::picture(picture),
    ]
}

fn spreads<'a>(cases: &[&'a CaseRecord]) -> Vec<Spread<'a>> {
    let mut asked: BTreeMap<(String, String), usize> = BTreeMap::new();
    let mut places: BTreeMap<(String, String, &str), usize> = BTreeMap::new();
    let mut spreads: Vec<Spread<'a>> = Vec::new();
    let mut of: Vec<(String, String)> = Vec::new();
    for case in cases.iter().copied() {
        let label = Label::of_case(case).without_nodes(&case.nodes);
        let question = (case.group.clone(), label.key());
        *asked.entry(question.clone()).or_default() += usize::from(case.outcome != Outcome::Skipped);
        for (name, metric) in &case.metrics {
            let key = (question.0.clone(), question.1.clone(), name.as_str());
            let at = *places.entry(key).or_insert_with(|| {
                spreads.push(Spread {
                    label: label.clone(),
                    metric: name,
                    unit: metric.unit,
                    better: metric.better,
                    values: Vec::new(),
                    asked: 0,
                });
                of.push(question.clone());
                spreads.len() - 1
            });
            spreads[at].values.push((metric.median, case));
        }
    }
    for (spread, question) in spreads.iter_mut().zip(&of) {
        spread.asked = asked[question];
        spread.values.sort_by(|one, other| one.0.total_cmp(&other.0));
    }
    spreads
}
