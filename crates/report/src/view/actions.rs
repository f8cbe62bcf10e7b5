//! What to act on, the worst first: one sentence each, with nodes and margin, and what to do.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashMap};

use seatrial_analysis::{CAUSES, disturbances};
use seatrial_model::record::{CaseRecord, Document};
use seatrial_model::{About, Cause, Outcome, Remedy, Severity, Verdict, VerdictRecord, WantedSide};

use super::cases::by_id;
use super::findings::{Found, OF_RUN, found, is_harmless, is_told_by_problem};
use super::nodes::{culprits, is_of_culprit, shortfall, spoken_of};
use super::remedies::{Remedies, remedy_of_cause};
use super::values::{measured, share_of_limit, value_of};
use crate::labels::named;
use crate::number::whole_percent;
use crate::repeat_command::{Repeat, judge_again, repeats};
use crate::words::{Badge, count, cut_clauses, set_of};

const LONGEST_REASON: usize = 1000;

/// Commands beside one thing to act on.
const MOST_COMMANDS: usize = 2;

/// Names of nodes that are longer together are counted.
const LONGEST_NODES: usize = 40;

/// The kind of the finding on a node that was not reached.
const NOT_REACHED: &str = "not-reached";

#[derive(Clone, Debug)]
pub struct Action<'a> {
    pub badge: Badge,
    /// The nodes that the sentence is about; none for the run as a whole.
    pub nodes: Vec<&'a str>,
    /// The criterion, the kind of finding, or the benchmark.
    pub name: &'a str,
    /// The problem, with the margin.
    pub what: String,
    /// The worst case.
    pub case: Option<&'a str>,
    /// Its cases that a repeat would tell more about, the worst first.
    pub repeats: Vec<&'a CaseRecord>,
    /// What to do, and who does it.
    pub remedy: Option<Remedy>,
}

