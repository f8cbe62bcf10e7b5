//! The result of a run in one line, the nodes that may be used, duration and nodes.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use seatrial_analysis::{CAUSES, cause_word, loss};
use seatrial_model::profile::fold;
use seatrial_model::record::{Document, RunEnd, RunInfo};
use seatrial_model::{Finding, Outcome, Severity, Subject, Verdict, VerdictRecord};

use super::cases::by_id;
use super::criteria::{Criterion, Places, criteria};
use super::findings::{self, Found};
use super::nodes::{culprits, is_fleet, is_of_culprit, summaries, unjudged, with_verdict};
use crate::labels::named;
use crate::words::{count, counted, set_of, span};

/// Characters of the first line after the verdict: they fit a terminal of 80 columns.
const MOST_CHARACTERS: usize = 68;

/// Characters of the nodes that are held back for one reason.
const LONGEST_SET: usize = 28;

/// The result in one line: who is at fault and why, whether the machine is accepted, what was measured.
pub fn said(document: &Document) -> String {
    let text = match document.verdict {
        Some(verdict) => judged(document, verdict),
        None => measured(document),
    };
    if document.verdict == Some(Verdict::Fail) {
        return text;
    }
    let found = findings::found(document);
    let Some(first) = at_fault(document, &found) else {
        let without = document.verdict.is_none().then(|| without_numbers(document)).flatten();
        let whole = match without {
            Some(who) => format!("{who}; {text}"),
            None => text,
        };
        let unlike = unlike(document).map(|unlike| format!("{whole}; {unlike}"));
        let is_short = |unlike: &String| document.verdict.is_none() || fits(unlike);
        return unlike.filter(is_short).unwrap_or(whole);
    };
    let why = why(document, first);
    let problems = found.iter().filter(|found| found.finding.severity == Severity::Problem).count();
    let more = if problems > 1 { format!("; {}", count(problems, "problem")) } else { String::new() };
    let whole = match document.verdict {
        Some(_) => format!("{text}{more}; {why}"),
        None => format!("{why}; {text}{more}"),
    };
    match document.verdict {
        Some(_) if !fits(&whole) => {
            format!("{text}; {}", count(problems.max(1), if problems > 0 { "problem" } else { "warning" }))
        }
        _ => whole,
    }
}

/// The finding that says who is at fault or why, the worst first; of several alike one about the run, then one with a cause.
fn at_fault<'a>(document: &Document, found: &[Found<'a>]) -> Option<&'a Finding> {
    let is_it = |finding: &&Finding| match finding.severity {
        Severity::Problem => true,
        Severity::Warning if findings::OF_RUN.contains(&finding.kind.as_str()) => false,
        Severity::Warning if findings::is_harmless(finding) => false,
        Severity::Warning => finding.cause.is_some() || (is_fleet(document) && finding.node.is_some()),
        Severity::Info => false,
    };
    let rank =
        |finding: &&Finding| (Reverse(finding.severity), finding.case.is_some(), finding.cause.is_none());
    found.iter().map(|found| found.finding).filter(is_it).min_by_key(rank)
}

fn fits(text: &str) -> bool {
    text.chars().count() <= MOST_CHARACTERS
}

/// `n[2,4] differ from their peers, without a measurable loss`.
fn unlike(document: &Document) -> Option<String> {
    let unlike = document.findings.iter().filter(|finding| findings::is_harmless(finding));
    let nodes: BTreeSet<&str> = unlike.filter_map(|finding| finding.node.as_deref()).collect();
    let nodes: Vec<&str> = nodes.into_iter().collect();
    let differ = if nodes.len() == 1 { "differs from its" } else { "differ from their" };
    (!nodes.is_empty())
        .then(|| format!("{} {differ} peers, without a measurable loss", set_of(&nodes, LONGEST_SET)))
}

/// `n3 could not be measured (denied)`: the nodes whose own cases have no numbers, unless they are more than those that have some.
fn without_numbers(document: &Document) -> Option<String> {
    let alone = document.results.iter().filter_map(|case| Some((case.nodes.first()?, case)));
    let alone = alone.filter(|(_, case)| case.nodes.len() == 1 && case.outcome != Outcome::Skipped);
    let (measured, without): (Vec<_>, Vec<_>) =
        alone.partition(|(_, case)| case.outcome == Outcome::Measured);
    let measured: BTreeSet<&String> = measured.into_iter().map(|(node, _)| node).collect();
    let (_, worst) = without.iter().max_by_key(|(_, case)| case.outcome == Outcome::Failed)?;
    let own = without.iter().filter(|(_, case)| case.outcome == worst.outcome);
    let nodes: BTreeSet<&str> = own.map(|(node, _)| node.as_str()).collect();
    let others = measured.iter().filter(|node| !nodes.contains(node.as_str())).count();
    if !is_fleet(document) || nodes.len() > others {
        return None;
    }
    let nodes = set_of(&nodes.into_iter().collect::<Vec<_>>(), LONGEST_SET);
    let what = if worst.outcome == Outcome::Failed { "failed" } else { "could not be measured" };
    let why = worst.cause.map(|cause| format!(" ({})", cause_word(cause)));
    Some(format!("{nodes} {what}{}", why.unwrap_or_default()))
}

