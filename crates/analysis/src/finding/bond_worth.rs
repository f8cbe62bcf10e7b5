//! `bond-worth`: interfaces that are used together, as a bond or as rails, and bring too little.

use std::collections::BTreeMap;

use seatrial_model::record::{CaseRecord, MetricRecord};
use seatrial_model::{Better, Finding, Outcome, Params, Quantity, Severity, Unit};

use super::{Rule, about};
use crate::number::in_unit;

pub(super) const RULE: Rule = Rule {
    kind: "bond-worth",
    doc: "A bond is slower than one interface, or further interfaces of a bond or of `rails` add less than half of the \
          rate of one.",
    find,
};

/// Part of the rate of one interface that every further one has to add.
const LEAST: f64 = 0.5;

/// How a limit of a member may exceed that of the bond, by rounding.
const ROUNDING: f64 = 1.01;

/// Parameters that say which interfaces are used, and by how many flows: a bond may need more flows than a card.
const OF_WAY: [&str; 4] = ["rails", "interface", "peer_interface", "flows"];

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Way {
    Bond,
    Rails,
}

/// The best case of a number of interfaces.
#[derive(Clone, Copy)]
struct Best<'a> {
    case: &'a CaseRecord,
    metric: &'a MetricRecord,
    count: usize,
}

impl Best<'_> {
    fn low(&self) -> f64 {
        self.metric.ci95.map_or(self.metric.median, |(low, _)| low)
    }

    fn high(&self) -> f64 {
        self.metric.ci95.map_or(self.metric.median, |(_, high)| high)
    }

    fn rate(&self) -> String {
        in_unit(self.metric.median, self.metric.unit)
    }

    /// Whether it can be one of the interfaces of `wide`, as far as the limits tell.
    fn may_belong_to(&self, wide: &Self) -> bool {
        let limits = self.metric.limit.value.zip(wide.metric.limit.value);
        limits.is_none_or(|(own, all)| own <= ROUNDING * all)
    }
}

fn find(records: &[CaseRecord]) -> Vec<Finding> {
    let mut questions: BTreeMap<(&str, &[String], String), Vec<&CaseRecord>> = BTreeMap::new();
    for case in records.iter().filter(|case| case.outcome == Outcome::Measured) {
        let others = case.params.iter().filter(|(name, _)| !OF_WAY.contains(name));
        let others: Params = others.map(|(name, value)| (name.to_owned(), value.clone())).collect();
        questions.entry((&case.bench, &case.nodes, others.to_string())).or_default().push(case);
    }
    questions.values().flat_map(|cases| of_question(cases)).collect()
}

fn of_question(cases: &[&CaseRecord]) -> Vec<Finding> {
    let mut single: Vec<Best<'_>> = Vec::new();
    let mut wide: BTreeMap<(Way, usize), Best<'_>> = BTreeMap::new();
    for &case in cases {
        let Some((_, metric)) = case.headline().filter(|(_, metric)| metric.better == Better::Higher) else {
            continue;
        };
        let (way, count) = interfaces(case);
        let found = Best { case, metric, count };
        match way.filter(|_| count > 1) {
            None => single.push(found),
            Some(way) => {
                let best = wide.entry((way, count)).or_insert(found);
                if best.metric.median < metric.median {
                    *best = found;
                }
            }
        }
    }
    let one = |of: &Best<'_>| {
        let members = single.iter().filter(|one| one.may_belong_to(of));
        members.max_by(|a, b| a.metric.median.total_cmp(&b.metric.median)).copied()
    };
    let with_fewer =
        |way: Way, count: usize| wide.range((way, 2)..(way, count)).next_back().map(|(_, best)| *best);
    let finding = |(&(way, count), best): (&(Way, usize), &Best<'_>)| {
        let one = one(best)?;
        judge(way, best, &one, &with_fewer(way, count).unwrap_or(one))
    };
    wide.iter().filter_map(finding).collect()
}

/// How the case uses interfaces together, and how many.
pub(super) fn interfaces(case: &CaseRecord) -> (Option<Way>, usize) {
    if case.params.text("rails").is_ok_and(|rails| rails != "none") {
        let count = case.chosen.text("interface").map_or(1, |names| names.split('+').count());
        return (Some(Way::Rails), count);
    }
    match (case.facts.text("type"), case.facts.count("members")) {
        (Ok("bond"), Ok(members)) => (Some(Way::Bond), members as usize),
        _ => (None, 1),
    }
}

