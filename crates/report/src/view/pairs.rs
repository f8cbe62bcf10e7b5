//! Pairs of nodes: a matrix of pairs measured one by one, and a table of concurrent flows.

use std::collections::HashMap;

use seatrial_analysis::{AtOnce, Classes, Matrix as Pairs, Step, named_params};
use seatrial_model::Better;
use seatrial_model::record::CaseRecord;
use seatrial_stats::median;

use super::matrix::{Matrix, MatrixValue, MissingValue};
use super::table::{Builder, Cell, Column, Table};
use crate::number::{decimals, plain, plus_minus, signed_percent};
use crate::words::{Badge, count, in_unit, quantity};

/// Steps at most; of more the last ones are shown, which have the most flows.
const MOST_STEPS: usize = 24;

/// The matrices of `results` that say more than the table of cases: not those of a ring or of neighbours.
pub fn matrices(results: &[CaseRecord]) -> Vec<Pairs> {
    let mut matrices = seatrial_analysis::matrices(results);
    matrices.retain(|matrix| matrix.cells.len() > matrix.nodes.len());
    matrices
}

fn title(words: &[&str], of: seatrial_model::Unit, what: &str) -> String {
    let words: Vec<&str> = words.iter().copied().filter(|word| !word.is_empty()).collect();
    format!("{}{} · {what}", words.join(" · "), in_unit(of))
}

/// The numbers of `pairs` between its nodes; with more than `most` nodes only the worst nodes, with each other.
pub fn matrix(results: &[CaseRecord], pairs: &Pairs, most: usize) -> Matrix {
    let is_of = |case: &&CaseRecord| {
        case.bench == pairs.bench && case.group == pairs.group && case.params == pairs.params
    };
    let mut cases: HashMap<(&str, &str), &CaseRecord> = HashMap::new();
    for case in results.iter().filter(is_of) {
        if let [one, other] = case.nodes.as_slice() {
            cases.insert((one, other), case);
        }
    }
    let mut chosen: Vec<usize> = ranked(pairs).into_iter().map(|(node, ..)| node).take(most).collect();
    if pairs.nodes.len() <= most {
        chosen = (0..pairs.nodes.len()).collect();
    }
    chosen.sort_unstable();
    let place = |node: usize| chosen.iter().position(|known| *known == node);
    let value = |(at, value): (&(usize, usize), &f64)| {
        let case = cases.get(&(pairs.nodes[at.0].as_str(), pairs.nodes[at.1].as_str()));
        let metric = case.and_then(|case| case.metrics.get(&pairs.metric));
        let more = metric
            .map(|metric| format!("{} from {} samples", plus_minus(metric.median, metric.ci95), metric.n));
        let case = case.map(|case| case.case.to_string());
        let found = MatrixValue { value: *value, more: more.unwrap_or_default(), case };
        Some(((place(at.0)?, place(at.1)?), found))
    };
    let without_number = |(nodes, case): (&(&str, &str), &&CaseRecord)| {
        let at = |name: &str| place(pairs.nodes.iter().position(|node| node == name)?);
        let is_lost = !case.metrics.contains_key(&pairs.metric);
        let missing = MissingValue { word: Badge::from(case.outcome).word, case: case.case.to_string() };
        Some(((at(nodes.0)?, at(nodes.1)?), missing)).filter(|_| is_lost)
    };
    let names: Vec<String> = chosen.iter().map(|node| pairs.nodes[*node].clone()).collect();
    let params = cases.values().next().map(|case| named_params(case).join(" ")).unwrap_or_default();
    let all: Vec<f64> = pairs.cells.values().copied().collect();
    let median = median(&all).unwrap_or(0.0);
    Matrix {
        title: title(&[&pairs.bench, &params, &pairs.metric], pairs.unit, "from row to column"),
        names: ("from".to_owned(), "to".to_owned()),
        note: if names.len() < pairs.nodes.len() {
            let all = pairs.nodes.len();
            format!("The {} nodes of {all} whose pairs are worst, with each other.", names.len())
        } else {
            format!("{} pairs, median {}.", all.len(), quantity(median, pairs.unit))
        },
        values: pairs.cells.iter().filter_map(value).collect(),
        missing: cases.iter().filter_map(without_number).collect(),
        columns: names.clone(),
        rows: names,
        unit: pairs.unit,
        better: pairs.better,
    }
}

/// The nodes with the medians of their pairs and their number of partners, the worst first.
fn ranked(pairs: &Pairs) -> Vec<(usize, f64, usize)> {
    let of = |node| pairs.of_node(node).map(|(median, partners)| (node, median, partners));
    let mut ranked: Vec<(usize, f64, usize)> = (0..pairs.nodes.len()).filter_map(of).collect();
    let sign = sign(pairs);
    ranked.sort_by(|one, other| (sign * one.1).total_cmp(&(sign * other.1)).then(one.0.cmp(&other.0)));
    ranked
}