/// `1 problem, 1 unknown, 2 warnings`: the number of `actions` of each weight.
pub fn counted(actions: &[Action<'_>]) -> String {
    let number =
        |is_it: fn(Verdict) -> bool| actions.iter().filter(|action| is_it(action.badge.tone)).count();
    let (problems, open, all) =
        (number(|tone| tone == Verdict::Fail), number(|tone| tone == Verdict::Unknown), actions.len());
    let warnings = all - problems - open;
    let told = [
        (problems, count(problems, "problem")),
        (open, format!("{open} unknown")),
        (warnings, count(warnings, "warning")),
    ];
    told.into_iter().filter(|(number, _)| *number > 0).map(|(_, text)| text).collect::<Vec<_>>().join(", ")
}

/// The commands that measure again what `actions` are about, each with its label: first for what is bad, then, with more
/// trials, for what is too close to tell.
pub fn commands(document: &Document, actions: &[&Action<'_>]) -> Vec<(&'static str, String)> {
    let is_close = |action: &&&Action<'_>| action.remedy == Some(Remedy::MORE_TRIALS);
    let is_bad = |action: &&&Action<'_>| action.badge.tone > Verdict::Warn && !is_close(action);
    let again = |actions: Vec<&&Action<'_>>, trials| {
        // In the order of the run.
        let of: BTreeSet<&str> =
            actions.iter().flat_map(|action| &action.repeats).map(|case| case.case.as_str()).collect();
        let cases: Vec<&CaseRecord> =
            document.results.iter().filter(|case| of.contains(case.case.as_str())).collect();
        repeats(&cases, &document.run, trials)
    };
    let mut commands = again(actions.iter().filter(is_bad).collect(), Repeat::Same);
    commands.extend(again(actions.iter().filter(is_close).collect(), Repeat::MoreTrials));
    commands
}

/// The first commands of one thing to act on: a case of several nodes has a command of its own.
pub fn first_commands(document: &Document, action: &Action<'_>) -> Vec<(&'static str, String)> {
    let mut commands = commands(document, &[action]);
    commands.truncate(MOST_COMMANDS);
    commands
}

/// The command that judges again what `actions` are about, if measuring again may change a verdict that is no pass.
pub fn judging(document: &Document, actions: &[Action<'_>]) -> Option<String> {
    let bad = actions.iter().filter(|action| action.badge.tone > Verdict::Warn);
    let cases: Vec<&CaseRecord> = bad.flat_map(|action| &action.repeats).copied().collect();
    if cases.is_empty() { None } else { judge_again(&cases, &document.run) }
}

/// Verdicts that are not a pass, problems among the findings, and, for a run without a profile, cases that failed.
pub fn actions<'a>(document: &'a Document, abouts: &[&'static About]) -> Vec<Action<'a>> {
    let mut all = of_verdicts(document, abouts);
    if document.verdicts.is_empty() {
        all.extend(of_cases(document).into_iter().filter(|action| !is_explained(document, action)));
    }
    // Failures come before unknowns.
    let at = all.iter().position(|action| action.badge.tone != Verdict::Fail).unwrap_or(all.len());
    let is_told = |finding: &Action<'_>| {
        finding.name == NOT_REACHED
            && all.iter().any(|action| finding.nodes.iter().all(|node| action.nodes.contains(node)))
    };
    let findings: Vec<Action<'a>> =
        of_findings(document).into_iter().filter(|finding| !is_told(finding)).collect();
    drop(all.splice(at..at, findings));
    all
}

/// Whether a finding that tells the cause is about all of the cases: it says once whose fault they are and what to do.
fn is_explained(document: &Document, action: &Action<'_>) -> bool {
    let mut causes = document.findings.iter().filter(|finding| finding.cause.is_some());
    causes.any(|finding| {
        let own: BTreeSet<&str> =
            culprits(document).into_iter().filter(|node| finding.node.as_deref() == Some(*node)).collect();
        let is_told = |case: &&CaseRecord| {
            is_of_culprit(case, &own) || finding.evidence.iter().any(|id| *id == case.case.as_str())
        };
        action.repeats.iter().all(is_told)
    })
}

/// Whether what limits flows follows, in all of its cases, from the cause that another finding tells.
fn follows(document: &Document, found: &Found<'_>) -> bool {
    let is_told = |case: &str| {
        document.findings.iter().any(|finding| {
            let rule = CAUSES.iter().find(|rule| finding.cause.as_deref() == Some(rule.id));
            rule.is_some_and(|rule| rule.explains(&found.finding.kind))
                && finding.evidence.iter().any(|id| id == case)
        })
    };
    !found.cases.is_empty() && found.cases.iter().all(|case| is_told(case))
}

/// As [`actions`], followed by the warnings, one for each kind: first those that name a node, then how quiet the machine was, then
/// what was seen in single cases, then differences between nodes that no number shows.
pub fn with_warnings<'a>(document: &'a Document, abouts: &[&'static About]) -> Vec<Action<'a>> {
    let mut all = actions(document, abouts);
    let is_other = |found: &Found<'_>| {
        found.finding.severity == Severity::Warning
            && !OF_RUN.contains(&found.finding.kind.as_str())
            && !follows(document, found)
            && !is_told_by_problem(document, found.finding)
    };
    let warnings: Vec<Found<'_>> = found(document).into_iter().filter(is_other).collect();
    let (harmless, warnings): (Vec<_>, Vec<_>) =
        warnings.into_iter().partition(|found| is_harmless(found.finding));
    let kinds = groups(warnings, |found| found.finding.kind.clone());
    let is_of_node =
        |group: &&Vec<Found<'_>>| group[0].finding.case.is_none() && group[0].finding.node.is_some();
    all.extend(kinds.iter().filter(is_of_node).map(|group| of_kind(group)));
    all.extend(disturbed(document));
    all.extend(kinds.iter().filter(|group| !is_of_node(group)).map(|group| of_kind(group)));
    all.extend((!harmless.is_empty()).then(|| of_kind(&harmless)));
    all
}

/// The first of findings of one kind, how many more there are, and on which other nodes.
fn of_kind<'a>(group: &[Found<'a>]) -> Action<'a> {
    let first = of_finding(&group[0]);
    let mut others: Vec<&str> = group[1..].iter().filter_map(|found| found.finding.node.as_deref()).collect();
    others.retain(|node| Some(*node) != group[0].finding.node.as_deref());
    others.sort_unstable();
    others.dedup();
    let more = match (group.len(), &others[..]) {
        (1, _) => String::new(),
        (number, []) => format!(" ({} more of this kind)", number - 1),
        (number, others) => {
            format!(" ({} more of this kind, on {}: --details)", number - 1, set_of(others, LONGEST_NODES))
        }
    };
    Action { what: first.what + &more, ..first }
}

