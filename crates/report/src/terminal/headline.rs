//! The first two lines: how it came out, and of what.

use std::fmt::Write;

use seatrial_model::record::{Document, RunEnd};
use seatrial_model::{Finding, Outcome, Severity, Verdict};

use crate::ink::Ink;
use crate::words::{clean, count, ink, sign, span, time};

/// Characters of the first line behind the verdict: a terminal of 80 columns shows it whole.
const MOST_CHARACTERS: usize = 68;

/// Nodes named one by one; more are counted.
const MOST_NAMES: usize = 4;

pub fn block(document: &Document) -> String {
    let mut text = match document.verdict {
        Some(verdict) => {
            let word = format!("{} {}", sign(verdict), verdict.word().to_uppercase());
            format!("{}  {}\n", ink(verdict).on(&word), said(document))
        }
        None => format!("{}\n", Ink::Strong.on(&said(document))),
    };
    let _ = writeln!(text, "{}", Ink::Faint.on(&circumstances(document)));
    text
}

/// How it came out, in a line: what was judged or measured, and the problems that were found.
pub(crate) fn said(document: &Document) -> String {
    let text = if document.verdict.is_some() { judged(document) } else { measured(document) };
    let found = super::grouped(document);
    let problems: Vec<_> =
        found.iter().filter(|(finding, _)| finding.severity == Severity::Problem).collect();
    let name = |finding: &Finding| match &finding.node {
        Some(node) => clean(&format!("{node} {}", finding.kind)),
        None => clean(&finding.kind),
    };
    let Some((first, _)) = problems.first() else { return text };
    let short = format!("{text}; {}", count(problems.len(), "problem"));
    let names = if problems.len() == 1 { name(first) } else { format!("{} and others", name(first)) };
    let long = format!("{short}: {names}");
    if long.chars().count() > MOST_CHARACTERS { short } else { long }
}

/// How many criteria came out how, the heaviest first.
fn judged(document: &Document) -> String {
    let number = |verdict| document.verdicts.iter().filter(|record| record.verdict == verdict).count();
    let all = document.verdicts.len();
    if number(Verdict::Pass) == all {
        return format!("{} met", count_of_criteria(all));
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
    counted(all, "criteria", phrases.map(|(verdict, phrase)| (number(verdict), phrase)))
}

fn count_of_criteria(all: usize) -> String {
    if all == 1 { "the one criterion".to_owned() } else { format!("all {all} criteria") }
}

/// How many cases came out how.
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

/// `2 of 9 criteria not met, 1 could not be judged`: the first number says of what.
fn counted<const N: usize>(all: usize, of: &str, told: [(usize, &str); N]) -> String {
    let mut told = told.into_iter().filter(|(number, _)| *number > 0);
    let first = told.next().map(|(number, phrase)| format!("{number} of {all} {of} {phrase}"));
    let rest = told.map(|(number, phrase)| format!("{number} {phrase}"));
    first.into_iter().chain(rest).collect::<Vec<_>>().join(", ")
}

fn circumstances(document: &Document) -> String {
    let run = &document.run;
    let mut parts = Vec::new();
    if let Some(profile) = &run.profile {
        parts.push(format!("profile {}", clean(&profile.id)));
    }
    match run.nodes.len() {
        0 => {}
        some if some <= MOST_NAMES => parts.push(format!("on {}", clean(&run.nodes.join(", ")))),
        many => parts.push(format!("on {many} nodes")),
    }
    parts.push(time(run.started));
    parts.push(match &run.ended {
        None => "did not end".to_owned(),
        Some(RunEnd { signal: Some(signal), .. }) => format!("stopped by {}", clean(signal)),
        Some(_) => match run.took() {
            Some(time) => format!("took {}", span(time)),
            None => "the clock was set back meanwhile".to_owned(),
        },
    });
    parts.join(" · ")
}