/// Turns numbers such that more is better.
fn sign(pairs: &Pairs) -> f64 {
    if pairs.better == Better::Lower { -1.0 } else { 1.0 }
}

/// A row per node, the node with the worst pairs first.
pub fn by_node(pairs: &Pairs) -> Table {
    let rows = ranked(pairs);
    let medians: Vec<f64> = rows.iter().map(|(_, median, _)| *median).collect();
    let middle = median(&medians).unwrap_or(0.0);
    let decimals = decimals(medians);
    let off = |value: f64| (middle != 0.0).then(|| signed_percent(100.0 * (value - middle) / middle.abs()));
    let slowest = |node: usize| {
        let own = pairs.cells.iter().filter(|(at, _)| at.0 == node || at.1 == node);
        let sign = sign(pairs);
        let worst = own.min_by(|one, other| (sign * one.1).total_cmp(&(sign * other.1)));
        worst.map(|(at, value)| (if at.0 == node { at.1 } else { at.0 }, *value))
    };
    Builder::new(title(&[&pairs.bench, &pairs.metric], pairs.unit, "by node, the worst first"), &rows)
        .column(Column::words("node").unbroken(), |(node, ..)| pairs.nodes[*node].as_str())
        .numbers("partners", |(.., partners)| partners.to_string())
        .numbers("median", |(_, median, _)| Cell::number(Some(*median), decimals))
        .numbers("off", |(_, median, _)| off(*median))
        .numbers("worst", |(node, ..)| Cell::number(slowest(*node).map(|(_, value)| value), decimals))
        .words("with", |(node, ..)| slowest(*node).map(|(with, _)| pairs.nodes[with].clone()))
        .finish()
}

/// A row per step of concurrent flows.
pub fn at_once(found: &AtOnce) -> Table {
    let left_out = found.steps.len().saturating_sub(MOST_STEPS);
    let steps = &found.steps[left_out..];
    let decimals = decimals(steps.iter().flat_map(|step| &step.repeats).map(|repeat| repeat.total));
    let number = |value: Option<f64>| Cell::number(value, decimals);
    let flows = |step: &Step| match step.flows {
        Some(flows) if flows as usize == step.planned => flows.to_string(),
        Some(flows) => format!("{flows} of {}", step.planned),
        None => format!("not all {}", step.planned),
    };
    let links = |step: &Step| {
        let line = found.line.as_ref().filter(|line| line.rate > 0.0)?;
        Some(format!("{:.1}", step.best()?.total / line.rate))
    };
    let title = title(&[&found.bench, &found.pattern, &found.metric], found.unit, "flows at the same time");
    let table = Builder::new(title, steps)
        .numbers("flows", flows)
        .numbers("total", |step| number(step.median()))
        .numbers("least", |step| number(step.least().map(|least| least.total)))
        .numbers("best", |step| number(step.best().map(|best| best.total)))
        .numbers("lines", links)
        .numbers("hashed", |step| number(step.flows.and_then(|flows| found.expected(flows))))
        .numbers("slowest", |step| number(step.middle().map(|middle| middle.slowest.rate)))
        .numbers("fastest", |step| number(step.middle().map(|middle| middle.fastest.rate)))
        .words("classes", |step| step.middle().and_then(|middle| Some(classes(&middle.classes?))));
    let mut remarks = vec![
        "total is the median over the repeats; slowest and fastest are flows of the repeat with the median total".to_owned(),
    ];
    if left_out > 0 {
        remarks.push(format!("{} with fewer flows, in the JSON form", count(left_out, "step")));
    }
    if let Some(line) = &found.line {
        let source = if line.is_limit { "its derived limit" } else { "the fastest of those that ran alone" };
        remarks.push(format!(
            "a flow's line is {}, {source}; full is 0.9 of it or more, half 0.4 to 0.6, third 0.28 to 0.38, \
             starved below 0.1, in the repeat with the median total",
            plain(line.rate)
        ));
    }
    if let Some((links, how)) = match (found.links, found.fitted) {
        (Some(links), _) => Some((links, "as stated")),
        (None, Some(links)) => Some((links, "the number that fits the totals best")),
        (None, None) => None,
    } {
        let links = count(links as usize, "link");
        remarks.push(format!("hashed is the average total of so many flows on {links} ({how})"));
    }
    Table { remarks, ..table.finish() }
}

/// `1 full, 2 half`.
fn classes(classes: &Classes) -> String {
    let Classes { full, half, third, starved, other } = *classes;
    let all = [(full, "full"), (half, "half"), (third, "third"), (starved, "starved"), (other, "other")];
    let some: Vec<String> =
        all.iter().filter(|(count, _)| *count > 0).map(|(count, name)| format!("{count} {name}")).collect();
    some.join(", ")
}