/// Everything that disturbed the run, in one sentence.
fn disturbed(document: &Document) -> Option<Action<'_>> {
    let found = disturbances(&document.results)?;
    let took = |(name, (low, high)): (&String, &(f64, f64))| {
        if high - low < 1.0 {
            format!("{name} {high:.0} %")
        } else {
            format!("{name} {low:.0} to {high:.0} %")
        }
    };
    let by: Vec<String> = found.by.iter().map(took).collect();
    let by = if by.is_empty() { String::new() } else { format!(" ({} of the CPU time)", by.join(", ")) };
    let what = format!(
        "machine disturbed: {} of {} trials{by}; {} may be off",
        found.trials,
        found.of,
        match found.cases {
            1 => "1 median".to_owned(),
            cases => format!("{cases} medians"),
        }
    );
    Some(Action {
        badge: Severity::Warning.into(),
        nodes: Vec::new(),
        name: "disturbed",
        what,
        case: None,
        repeats: Vec::new(),
        remedy: Some(Remedy::ON_A_QUIET_MACHINE),
    })
}

fn of_verdicts<'a>(document: &'a Document, abouts: &[&'static About]) -> Vec<Action<'a>> {
    let remedies = Remedies::new(document, abouts);
    let is_open = |record: &&VerdictRecord| record.verdict >= Verdict::Warn;
    let mut records: Vec<&VerdictRecord> = document.verdicts.iter().filter(is_open).collect();
    records.sort_by_key(|record| (Reverse(record.verdict), shortfall(record)));
    let cases = by_id(document);
    let case_of = |record: &VerdictRecord| record.case.as_deref().and_then(|case| cases.get(case)).copied();
    let is_unreached =
        |record: &VerdictRecord| case_of(record).and_then(|case| case.cause) == Some(Cause::NeverReached);
    // Of nodes that were not reached each has a reason of its own.
    let reason = |record: &VerdictRecord| record.reason.clone().filter(|_| !is_unreached(record));
    // The same sentence about several nodes is shown once, for the worst node.
    let said = |record: &&VerdictRecord| {
        let is_waived = record.waiver.is_some();
        (record.verdict, record.criterion.clone(), reason(record), is_unreached(record), is_waived)
    };
    let by_criterion = groups(records, said);
    // Criteria of one benchmark that are missed by the same nodes for the same reason are one thing to act on.
    let cause = |group: &Vec<&'a VerdictRecord>| {
        let bench = case_of(group[0]).map(|case| case.bench.as_str());
        let nodes: BTreeSet<&Option<String>> = group.iter().map(|record| &record.node).collect();
        // Without a case, the criterion is about a setting, and has a remedy of its own.
        let own = bench.is_none().then_some(&group[0].criterion);
        let is_waived = group[0].waiver.is_some();
        (group[0].verdict, reason(group[0]), &group[0].subject, bench, own, nodes, is_waived)
    };
    let action = |alike: &Vec<Vec<&'a VerdictRecord>>| {
        let worst = alike[0][0];
        let action = match is_unreached(worst) {
            true => of_unreached(alike),
            false => of_alike(alike, &cases),
        };
        let repeats = alike.iter().flatten().copied().filter(|record| can_change(record, case_of(record)));
        Action {
            repeats: repeats.filter_map(case_of).collect(),
            remedy: remedies.of(worst, &action.nodes),
            ..action
        }
    };
    groups(by_criterion, cause).iter().map(action).collect()
}

/// Whether measuring again may change the verdict: a limit that is not known stays unknown.
fn can_change(record: &VerdictRecord, case: Option<&CaseRecord>) -> bool {
    record.verdict == Verdict::Fail
        || record.margin_percent.is_some()
        || case.is_some_and(|case| case.metrics.is_empty())
}

/// Nodes that were not reached, with all criteria that could not be judged for that.
fn of_unreached<'a>(alike: &[Vec<&'a VerdictRecord>]) -> Action<'a> {
    let action = of_group(&alike[0], None);
    let criteria = match alike {
        [only] => format!("{} could not be judged", only[0].criterion),
        several => format!("{} criteria could not be judged", several.len()),
    };
    let reason = alike[0][0].reason.as_deref().unwrap_or_default();
    // The reason of one node begins with its name.
    let reason = match action.nodes.as_slice() {
        [node] => reason.strip_prefix(&format!("{node} not reachable: ")).unwrap_or(reason),
        _ => reason,
    };
    let what = format!("not reached: {}; {criteria}", cut_clauses(reason, LONGEST_REASON));
    Action { what, ..action }
}

