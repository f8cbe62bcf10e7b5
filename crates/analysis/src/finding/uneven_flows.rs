//! `uneven-flows`: some of the flows at the same time are much slower than others, so that equal files end at
//! different times.

use std::collections::BTreeSet;

use seatrial_model::{Finding, Severity, Unit};

use super::Rule;
use super::at_once::{AtOnce, Step, at_once};
use crate::number::{in_unit, quantity, significant};

pub(super) const RULE: Rule = Rule {
    kind: "uneven-flows",
    doc: "Of flows between two halves at the same time, the fastest had 1.5 times the rate of the slowest or more in every \
          repeat.",
    find: |records| {
        let halves = at_once(records).into_iter().filter(|found| found.pattern == "bisection");
        halves.filter_map(|found| found.steps.iter().find_map(|step| of_step(&found, step))).collect()
    },
};

const UNEVEN: f64 = 1.5;

fn of_step(found: &AtOnce, step: &Step) -> Option<Finding> {
    let flows = step.flows.filter(|flows| *flows > 1)?;
    if step.repeats.is_empty() || step.repeats.iter().any(|it| it.fastest.rate < UNEVEN * it.slowest.rate) {
        return None;
    }
    let middle = step.middle()?;
    let (slowest, fastest) = (&middle.slowest, &middle.fastest);
    let later = fastest.rate / slowest.rate;
    let names: BTreeSet<&str> = step.repeats.iter().map(|repeat| repeat.slowest.subject.as_str()).collect();
    let repeats = step.repeats.len();
    let (severity, why) = match names.len() {
        _ if repeats == 1 => (
            Severity::Info,
            "one repeat does not tell whether the same flow is always the slowest".to_owned(),
        ),
        1 => (Severity::Info, format!("the same flow was the slowest in each of {repeats} repeats")),
        several => (
            Severity::Warning,
            format!(
                "{several} flows took turns as the slowest in {repeats} repeats, so the flows share links by chance; let \
                 switches and bonds hash over ports too, or use more flows"
            ),
        ),
    };
    let text = format!(
        "of {flows} flows at the same time the slowest ({}) has {} and the fastest ({}) {}: of equal files the last is done \
         {} times later than the first; {why}",
        slowest.subject,
        in_unit(slowest.rate, found.unit),
        fastest.subject,
        in_unit(fastest.rate, found.unit),
        significant(later),
    );
    let finding = Finding::new(RULE.kind, severity, slowest.subject.clone(), text);
    Some(Finding {
        case: Some(step.case.clone()),
        value: quantity(later, Unit::Ratio),
        evidence: vec![found.group.clone(), found.metric.clone()],
        ..finding
    })
}

#[cfg(test)]
mod tests {
    use seatrial_model::record::CaseRecord;

    use super::super::at_once::tests::flow;
    use super::*;

    /// Flows between two halves at the same time, each with its rate in every repeat.
    fn halves(rates: &[&[f64]]) -> Vec<CaseRecord> {
        let mut records: Vec<CaseRecord> =
            rates.iter().enumerate().map(|(at, rates)| flow(1, at, rates)).collect();
        for record in &mut records {
            record.origin.pattern = Some("bisection".to_owned());
            let company = serde_json::json!({ "cases": vec![rates.len(); rates[0].len()] });
            record.evidence.insert("together".to_owned(), company);
        }
        records
    }

    #[test]
    fn flows_that_take_turns_as_the_slowest_share_links_by_chance() {
        let found = (RULE.find)(&halves(&[&[1.0, 5.0, 5.0], &[5.0, 1.25, 5.0], &[5.0, 5.0, 1.0]]));
        let [finding] = found.as_slice() else { panic!("{found:?}") };
        assert_eq!(finding.severity, Severity::Warning);
        let says = "of 3 flows at the same time the slowest (a2->b2) has 1 GB/s and the fastest (a1->b1) 5 GB/s: of equal \
                    files the last is done 5 times later than the first; 3 flows took turns as the slowest in 3 repeats";
        assert!(finding.text.starts_with(says), "{}", finding.text);
        assert_eq!(finding.value, quantity(5.0, Unit::Ratio));
    }

    #[test]
    fn one_flow_that_is_always_slow_is_no_matter_of_chance() {
        let found = (RULE.find)(&halves(&[&[5.0, 5.0], &[1.0, 1.1]]));
        assert_eq!(found[0].severity, Severity::Info);
        assert!(
            found[0].text.ends_with("the same flow was the slowest in each of 2 repeats"),
            "{}",
            found[0].text
        );
    }

    #[test]
    fn equal_flows_and_other_patterns_are_left_alone() {
        assert_eq!((RULE.find)(&halves(&[&[5.0, 1.0], &[4.0, 4.0]])), [], "even in one repeat");
        let mut trunk = halves(&[&[1.0], &[5.0]]);
        trunk.iter_mut().for_each(|record| record.origin.pattern = Some("trunk".to_owned()));
        assert_eq!((RULE.find)(&trunk), []);
    }
}
