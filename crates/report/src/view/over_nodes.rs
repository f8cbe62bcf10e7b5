//! The numbers of a fleet that is too large for a row per case: a row per question and metric, over all nodes.

use std::collections::BTreeMap;

use seatrial_model::record::CaseRecord;
use seatrial_model::{Better, Outcome, Unit, node_names};
use seatrial_stats::Sorted;

use super::table::{Builder, Cell, CellPlot, Column, Table};
use crate::labels::{self, Label};
use crate::number::{decimals, signed_percent};
use crate::words::unit;

struct Spread<'a> {
    label: Label,
    metric: &'a str,
    unit: Option<Unit>,
    better: Better,
    is_headline: bool,
    /// With the case of each value, from the lowest.
    values: Vec<(f64, &'a CaseRecord)>,
    asked: usize,
    decimals: usize,
}

impl Spread<'_> {
    fn value(&self, part: f64) -> Option<f64> {
        let values: Vec<f64> = self.values.iter().map(|(value, _)| *value).collect();
        Sorted::new(&values).ok()?.quantile(part).ok()
    }

    fn cell(&self, part: f64) -> Cell {
        Cell::number(self.value(part), self.decimals)
    }

    /// The worst value, and its case.
    fn worst(&self) -> Option<(f64, &CaseRecord)> {
        let end = if self.better == Better::Lower { self.values.last() } else { self.values.first() };
        end.copied()
    }

    /// The distance of the worst value from the median.
    fn off(&self) -> Option<String> {
        let median = self.value(0.5).filter(|median| *median != 0.0)?;
        Some(signed_percent(100.0 * (self.worst()?.0 - median) / median.abs()))
    }

    fn plot(&self) -> Cell {
        let values: Vec<f64> = self.values.iter().map(|(value, _)| *value).collect();
        let ends = [self.cell(0.0).text, self.cell(1.0).text];
        let label = format!("{} values from {}", values.len(), ends.join(" to "));
        if values.is_empty() {
            return Cell::default();
        }
        CellPlot::Values { values, marked: self.worst().map(|(value, _)| value), label }.into()
    }
}

pub fn table(cases: &[&CaseRecord]) -> Table {
    let spreads = spreads(cases);
    let labels: Vec<Label> = spreads.iter().map(|spread| spread.label.clone()).collect();
    let bench = cases.first().map_or("", |case| &case.bench);
    let parts = [bench, &labels::shared_params(cases), "over nodes"];
    let title = parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" · ");
    let measured = |spread: &Spread<'_>| match spread.values.len() {
        all if all == spread.asked => all.to_string(),
        some => format!("{some} of {}", spread.asked),
    };
    let on = |spread: &Spread<'_>| {
        let case = spread.worst().map(|(_, case)| case);
        Cell::from(case.map(|case| node_names(&case.nodes))).case(case.map(|case| case.case.as_str()))
    };
    let table = Builder::new(title, &spreads)
        .column(Column::words("metric").of_title(), |spread| spread.metric)
        .column(Column::words("in").of_title(), |spread| spread.unit.map(|of| unit(of).trim().to_owned()))
        .labels(&labels)
        .numbers("measured", measured)
        .numbers("lowest", |spread| spread.cell(0.0))
        .column(Column::numbers("5 %").detail(), |spread| spread.cell(0.05))
        .numbers("median", |spread| spread.cell(0.5))
        .column(Column::numbers("95 %").detail(), |spread| spread.cell(0.95))
        .numbers("highest", |spread| spread.cell(1.0))
        .numbers("off", Spread::off)
        .words("worst on", on)
        .words("spread over nodes", Spread::plot)
        .about(|spread, row| row.is_detail = !spread.is_headline);
    Table { forms: "CSV and JSON forms", ..table.finish() }
}

fn spreads<'a>(cases: &[&'a CaseRecord]) -> Vec<Spread<'a>> {
    let mut places: BTreeMap<(&str, String), Vec<usize>> = BTreeMap::new();
    let mut spreads: Vec<Spread<'a>> = Vec::new();
    for case in cases.iter().copied() {
        let label = Label::of_case(case).without_nodes(&case.nodes);
        let own = places.entry((&case.group, label.key())).or_default();
        let asked =
            own.first().map_or(0, |at| spreads[*at].asked) + usize::from(case.outcome != Outcome::Skipped);
        let headline = case.headline().map(|(name, _)| name);
        for (name, metric) in &case.metrics {
            let known = own.iter().copied().find(|at| spreads[*at].metric == name);
            let at = known.unwrap_or_else(|| {
                // A question without results has a row without a metric.
                let open = own.iter().copied().find(|at| spreads[*at].metric.is_empty());
                open.unwrap_or_else(|| {
                    spreads.push(Spread::of(label.clone()));
                    own.push(spreads.len() - 1);
                    spreads.len() - 1
                })
            });
            let spread = &mut spreads[at];
            (spread.metric, spread.unit, spread.better) = (name, Some(metric.unit), metric.better);
            spread.is_headline = headline == Some(name);
            spread.values.push((metric.median, case));
        }
        if own.is_empty() {
            spreads.push(Spread::of(label));
            own.push(spreads.len() - 1);
        }
        own.iter().for_each(|at| spreads[*at].asked = asked);
    }
    let mut digits: BTreeMap<&str, usize> = BTreeMap::new();
    for spread in &mut spreads {
        spread.values.sort_by(|one, other| one.0.total_cmp(&other.0));
        let ends = spread.values.first().into_iter().chain(spread.values.last()).map(|(value, _)| *value);
        let known = digits.entry(spread.metric).or_default();
        *known = decimals(ends).max(*known);
    }
    spreads.iter_mut().for_each(|spread| spread.decimals = digits[spread.metric]);
    spreads
}

impl<'a> Spread<'a> {
    fn of(label: Label) -> Self {
        Self {
            label,
            metric: "",
            unit: None,
            better: Better::None,
            is_headline: true,
            values: Vec::new(),
            asked: 0,
            decimals: 0,
        }
    }
}