fn groups<T, K: Ord>(items: Vec<T>, key: impl Fn(&T) -> K) -> Vec<Vec<T>> {
    let mut groups: Vec<Vec<T>> = Vec::new();
    let mut places: BTreeMap<K, usize> = BTreeMap::new();
    for item in items {
        let at = *places.entry(key(&item)).or_insert(groups.len());
        if at == groups.len() {
            groups.push(Vec::new());
        }
        groups[at].push(item);
    }
    groups
}

/// One action about criteria of one cause, the worst first; each with its verdicts.
fn of_alike<'a>(alike: &[Vec<&'a VerdictRecord>], cases: &HashMap<&'a str, &'a CaseRecord>) -> Action<'a> {
    let worst = alike[0][0];
    let case = worst.case.as_deref().and_then(|case| cases.get(case)).copied();
    let action = of_group(&alike[0], case);
    let others: Vec<&VerdictRecord> = alike[1..].iter().map(|group| group[0]).collect();
    if others.is_empty() {
        return action;
    }
    let name = |record: &&VerdictRecord| match value_of(record).filter(|_| record.margin_percent.is_some()) {
        Some(value) => format!("{} ({value})", record.criterion),
        None => record.criterion.clone(),
    };
    let names: Vec<String> = others.iter().map(name).collect();
    let what = match alike[0][0].verdict {
        Verdict::Unknown => {
            let (last, first) = names.split_last().expect("not empty");
            let first: Vec<&str> =
                [action.name].into_iter().chain(first.iter().map(String::as_str)).collect();
            let all = format!("{} and {last}", first.join(", "));
            let reason = alike[0][0].reason.as_deref().map(|reason| cut_clauses(reason, LONGEST_REASON));
            format!("{all} could not be judged: {}", reason.unwrap_or_default())
        }
        _ => format!("{} Also {}.", action.what, names.join(", ")),
    };
    Action { what, ..action }
}

fn of_group<'a>(group: &[&'a VerdictRecord], case: Option<&CaseRecord>) -> Action<'a> {
    let worst = group[0];
    let mut nodes: Vec<&str> = group.iter().filter_map(|record| record.node.as_deref()).collect();
    nodes.dedup();
    let mut subjects: Vec<&str> = group.iter().map(|record| record.subject.as_str()).collect();
    subjects.dedup();
    let what = sentence(worst, case, group.len() > 1, subjects.len() == 1);
    Action {
        badge: worst.verdict.into(),
        nodes,
        name: &worst.criterion,
        what,
        case: worst.case.as_deref(),
        repeats: Vec::new(),
        remedy: None,
    }
}

/// The PCI address of a device that its index alone would not locate.
fn address(case: Option<&CaseRecord>) -> String {
    let address = case.and_then(|case| case.key.as_deref()?.strip_prefix("pci:"));
    address.map(|address| format!(" (PCI {address})")).unwrap_or_default()
}

/// `7 % below`, of a bound that is missed.
fn missed_by(record: &VerdictRecord) -> Option<String> {
    let percent = record.margin_percent.filter(|percent| *percent < 0.0)?;
    // Of a value between two the margin does not tell which one is missed.
    let side = match record.wanted_side()? {
        WantedSide::AtLeast => "below",
        WantedSide::AtMost => "above",
    };
    Some(format!("{} {side}", whole_percent(-percent).replace('%', " %")))
}

/// The wanted value, and the share of the limit that it is: `38 GB/s (65 % of the limit)`.
fn wanted(bound: &str) -> String {
    let bound = bound.trim_start_matches("at least ").trim_start_matches("at most ");
    match bound.strip_suffix(')').and_then(|bound| bound.rsplit_once(" (")) {
        Some((share, value)) if share.ends_with("of the limit") => format!("{value} ({share})"),
        _ => bound.to_owned(),
    }
}