fn judge(way: Way, best: &Best<'_>, one: &Best<'_>, fewer: &Best<'_>) -> Option<Finding> {
    let (count, rate) = (best.count, best.rate());
    let together = match way {
        Way::Bond => format!("the bond of {count} interfaces carries {rate}"),
        Way::Rails => format!("{count} interfaces together carry {rate}"),
    };
    let of_one = one.metric.median;
    let (value, text) = if way == Way::Bond && best.high() < one.low() {
        let text = format!(
            "{together}, and one interface alone {}: flows of the bond are delayed or reordered, or its mode uses one \
             member only; compare the mode and the hash policy (`seatrial settings`), and -p rails= with one connection \
             per interface",
            one.rate()
        );
        (best.metric.median / of_one, text)
    } else {
        let further = (count - fewer.count) as f64;
        if (best.high() - fewer.low()) / further >= LEAST * of_one {
            return None;
        }
        let added = (best.metric.median - fewer.metric.median) / further;
        let text = format!(
            "{together}, {} of them {}: each further interface adds {}, less than half of the {} of one; the bus, the \
             memory or the cores of a node are the limit, or the interfaces share a cable or a switch",
            fewer.count,
            fewer.rate(),
            in_unit(added, best.metric.unit),
            one.rate(),
        );
        (added / of_one, text)
    };
    let mut finding = Finding::new(RULE.kind, Severity::Warning, best.case.subject.clone(), text);
    finding.value = Quantity::new(value, Unit::Ratio).ok();
    finding.evidence = best.case.headline().map(|(name, _)| name.to_owned()).into_iter().collect();
    Some(about(best.case, finding))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::fixture::{limit, measured, metric, no_limit};

    /// A case over these interfaces: `eth0`, `eth0+eth1` as rails, or a bond of so many members.
    fn case(interface: &str, members: Option<u64>, flows: u64, rate: f64) -> CaseRecord {
        let mut case = measured("n1");
        case.nodes.push("n2".to_owned());
        case.params.set("flows", flows);
        case.params.set("rails", if interface.contains('+') { interface } else { "none" });
        case.chosen.set("interface", interface);
        case.facts.set("kind", "nic");
        case.facts.set("type", if members.is_some() { "bond" } else { "physical" });
        if let Some(members) = members {
            case.facts.set("members", members);
        }
        let spread = (rate * 0.99, rate * 1.01);
        case.metrics.insert("bandwidth".to_owned(), metric(rate, spread, no_limit()));
        case
    }

    fn told(cases: &[CaseRecord]) -> Vec<(f64, String)> {
        let value = |finding: &Finding| finding.value.expect("a ratio").value();
        find(cases).iter().map(|finding| (value(finding), finding.text.clone())).collect()
    }

    #[test]
    fn a_bond_that_is_slower_than_one_of_its_interfaces_is_told() {
        let one = case("eth0", None, 1, 1.0);
        let found = told(&[one.clone(), case("bond0", Some(2), 1, 0.7), case("bond0", Some(2), 2, 0.8)]);
        let [(value, text)] = found.as_slice() else { panic!("{found:?}") };
        assert!((value - 0.8).abs() < 1e-9, "the best number of flows counts: {value}");
        assert!(
            text.contains("the bond of 2 interfaces carries 0.8 GB/s, and one interface alone 1 GB/s"),
            "{text}"
        );
        assert_eq!(told(&[one.clone(), case("bond0", Some(2), 2, 1.9)]), []);
        let found = told(&[one, case("bond0", Some(2), 2, 1.0)]);
        assert!(found[0].1.contains("each further interface adds 0 GB/s"), "as fast as one: {found:?}");
    }

    #[test]
    fn a_third_rail_that_brings_little_is_told_and_a_second_that_doubles_is_not() {
        let all = [
            case("eth0", None, 3, 1.0),
            case("eth0+eth1", None, 3, 2.0),
            case("eth0+eth1+eth2", None, 3, 2.1),
        ];
        let found = told(&all);
        let [(value, text)] = found.as_slice() else { panic!("{found:?}") };
        assert!((value - 0.1).abs() < 1e-9, "{value}");
        assert!(text.contains("3 interfaces together carry 2.1 GB/s, 2 of them 2 GB/s"), "{text}");
        assert_eq!(told(&all[..2]), []);
        assert_eq!(told(&all[1..]), [], "what one carries is not known");
    }

    #[test]
    fn a_faster_card_is_no_interface_of_the_bond() {
        let with_limit = |mut case: CaseRecord, value: f64| {
            case.metrics.get_mut("bandwidth").expect("there").limit = limit(value);
            case
        };
        let cases =
            [with_limit(case("ib0", None, 1, 7.0), 8.0), with_limit(case("bond0", Some(2), 2, 1.9), 2.0)];
        assert_eq!(told(&cases), []);
    }
}
