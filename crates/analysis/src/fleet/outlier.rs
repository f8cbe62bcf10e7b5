//! `outlier`: a node whose number is worse than those of its peers.
//!
//! A node is an outlier if it is worse than the median by more median absolute deviations than one sound group in a
//! thousand would show by chance, by 3 %, and by more than its interval explains (`finding::matrix::allowed`). Unlike
//! a standard deviation, the median absolute deviation is not inflated by the outlier itself (Leys and others, "Detecting
//! outliers", 2013). Of a node whose CPU time others took, no number is an outlier; nor is, without a cause that is seen on the
//! node, one of nodes that share a kernel: their noise has one source (`fleet::fleet_findings`).

use std::collections::BTreeMap;

use seatrial_model::record::CaseRecord;
use seatrial_model::{Better, Finding, Gain, Severity, Unit};
use seatrial_stats::{Modes, modes};

use super::class::Class;
use crate::beside_peers::beside_peers;
use crate::finding::confidence;
use crate::finding::matrix::{APART, allowed_of_few, distance, shortfall};
use crate::judge::disturbed::disturbed_by;
use crate::number::{in_unit, quantity, ratio};
use crate::same::{class_of, is_same_question};

pub(crate) const KIND: &str = "outlier";

/// Smallest distance between two clusters of values, and between intervals, in percent.
const FLOOR_PERCENT: f64 = 3.0;

/// Smallest number of nodes: of three the median is the middle node, and two deviations say nothing.
const FEWEST_NODES: usize = 4;

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
    let half = |(case, _): &(&CaseRecord, f64)| {
        let (low, high) = case.metrics.get(row.metric)?.ci95?;
        Some(distance(high, low) / 2.0)
    };
    let halves: Vec<f64> = row.cases.iter().filter_map(half).collect();
    let Some((median, allowed)) = allowed_of_few(&values, &halves).filter(|_| values.len() >= FEWEST_NODES)
    else {
        return Vec::new();
    };
    let of_case = |of: &(&'_ CaseRecord, f64)| {
        let (case, value) = *of;
        let explained = APART * half(of).unwrap_or(0.0);
        let margin = shortfall(row.better, value, median) / allowed.max(explained);
        let margin = Some(margin).filter(|margin| *margin > 1.0 && disturbed_by(case).is_none());
        (margin.is_some() || is_below_all(row, case)).then(|| outlier(row, case, value, median, margin))
    };
    let mut found: Vec<Finding> = row.cases.iter().filter_map(of_case).collect();
    // Two clusters of values are two kinds of nodes, not one kind with bad nodes.
    if let Ok(Modes::Two { low, high }) = modes(&values)
        && high.median - low.median > FLOOR_PERCENT / 100.0 * median.abs()
    {
        found.push(two_sorts(row, (low.n, low.median), (high.n, high.median)));
    }
    found
}

/// Whether the whole interval of `case` is worse than those of all other nodes, by [`FLOOR_PERCENT`].
fn is_below_all(row: &Row<'_>, case: &CaseRecord) -> bool {
    let end = |case: &CaseRecord, is_low: bool| {
        let (low, high) = case.metrics.get(row.metric)?.ci95?;
        Some(if is_low { low } else { high })
    };
    let lower = row.better == Better::Lower;
    let others = row.cases.iter().filter(|(other, _)| other.nodes != case.nodes);
    end(case, lower).is_some_and(|own| {
        let is_better = |other: f64| shortfall(row.better, own, other) > FLOOR_PERCENT / 100.0;
        others.into_iter().all(|(other, _)| end(other, !lower).is_some_and(is_better))
    })
}

