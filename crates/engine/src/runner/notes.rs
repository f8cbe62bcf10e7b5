//! Messages about the cases of a round, and about cases without an agent.

use std::collections::BTreeSet;

use seatrial_model::profile::fold;
use seatrial_model::record::CaseRecord;
use seatrial_model::{Case, Cause, Reason};

/// Retries that are listed; of more only the number is shown.
const MOST_TOLD: usize = 4;

/// The message about cases of a round that stand in for others, or measure a node again.
pub fn retries(cases: &[Case]) -> Option<String> {
    let again: Vec<&Case> = cases.iter().filter(|case| case.retry_of.is_some()).collect();
    let words = |case: &&Case| {
        let lost = case.retry_of.as_ref().map_or("", |lost| lost.as_str());
        format!("the partner failed in {lost}: measured again as {}", case.id)
    };
    let suspects: BTreeSet<&str> = cases.iter().filter_map(|case| case.origin.suspect.as_deref()).collect();
    if !suspects.is_empty() {
        let suspects: Vec<&str> = suspects.into_iter().collect();
        let verb = if suspects.len() == 1 { "was slow and is" } else { "were slow and are" };
        return Some(format!("{} {verb} measured again with partners that were good", fold(&suspects)));
    }
    let grouped: BTreeSet<&str> =
        cases.iter().filter(|case| case.origin.is_group()).map(|case| case.group.as_str()).collect();
    if !grouped.is_empty() {
        let groups = cases.iter().map(|case| fold(&case.nodes));
        let tests: Vec<&str> = grouped.into_iter().collect();
        return Some(format!(
            "looking for what holds {} back: {}",
            tests.join(" and "),
            groups.collect::<Vec<_>>().join(" and ")
        ));
    }
    let searched: BTreeSet<&str> =
        cases.iter().filter_map(|case| case.origin.load_sweep.as_deref()).collect();
    if !searched.is_empty() {
        let axes: Vec<&str> = searched.into_iter().collect();
        return Some(format!("some failed: looking for the highest {} that works", axes.join(" and ")));
    }
    match again.as_slice() {
        [] => None,
        few if few.len() <= MOST_TOLD => Some(few.iter().map(words).collect::<Vec<_>>().join("; ")),
        many => Some(format!("{} cases lost their partners and are measured again with others", many.len())),
    }
}

pub fn without_agent(case: &Case, has_agent: impl Fn(&str) -> bool) -> CaseRecord {
    let is_missing =
        |node: &&String| case.places.iter().any(|place| place.node == **node) && !has_agent(node);
    let lost: Vec<String> = case.nodes.iter().filter(is_missing).cloned().collect();
    let text = match lost.as_slice() {
        [] => "no agent runs on a node of this case".to_owned(),
        lost => format!("no agent runs on {}", lost.join(", ")),
    };
    let reason = Reason::new(Cause::NeverReached, text);
    CaseRecord { lost, ..CaseRecord::without_numbers(case, &reason) }
}