fn sentence(
    record: &VerdictRecord,
    case: Option<&CaseRecord>,
    is_group: bool,
    has_one_subject: bool,
) -> String {
    let on = match record.subject.as_str() {
        "node" => String::new(),
        subject if has_one_subject => format!(" on {}{}", named(subject, ""), address(case)),
        _ => String::new(),
    };
    let name = format!("{}{on}", record.criterion);
    let of = match &record.node {
        Some(node) if is_group => format!(" at worst ({node})"),
        _ => String::new(),
    };
    let value = measured(record).map(|measured| measured + &of);
    let share = share_of_limit(record, case).map(|share| format!(", {share}")).unwrap_or_default();
    let measured = value.as_ref().map(|value| value.clone() + &share);
    let reason = record.reason.as_deref().map(|reason| cut_clauses(reason, LONGEST_REASON));
    let waiver = record.waiver.as_ref().map(|waiver| format!(" Waived: {waiver}.")).unwrap_or_default();
    let said = match (record.verdict, measured) {
        // The reason of a setting has its title and its value.
        (Verdict::Fail | Verdict::Warn, None)
            if let Some(reason) = reason.as_deref().filter(|_| case.is_none()) =>
        {
            return format!("{reason} ({name}; {} is wanted){waiver}", record.bound);
        }
        (Verdict::Fail, None) => format!("{name} is not met; {} is wanted", record.bound),
        (Verdict::Fail, Some(_)) if let (Some(value), Some(missed)) = (&value, missed_by(record)) => {
            format!("{name} is {value}, {missed} the wanted {}", wanted(&record.bound))
        }
        (Verdict::Unknown, Some(measured)) => {
            format!("{name} is {measured} and could not be judged; {} is wanted", record.bound)
        }
        (Verdict::Unknown, None) => format!("{name} could not be judged; {} is wanted", record.bound),
        (_, Some(measured)) => format!("{name} is {measured}; {} is wanted", record.bound),
        (_, None) => format!("{name} is to be {}", record.bound),
    };
    let reason = reason.map(|reason| format!("; {reason}")).unwrap_or_default();
    let stop = if (said.clone() + &reason).ends_with('.') { "" } else { "." };
    format!("{said}{reason}{stop}{waiver}")
}

/// For a run without a profile: the cases that failed.
fn of_cases(document: &Document) -> Vec<Action<'_>> {
    let is_open = |case: &&CaseRecord| matches!(case.outcome, Outcome::Failed | Outcome::Unmeasured);
    let mut cases: Vec<&CaseRecord> = document.results.iter().filter(is_open).collect();
    cases.sort_by_key(|case| case.outcome);
    // A file system that hangs does so in every case after the first.
    let said = |case: &&CaseRecord| (case.outcome, case.bench.clone(), case.reason.clone());
    let culprits = culprits(document);
    groups(cases, said).iter().map(|group| of_same_end(group, &culprits)).collect()
}

/// Cases of one benchmark that ended in the same way.
fn of_same_end<'a>(group: &[&'a CaseRecord], culprits: &BTreeSet<&str>) -> Action<'a> {
    let first = group[0];
    let nodes: BTreeSet<&str> =
        group.iter().flat_map(|case| spoken_of(case, culprits)).map(String::as_str).collect();
    let nodes: Vec<&str> = nodes.into_iter().collect();
    let which = match group {
        [only] => only.case.to_string(),
        several => format!("{} of {}", count(several.len(), "case"), first.bench),
    };
    let what = match first.outcome {
        Outcome::Failed => "did not deliver",
        _ => "could not be measured",
    };
    let reason =
        first.reason.as_deref().map(|reason| cut_clauses(reason, LONGEST_REASON)).unwrap_or_default();
    Action {
        badge: first.outcome.into(),
        nodes: nodes.clone(),
        name: &first.bench,
        what: format!("{which} {what}: {reason}"),
        case: Some(first.case.as_str()),
        repeats: group.to_vec(),
        remedy: remedy_of_cause(first.cause, &nodes),
    }
}

/// The problems among the findings; those of one kind about the same cases, such as one for each metric, are one.
fn of_findings(document: &Document) -> Vec<Action<'_>> {
    let is_problem = |found: &Found<'_>| found.finding.severity == Severity::Problem;
    let problems: Vec<Found<'_>> = found(document).into_iter().filter(is_problem).collect();
    let cause = |found: &Found<'_>| {
        let own = found.cases.is_empty().then(|| found.finding.text.clone());
        (found.finding.kind.clone(), found.finding.node.clone(), found.cases.join("\n"), own)
    };
    groups(problems, cause).iter().map(|group| of_kind(group)).collect()
}

fn of_finding<'a>(found: &Found<'a>) -> Action<'a> {
    Action {
        badge: found.badge(),
        nodes: found.finding.node.as_deref().into_iter().collect(),
        name: &found.finding.kind,
        what: format!("{}: {}", found.finding.kind, cut_clauses(&found.finding.text, LONGEST_REASON)),
        case: found.cases.first().copied(),
        repeats: Vec::new(),
        remedy: found.finding.remedy.clone(),
    }
}
