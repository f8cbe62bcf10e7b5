//! `outlier`: a node whose number is worse than those of its peers.
//!
//! A node is an outlier if it is worse than the median by more than [`K`] times the median absolute deviation (MAD)
//! and by more than [`FLOOR_PERCENT`]. Unlike a standard deviation, the MAD is not inflated by the outlier itself
//! (Leys and others, "Detecting outliers", 2013). Six MADs are about four standard deviations of normal noise, so
//! that a fleet of a thousand sound nodes has no outlier; the floor protects nodes that agree to a thousandth.

use std::collections::BTreeMap;

use seatrial_model::record::CaseRecord;
use seatrial_model::{Better, Finding, Severity, Unit};
use seatrial_stats::{Modes, Sorted, modes};

use super::class::Class;
use crate::number::{in_unit, quantity, significant};
use crate::same::{class_of, is_same_question};

const KIND: &str = "outlier";

/// Median absolute deviations that a sound node stays within.
const K: f64 = 6.0;

/// Smallest distance of an outlier from the median, in percent of the median.
const FLOOR_PERCENT: f64 = 3.0;

/// Smallest number of nodes: with fewer the median moves with the bad node.
const FEWEST_NODES: usize = 5;

/// One metric of one question and subject, over the nodes that measured it.
struct Row<'a> {
    metric: &'a str,
    unit: Unit,
    better: Better,
    cases: Vec<(&'a CaseRecord, f64)>,
}

pub(super) fn find(class: &Class<'_>, records: &[CaseRecord]) -> Vec<Finding> {
    rows(class, records).iter().flat_map(of_row).collect()
}

fn rows<'a>(class: &Class<'_>, records: &'a [CaseRecord]) -> Vec<Row<'a>> {
    let mut groups: Vec<Vec<&CaseRecord>> = Vec::new();
    let mut by_key: BTreeMap<(String, String, String), Vec<usize>> = BTreeMap::new();
    let names = class.names();
    let own = |case: &&CaseRecord| matches!(case.nodes.as_slice(), [node] if names.contains(node.as_str()));
    for case in records.iter().filter(own) {
        let key = (case.group.clone(), case.bench.clone(), class_of(case));
        let candidates = by_key.entry(key).or_default();
        match candidates.iter().find(|at| is_same_question(groups[**at][0], case)) {
            Some(at) => groups[*at].push(case),
            None => {
                candidates.push(groups.len());
                groups.push(vec![case]);
            }
        }
    }
    let mut rows: Vec<Row<'a>> = Vec::new();
    for cases in groups.iter().filter(|cases| cases.len() >= FEWEST_NODES) {
        // A failed case ends first and has no metrics.
        let first = cases.iter().map(|case| &case.metrics).find(|metrics| !metrics.is_empty());
        for (name, metric) in first.into_iter().flatten().filter(|(_, metric)| metric.better != Better::None)
        {
            let values = cases.iter().filter_map(|case| Some((*case, case.metrics.get(name)?.median)));
            rows.push(Row {
                metric: name,
                unit: metric.unit,
                better: metric.better,
                cases: values.collect(),
            });
        }
    }
    rows
}

fn of_row(row: &Row<'_>) -> Vec<Finding> {
    let values: Vec<f64> = row.cases.iter().map(|(_, value)| *value).collect();
    let Some((median, mad)) = centre(&values).filter(|_| values.len() >= FEWEST_NODES) else {
        return Vec::new();
    };
    let allowed = (K * mad).max(FLOOR_PERCENT / 100.0 * median.abs());
    let behind = |value: f64| match row.better {
        Better::Lower => value - median,
        Better::Higher | Better::None => median - value,
    };
    let mut found: Vec<Finding> = row
        .cases
        .iter()
        .filter(|(_, value)| behind(*value) > allowed)
        .map(|(case, value)| outlier(row, case, *value, (median, mad)))
        .collect();
    // Two clusters of values are two kinds of nodes, not one kind with bad nodes.
    if let Ok(Modes::Two { low, high }) = modes(&values)
        && high.median - low.median > FLOOR_PERCENT / 100.0 * median.abs()
    {
        found.push(two_sorts(row, (low.n, low.median), (high.n, high.median)));
    }
    found
}

fn centre(values: &[f64]) -> Option<(f64, f64)> {
    let median = Sorted::new(values).ok()?.median();
    let distances: Vec<f64> = values.iter().map(|value| (value - median).abs()).collect();
    Some((median, Sorted::new(&distances).ok()?.median()))
}