/// `n3 has 12 % of its peers' throughput: small send buffer`, `n3: packet loss`, `n2: read-only file system (/scratch)`: the node, else what it is about, how much it loses,
/// and the cause, else the kind.
fn why(document: &Document, finding: &Finding) -> String {
    let rule = CAUSES.iter().find(|rule| finding.cause.as_deref() == Some(rule.id) && !rule.seen.is_empty());
    let why = match (rule, finding.kind.as_str()) {
        (Some(rule), _) => rule.title.to_owned(),
        (None, "culprit") => "at fault".to_owned(),
        (None, "uniformity") => "not like its peers".to_owned(),
        (None, kind) => kind.replace('-', " "),
    };
    match &finding.node {
        Some(node)
            if is_fleet(document)
                && let Some(loss) = loss(finding) =>
        {
            let why = rule.map_or(String::new(), |rule| format!(": {}", rule.title));
            format!("{node} has {loss}{why}")
        }
        Some(node) if is_fleet(document) => match named(finding.subject.as_str(), "") {
            part if part.is_empty() => format!("{node}: {why}"),
            part => format!("{node}: {why} ({part})"),
        },
        None if finding.subject != Subject::node() => format!("{}: {why}", finding.subject),
        _ => why,
    }
}

/// The decision, and what it rests on: the nodes that are held back, else the criteria by verdict.
fn judged(document: &Document, verdict: Verdict) -> String {
    let decision = match verdict {
        Verdict::Pass | Verdict::Warn => "accepted",
        Verdict::Fail => "not accepted",
        Verdict::Unknown | Verdict::Skip => "not decided",
    };
    if verdict < Verdict::Unknown {
        return format!("{decision}: {}", by_verdict(document));
    }
    match (held_back(document, verdict), parts_short(document)) {
        (Some(nodes), _) => format!("{decision}: {nodes}"),
        (None, Some(parts)) => {
            // What is unknown is said already, if nothing else is wrong.
            let criteria = match verdict {
                Verdict::Fail => open_criteria(document),
                _ => by_verdict(document).replace(" could not be judged", ""),
            };
            format!("{decision}: {parts} ({criteria})")
        }
        (None, None) => format!("{decision}: {}", by_verdict(document)),
    }
}

/// The criteria that are not met, each once.
fn missed(document: &Document) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for record in document.verdicts.iter().filter(|record| record.verdict == Verdict::Fail) {
        if !names.contains(&record.criterion) {
            names.push(record.criterion.clone());
        }
    }
    names
}

/// Of one machine, `memory and GPU 1 fail, eth0 could not be judged`; `None` for a fleet.
fn parts_short(document: &Document) -> Option<String> {
    if is_fleet(document) {
        return None;
    }
    let failing = parts(document, Verdict::Fail);
    let unknown =
        parts(document, Verdict::Unknown).into_iter().filter(|name| !failing.contains(name)).collect();
    let groups = [(failing, "fails", "fail"), (unknown, "could not be judged", "could not be judged")];
    let told = groups.iter().filter(|(names, ..)| !names.is_empty()).map(|(names, one, many)| {
        let is_one = names.len() == 1 && names[0] != "settings";
        format!("{} {}", some_of(names), if is_one { one } else { many })
    });
    Some(told.collect::<Vec<_>>().join(", ")).filter(|text| !text.is_empty())
}