/// Without a `margin`, a finding that has no confidence yet: chance may explain it, unless a cause is seen on the node.
fn outlier(row: &Row<'_>, case: &CaseRecord, value: f64, median: f64, margin: Option<f64>) -> Finding {
    let percent = 100.0 * (value - median) / median.abs();
    let node = case.nodes.first().cloned().unwrap_or_default();
    let how = match margin {
        Some(margin) => format!("{} times what chance explains", ratio(margin)),
        None => "and its interval lies apart from those of all others".to_owned(),
    };
    let text = format!(
        "{node} has {}: {}, the median of {} nodes like it is {}, {how}; look for what differs there, and measure it again \
         together with a good node",
        beside_peers(percent, row.metric),
        in_unit(value, row.unit),
        row.cases.len(),
        in_unit(median, row.unit),
    );
    let gain = Some(median / value).filter(|factor| factor.is_finite() && *factor > 0.0).and_then(|factor| {
        Some(Gain { factor, to: quantity(median, row.unit)?, cases: vec![case.case.to_string()] })
    });
    let finding = Finding {
        case: Some(case.case.to_string()),
        node: Some(node),
        value: quantity(percent, Unit::Percent),
        evidence: vec![row.metric.to_owned()],
        gain,
        ..Finding::new(KIND, Severity::Problem, case.subject.clone(), text)
    };
    let Some(margin) = margin else { return finding };
    let cases: Vec<&CaseRecord> = row.cases.iter().map(|(case, _)| *case).collect();
    confidence::with(
        finding,
        confidence::of_trials(margin, &cases),
        "the noise of all nodes is the cause",
        &cases,
    )
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
    use seatrial_model::machine::Machine;
    use seatrial_model::{Confidence, SiteNode};
    use seatrial_stats::Random;
    use serde_json::json;

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
        let sure =
            find(&class, &records).into_iter().filter(|one| one.kind != KIND || one.confidence.is_some());
        sure.map(|finding| (finding.kind, finding.node)).collect()
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
        assert!(found(&[100.0, 100.0, 50.0]).is_empty());
        let of_four = [100.0, 99.8, 100.3, 50.0];
        assert_eq!(found(&of_four), [("outlier".to_owned(), Some("n4".to_owned()))]);
    }

    #[test]
    fn a_spread_fleet_has_no_outlier_inside_its_spread() {
        assert!(found(&[90.0, 95.0, 100.0, 105.0, 110.0, 85.0, 115.0]).is_empty());
    }

    #[test]
    fn an_outlier_tells_its_gain_and_how_sure_it_is() {
        let nodes: Vec<SiteNode> =
            (1..=4).map(|n| SiteNode::new(format!("n{n}"), Machine::default())).collect();
        let told = |values: [f64; 4]| {
            let with = |(at, value): (usize, f64)| {
                let mut case = case(&format!("n{}", at + 1), "node");
                case.metrics.insert("bandwidth".to_owned(), metric(value, (value, value), no_limit()));
                case
            };
            let records: Vec<_> = values.into_iter().enumerate().map(with).collect();
            find(&Class { nodes: nodes.iter().collect() }, &records).remove(0)
        };
        let sure = told([100.0, 100.0, 100.0, 50.0]);
        let gain = sure.gain.expect("a gain");
        assert_eq!((gain.factor, gain.to.value(), sure.confidence), (2.0, 100.0, Some(Confidence::High)));
        let unsure = told([100.0, 100.0, 100.0, 95.0]);
        assert_eq!(unsure.confidence, Some(Confidence::Low));
        assert!(unsure.text.contains("either n4 is at fault, or the noise of all nodes"), "{}", unsure.text);
    }

    /// Normal deviate of mean 0 and deviation 1 (Box and Muller).
    fn normal(random: &mut Random) -> f64 {
        let (radius, angle) = (random.uniform().max(1e-300), random.uniform());
        (-2.0 * radius.ln()).sqrt() * (std::f64::consts::TAU * angle).cos()
    }

    #[test]
    fn no_sound_node_is_an_outlier_whatever_the_noise_and_the_stolen_time() {
        let mut random = Random::of(5);
        for count in [4, 5, 8] {
            let nodes: Vec<SiteNode> =
                (1..=count).map(|n| SiteNode::new(format!("n{n}"), Machine::default())).collect();
            for (sigma, stolen) in [(0.005, 0.0), (0.05, 0.0), (0.005, 0.4), (0.05, 0.1)] {
                let mut blamed = 0;
                for _ in 0..200 {
                    let record = |at: u32| {
                        let lost = stolen * random.uniform();
                        let mut trials =
                            [(); 3].map(|()| 100.0 * (1.0 - lost) * (1.0 + sigma * normal(&mut random)));
                        trials.sort_by(f64::total_cmp);
                        let mut case = case(&format!("n{at}"), "node");
                        let metric = metric(trials[1], (trials[0], trials[2]), no_limit());
                        case.metrics.insert("bandwidth".to_owned(), metric);
                        let [steal, busy] = [lost, 1.0 - lost].map(|share| (1e9 * share) as u64);
                        let steal = json!({ "counts": { "steal_ns": steal } });
                        let load = json!({ "counts": { "busy_ns": busy, "own_ns": busy, "elapsed_ns": 1e9 as u64 } });
                        let probes = json!({ case.nodes[0].clone(): { "steal": steal, "load": load } });
                        case.evidence.insert("probes".to_owned(), probes);
                        case
                    };
                    let records: Vec<_> = (1..=count).map(record).collect();
                    let found = find(&Class { nodes: nodes.iter().collect() }, &records);
                    blamed += usize::from(found.iter().any(|finding| finding.confidence.is_some()));
                }
                assert_eq!(blamed, 0, "{count} nodes, {sigma}, stolen {stolen}");
            }
        }
    }

    #[test]
    fn two_sorts_of_nodes_are_told_as_such() {
        let mut values: Vec<f64> = (0..10).map(|n| 100.0 + 0.1 * f64::from(n)).collect();
        values.extend((0..10).map(|n| 60.0 + 0.1 * f64::from(n)));
        assert!(found(&values).iter().any(|(kind, _)| kind == "two-clusters"));
    }
}