fn outlier(row: &Row<'_>, case: &CaseRecord, value: f64, (median, mad): (f64, f64)) -> Finding {
    let percent = 100.0 * (value - median) / median.abs();
    let side = if value < median { "below" } else { "above" };
    let node = case.nodes.first().cloned().unwrap_or_default();
    let text = format!(
        "{} of {node} is {}, {} % {side} the median {} of {} nodes like it (median absolute deviation {}): \
         look for what differs there, and measure it again together with a good node",
        row.metric,
        in_unit(value, row.unit),
        significant(percent.abs()),
        in_unit(median, row.unit),
        row.cases.len(),
        in_unit(mad, row.unit)
    );
    let finding = Finding::new(KIND, Severity::Problem, case.subject.clone(), text);
    Finding {
        case: Some(case.case.to_string()),
        node: Some(node),
        value: quantity(percent, Unit::Percent),
        evidence: vec![row.metric.to_owned()],
        ..finding
    }
}

fn two_sorts(row: &Row<'_>, low: (usize, f64), high: (usize, f64)) -> Finding {
    let text = format!(
        "{} comes in two clusters: {} nodes around {}, {} nodes around {}; these are two kinds of nodes, and \
         a median over both says little",
        row.metric,
        low.0,
        in_unit(low.1, row.unit),
        high.0,
        in_unit(high.1, row.unit)
    );
    let subject = row.cases[0].0.subject.clone();
    let finding = Finding::new("two-clusters", Severity::Warning, subject, text);
    Finding { evidence: vec![row.metric.to_owned()], ..finding }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::fixture::{case, metric, no_limit};
    use seatrial_model::SiteNode;
    use seatrial_model::machine::Machine;

    fn found(values: &[f64]) -> Vec<(String, Option<String>)> {
        let nodes: Vec<SiteNode> =
            (1..=values.len()).map(|n| SiteNode::new(format!("n{n}"), Machine::default())).collect();
        let record = |(at, value): (usize, &f64)| {
            let mut case = case(&format!("n{}", at + 1), "node");
            case.metrics
                .insert("bandwidth".to_owned(), metric(*value, (value - 0.1, value + 0.1), no_limit()));
            case
        };
        let records: Vec<_> = values.iter().enumerate().map(record).collect();
        let class = Class { nodes: nodes.iter().collect() };
        find(&class, &records).into_iter().map(|finding| (finding.kind, finding.node)).collect()
    }

    #[test]
    fn the_node_that_falls_behind_is_named_and_a_fast_one_is_not() {
        let found = found(&[100.0, 99.5, 100.4, 85.0, 99.9, 130.0, 100.2]);
        assert_eq!(found, [("outlier".to_owned(), Some("n4".to_owned()))]);
    }

    #[test]
    fn a_node_without_numbers_hides_no_outlier() {
        let values = [100.0, 99.5, 100.4, 85.0, 99.9, 100.2];
        let nodes: Vec<SiteNode> =
            (0..=values.len()).map(|n| SiteNode::new(format!("n{n}"), Machine::default())).collect();
        let with = |(at, value): (usize, &f64)| {
            let mut case = case(&format!("n{}", at + 1), "node");
            case.metrics
                .insert("bandwidth".to_owned(), metric(*value, (value - 0.1, value + 0.1), no_limit()));
            case
        };
        let mut records = vec![case("n0", "node")];
        records.extend(values.iter().enumerate().map(with));
        let found = find(&Class { nodes: nodes.iter().collect() }, &records);
        let nodes: Vec<_> = found.iter().filter_map(|finding| finding.node.as_deref()).collect();
        assert_eq!(nodes, ["n4"]);
    }

    #[test]
    fn nodes_that_agree_closely_are_not_told_apart() {
        assert!(found(&[100.0, 100.01, 99.99, 100.0, 100.0, 98.5]).is_empty(), "1.5 % is under the floor");
    }

    #[test]
    fn few_nodes_are_no_fleet() {
        assert!(found(&[100.0, 100.0, 100.0, 50.0]).is_empty());
    }

    #[test]
    fn a_spread_fleet_has_no_outlier_inside_its_spread() {
        assert!(found(&[90.0, 95.0, 100.0, 105.0, 110.0, 85.0, 115.0]).is_empty());
    }

    #[test]
    fn two_sorts_of_nodes_are_told_as_such() {
        let mut values: Vec<f64> = (0..10).map(|n| 100.0 + 0.1 * f64::from(n)).collect();
        values.extend((0..10).map(|n| 60.0 + 0.1 * f64::from(n)));
        assert!(found(&values).iter().any(|(kind, _)| kind == "two-clusters"));
    }
}