/// The parts with a criterion of this verdict, in the order of the criteria.
fn parts(document: &Document, verdict: Verdict) -> Vec<String> {
    let cases = by_id(document);
    let part = |record: &VerdictRecord| match record.case.as_deref().and_then(|case| cases.get(case)) {
        Some(case) => named(record.subject.as_str(), &case.bench),
        None => "settings".to_owned(),
    };
    let mut names: Vec<String> = Vec::new();
    for name in document.verdicts.iter().filter(|record| record.verdict == verdict).map(part) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

/// `memory`, `memory and eth0`, `memory, eth0 and 3 others`.
fn some_of(names: &[String]) -> String {
    match names {
        [one] => one.clone(),
        [one, other] => format!("{one} and {other}"),
        [one, other, third] => format!("{one}, {other} and {third}"),
        [one, other, rest @ ..] => format!("{one}, {other} and {} others", rest.len()),
        [] => String::new(),
    }
}

/// `n[13,41] fail (memory), n57 was not reached`; `None` for one machine, and where no node is the reason of `verdict`.
fn held_back(document: &Document, verdict: Verdict) -> Option<String> {
    let failed = with_verdict(document, Verdict::Fail);
    if !is_fleet(document) || (verdict == Verdict::Fail && failed.is_empty()) {
        return None;
    }
    let summaries = summaries(document);
    let of_unreached = summaries.iter().filter(|summary| summary.is_unreached());
    let gone: BTreeSet<&str> = of_unreached.map(|summary| summary.node).collect();
    let (unreached, unknown): (Vec<&str>, Vec<&str>) =
        with_verdict(document, Verdict::Unknown).into_iter().partition(|node| gone.contains(node));
    let failing = match parts(document, Verdict::Fail) {
        names if names.is_empty() => String::new(),
        names => format!(" ({})", some_of(&names)),
    };
    let groups = [
        (failed, "fails", "fail", failing.as_str()),
        (unreached, "was not reached", "were not reached", ""),
        (unknown, "could not be judged", "could not be judged", ""),
    ];
    let told = groups.iter().filter(|(nodes, ..)| !nodes.is_empty()).map(|(nodes, one, many, what)| {
        format!("{} {}{what}", set_of(nodes, LONGEST_SET), if nodes.len() == 1 { one } else { many })
    });
    Some(told.collect::<Vec<_>>().join(", ")).filter(|text| !text.is_empty())
}

/// `61 of 64 nodes may be used: n[01-12,14-40]`, with the names folded into at most `longest` characters; `None` without
/// verdicts and for one machine. Nodes that nothing was demanded of, such as partners, are told apart.
pub fn usable(document: &Document, longest: usize) -> Option<String> {
    if !is_fleet(document) || document.verdict.is_none() {
        return None;
    }
    let (passed, unjudged) = (with_verdict(document, Verdict::Pass), unjudged(document));
    let all = document.run.nodes.len() - unjudged.len();
    let names = fold(&passed);
    let usable = match passed.len() {
        _ if all == 0 => "nothing was demanded of any node".to_owned(),
        0 => format!("none of {all} nodes may be used"),
        number if number == all && unjudged.is_empty() => format!("all {all} nodes may be used"),
        number if names.chars().count() <= longest => format!("{number} of {all} nodes may be used: {names}"),
        number => {
            format!("{number} of {all} nodes may be used: seatrial report {} --nodes pass", document.run.id)
        }
    };
    let partners = (!unjudged.is_empty() && all > 0)
        .then(|| format!("; nothing was demanded of {}", set_of(&unjudged, LONGEST_SET)));
    Some(usable + &partners.unwrap_or_default())
}

/// The criteria about parts that exist.
pub fn listed<'a>(document: &'a Document, places: &Places<'_>) -> Vec<Criterion<'a>> {
    criteria(document, places, |record| places.is_here(record))
}

/// Number of criteria by the verdict of their worst place, the heaviest first: `12 criteria met`, `2 of 9 criteria not met,
/// 1 could not be judged`.
pub fn by_verdict(document: &Document) -> String {
    let (all, told) = numbers(document);
    let [.., (met, _), (skipped, _)] = told;
    match all {
        _ if met == all && all > 0 => format!("{} met", count_of_criteria(all)),
        _ if skipped == all => format!("{}, {} skipped", measured(document), count_of_criteria(all)),
        _ => counted(all, noun(all), told),
    }
}

/// `1 of 3 criteria not met: memory-triad; 1 could not be judged`: one or two are named.
fn open_criteria(document: &Document) -> String {
    let (all, [failed, (unknown, phrase), ..]) = numbers(document);
    let names = match missed(document).as_slice() {
        names @ ([_] | [_, _]) => format!(": {}", some_of(names)),
        _ => String::new(),
    };
    let unknown = if unknown > 0 { format!("; {unknown} {phrase}") } else { String::new() };
    counted(all, noun(all), [failed]) + &names + &unknown
}

/// All criteria, and how many of each verdict, the heaviest first.
fn numbers(document: &Document) -> (usize, [(usize, &'static str); 5]) {
    let criteria = listed(document, &Places::of(document));
    let number = |verdict| criteria.iter().filter(|criterion| criterion.worst.verdict == verdict).count();
    let phrases = [
        (Verdict::Fail, "not met"),
        (Verdict::Unknown, "could not be judged"),
        (Verdict::Warn, "with a warning"),
        (Verdict::Pass, "met"),
        (Verdict::Skip, "skipped"),
    ];
    (criteria.len(), phrases.map(|(verdict, phrase)| (number(verdict), phrase)))
}

fn noun(all: usize) -> &'static str {
    if all == 1 { "criterion" } else { "criteria" }
}

fn count_of_criteria(all: usize) -> String {
    match all {
        0 => "every criterion".to_owned(),
        1 => "the one criterion".to_owned(),
        _ => format!("all {all} criteria"),
    }
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
    let told = counted(
        all,
        if all == 1 { "case" } else { "cases" },
        outcomes.map(|(outcome, phrase)| (number(outcome), phrase)),
    );
    told + &culprit_of_all(document).map_or(String::new(), |node| format!(", all with {node}"))
}

/// The node at fault for every case that was not measured, where they are several.
fn culprit_of_all(document: &Document) -> Option<&str> {
    let culprits = culprits(document);
    let node = culprits.first().copied().filter(|_| culprits.len() == 1)?;
    let open: Vec<_> = document.results.iter().filter(|case| case.outcome != Outcome::Measured).collect();
    (open.len() > 1 && open.iter().all(|case| is_of_culprit(case, &culprits))).then_some(node)
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
