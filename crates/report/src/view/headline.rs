//! The result of a run in one line, with duration and nodes.

use std::collections::BTreeSet;

use seatrial_model::record::{Document, RunEnd, RunInfo};
use seatrial_model::{Finding, Outcome, Severity, Verdict};

use super::findings::{self, Found};
use crate::words::{count, span};

/// Characters of the first line after the verdict: they fit a terminal of 80 columns.
const MOST_CHARACTERS: usize = 68;

/// The result in one line: what was judged or measured, and the number of problems.
pub fn said(document: &Document) -> String {
    let text = if document.verdict.is_some() { judged(document) } else { measured(document) };
    let found = findings::found(document);
    let problems: Vec<&Found<'_>> =
        found.iter().filter(|found| found.finding.severity == Severity::Problem).collect();
    let name = |finding: &Finding| match &finding.node {
        Some(node) => format!("{node} {}", finding.kind),
        None => finding.kind.clone(),
    };
    let Some(first) = problems.first().map(|found| found.finding) else { return text };
    let short = format!("{text}; {}", count(problems.len(), "problem"));
    let names = if problems.len() == 1 { name(first) } else { format!("{} and others", name(first)) };
    let long = format!("{short}: {names}");
    if long.chars().count() > MOST_CHARACTERS { short } else { long }
}

/// Number of criteria by verdict, the heaviest first.
fn judged(document: &Document) -> String {
    let number = |verdict| document.verdicts.iter().filter(|record| record.verdict == verdict).count();
    let all = document.verdicts.len();
    let several = several_places(document);
    if number(Verdict::Pass) == all {
        return match several {
            Some(places) => format!("{places}: all {all} met"),
            None => format!("{} met", count_of_criteria(all)),
        };
    }
    if number(Verdict::Skip) == all {
        return format!("{}, not judged: {} skipped", measured(document), count_of_criteria(all));
    }
    let phrases = [
        (Verdict::Fail, "not met"),
        (Verdict::Unknown, "could not be judged"),
        (Verdict::Warn, "met with a warning"),
        (Verdict::Pass, "met"),
        (Verdict::Skip, "skipped"),
    ];
    let phrases = phrases.map(|(verdict, phrase)| (number(verdict), phrase));
    match several {
        Some(places) => {
            // Of so many only what is not met, unless all are met or skipped.
            let is_open = phrases.iter().take(3).any(|(number, _)| *number > 0);
            let left =
                phrases.map(|(number, phrase)| (if is_open && phrase == "met" { 0 } else { number }, phrase));
            format!("{places}: {}", counted(all, "", left))
        }
        None => counted(all, "criteria", phrases),
    }
}

/// `3 criteria x 64 nodes`, where criteria were judged in several places.
fn several_places(document: &Document) -> Option<String> {
    let records = &document.verdicts;
    let criteria: BTreeSet<(&str, &str)> =
        records.iter().map(|record| (record.criterion.as_str(), record.bound.as_str())).collect();
    let (all, criteria) = (records.len(), criteria.len());
    if all == criteria {
        return None;
    }
    let nodes: BTreeSet<&Option<String>> = records.iter().map(|record| &record.node).collect();
    let parts: BTreeSet<_> = records.iter().map(|record| (&record.node, &record.subject)).collect();
    let places = match () {
        () if nodes.len() > 1 && criteria * nodes.len() == all => {
            format!(" x {}", count(nodes.len(), "node"))
        }
        () if criteria * parts.len() == all => format!(" x {}", count(parts.len(), "part")),
        () => format!(", {all} verdicts"),
    };
    Some(format!(
        "{}{places}",
        if criteria == 1 { "1 criterion".to_owned() } else { format!("{criteria} criteria") }
    ))
}

fn count_of_criteria(all: usize) -> String {
    if all == 1 { "the one criterion".to_owned() } else { format!("all {all} criteria") }
}

fn measured(document: &Document) -> String {
    let number = |outcome| document.results.iter().filter(|record| record.outcome == outcome).count();
    let all = document.results.len();
    if all == 0 {
        return "nothing was measured".to_owned();
    }
    if number(Outcome::Measured) == all {
        return format!("{} measured", count(all, "case"));
    }
    let outcomes = [
        (Outcome::Measured, "measured"),
        (Outcome::Failed, "failed"),
        (Outcome::Unmeasured, "could not be measured"),
        (Outcome::Skipped, "skipped"),
    ];
    counted(
        all,
        if all == 1 { "case" } else { "cases" },
        outcomes.map(|(outcome, phrase)| (number(outcome), phrase)),
    )
}

/// `2 of 9 criteria not met, 1 could not be judged`: the first number has the total.
pub fn counted<const N: usize>(all: usize, of: &str, told: [(usize, &str); N]) -> String {
    let mut told = told.into_iter().filter(|(number, _)| *number > 0);
    let first = told.next().map(|(number, phrase)| {
        [&format!("{number} of {all}"), of, phrase]
            .into_iter()
            .filter(|word| !word.is_empty())
            .collect::<Vec<_>>()
            .join(" ")
    });
    let rest = told.map(|(number, phrase)| format!("{number} {phrase}"));
    first.into_iter().chain(rest).collect::<Vec<_>>().join(", ")
}

pub fn took(run: &RunInfo) -> Result<String, String> {
    match &run.ended {
        None => Err("did not end".to_owned()),
        Some(RunEnd { signal: Some(signal), .. }) => Err(format!("stopped by {signal}")),
        Some(_) => run.took().map(span).ok_or_else(|| "the clock was set back meanwhile".to_owned()),
    }
}

/// Names of nodes; more than `most` are counted.
pub fn nodes<T: AsRef<str>>(names: &[T], most: usize) -> String {
    if names.len() > most {
        return count(names.len(), "node");
    }
    names.iter().map(AsRef::as_ref).collect::<Vec<_>>().join(", ")
}
