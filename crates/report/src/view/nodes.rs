//! The results of the nodes of a run: one row per node, the worst first.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashMap};

use seatrial_analysis::Assignment;
use seatrial_model::profile::fold;
use seatrial_model::record::{CaseRecord, Document};
use seatrial_model::{Cause, Finding, Outcome, Severity, Subject, Verdict, VerdictRecord};

use super::cases::by_id;
use super::findings::OF_RUN;
use super::table::{Builder, Cell, Column, Table};
use super::values::value_of;
use crate::labels::named;
use crate::number::signed_percent;
use crate::words::{Badge, count, tone};

/// The column of the distances from the bounds.
pub const MARGIN: &str = "vs wanted";

pub fn is_fleet(document: &Document) -> bool {
    document.run.nodes.len() > 1
}

pub struct NodeSummary<'a> {
    pub node: &'a str,
    /// The verdict over all; `None` when nothing was measured or judged there.
    pub verdict: Option<Verdict>,
    /// Number of passed verdicts or measured cases, and of all, also of those that failed with a node at fault.
    met: usize,
    all: usize,
    worst: Option<Worst<'a>>,
    /// Number of results that the node has none of, as nothing reached it.
    unreached: usize,
    /// Kinds of findings about the node, without those of severity info and those about the run.
    found: Vec<&'a str>,
    /// The nodes at fault for the cases with it that have no result.
    failed_with: BTreeSet<&'a str>,
    pub has_problem: bool,
}

/// The nodes of `document` with `verdict`, in the order of the run. A warning is a pass; a node without any verdict is
/// unknown; a problem is a fail.
pub fn with_verdict(document: &Document, verdict: Verdict) -> Vec<&str> {
    let is_it = |summary: &&NodeSummary<'_>| summary.lasting() == verdict;
    let summaries = summaries(document);
    let them: BTreeSet<&str> = summaries.iter().filter(is_it).map(|summary| summary.node).collect();
    document.run.nodes.iter().map(String::as_str).filter(|node| them.contains(node)).collect()
}

/// The nodes that no verdict and no problem is about, in the order of the run.
pub fn unjudged(document: &Document) -> Vec<&str> {
    let summaries = summaries(document);
    let is_it = |summary: &&NodeSummary<'_>| summary.is_unjudged();
    let them: BTreeSet<&str> = summaries.iter().filter(is_it).map(|summary| summary.node).collect();
    document.run.nodes.iter().map(String::as_str).filter(|node| them.contains(node)).collect()
}

#[derive(Clone, Copy)]
enum Worst<'a> {
    Judged(&'a VerdictRecord),
    Case(&'a CaseRecord),
}

/// The nodes of `document`, the worst first.
pub fn summaries(document: &Document) -> Vec<NodeSummary<'_>> {
    let mut order: Vec<&str> = document.run.nodes.iter().map(String::as_str).collect();
    let mut places: HashMap<&str, usize> = order.iter().enumerate().map(|(at, node)| (*node, at)).collect();
    for node in document.results.iter().flat_map(|case| &case.nodes) {
        places.entry(node).or_insert_with(|| {
            order.push(node);
            order.len() - 1
        });
    }
    let mut all: Vec<NodeSummary<'_>> = order.iter().map(|node| NodeSummary::new(node)).collect();
    let culprits = culprits(document);
    let mut add = |node: &str, verdict: Verdict, what, case: Option<&CaseRecord>| {
        if let Some(summary) = places.get(node).and_then(|at| all.get_mut(*at)) {
            summary.take(verdict, what);
            summary.unreached += usize::from(case.and_then(|case| case.cause) == Some(Cause::NeverReached));
        }
    };
    if document.verdicts.is_empty() {
        for case in &document.results {
            for node in spoken_of(case, &culprits) {
                add(node, tone(case.outcome), Worst::Case(case), Some(case));
            }
        }
    } else {
        let cases = by_id(document);
        for record in &document.verdicts {
            let what = Worst::Judged(record);
            match (&record.node, record.case.as_deref().and_then(|case| cases.get(case))) {
                (Some(node), case) => add(node, record.verdict, what, case.copied()),
                (None, Some(case)) => {
                    spoken_of(case, &culprits).for_each(|node| add(node, record.verdict, what, Some(case)));
                }
                // About the whole run.
                (None, None) => {}
            }
        }
    }
    for case in document.results.iter().filter(|case| is_of_culprit(case, &culprits)) {
        let is_about = |record: &&VerdictRecord| {
            record.node.is_none() && record.case.as_deref() == Some(case.case.as_str())
        };
        let results = match document.verdicts.as_slice() {
            [] => 1,
            verdicts => verdicts.iter().filter(is_about).count(),
        };
        for node in case.nodes.iter().filter(|node| !culprits.contains(node.as_str())) {
            if let Some(summary) = places.get(node.as_str()).and_then(|at| all.get_mut(*at)) {
                let its = case.nodes.iter().map(String::as_str).filter(|node| culprits.contains(node));
                summary.failed_with.extend(its);
                summary.all += results;
            }
        }
    }
    let is_shown =
        |finding: &&Finding| finding.severity > Severity::Info && !OF_RUN.contains(&finding.kind.as_str());
    for finding in document.findings.iter().filter(is_shown) {
        let summary =
            finding.node.as_deref().and_then(|node| places.get(node)).and_then(|at| all.get_mut(*at));
        if let Some(summary) = summary {
            summary.has_problem |= finding.severity == Severity::Problem;
            if !summary.found.contains(&finding.kind.as_str()) {
                summary.found.push(&finding.kind);
            }
        }
    }
    // Stable: equal nodes stay in the order of the run.
    let bad = |summary: &NodeSummary<'_>| summary.verdict.max(summary.has_problem.then_some(Verdict::Fail));
    all.sort_by_key(|summary| (Reverse(bad(summary)), Reverse(summary.verdict), summary.margin()));
    all
}

/// The kind of the finding on a node that cases without a result point to.
const CULPRIT: &str = "culprit";

/// The nodes that cases without a result point to.
pub(super) fn culprits(document: &Document) -> BTreeSet<&str> {
    let named = document.findings.iter().filter(|finding| finding.kind == CULPRIT);
    named.filter_map(|finding| finding.node.as_deref()).collect()
}

/// Whether a case of several nodes has no result because of one that is at fault.
pub(super) fn is_of_culprit(case: &CaseRecord, culprits: &BTreeSet<&str>) -> bool {
    let has_result = matches!(case.outcome, Outcome::Measured | Outcome::Skipped);
    !has_result && case.nodes.len() > 1 && case.nodes.iter().any(|node| culprits.contains(node.as_str()))
}

/// The nodes that a case is about: the lost ones, those at fault, or all. When a job ends every node is lost, whichever was
/// first to go in this case.
pub(super) fn spoken_of<'c>(
    case: &'c CaseRecord,
    culprits: &BTreeSet<&str>,
) -> impl Iterator<Item = &'c String> {
    let is_about_all = case.lost.is_empty() || case.cause == Some(Cause::Interrupted);
    let is_of_culprit = is_of_culprit(case, culprits);
    case.nodes.iter().filter(move |node| match is_about_all {
        true => !is_of_culprit || culprits.contains(node.as_str()),
        false => case.lost.contains(node),
    })
}

impl<'a> NodeSummary<'a> {
    fn new(node: &'a str) -> Self {
        Self {
            node,
            verdict: None,
            met: 0,
            all: 0,
            worst: None,
            unreached: 0,
            found: Vec::new(),
            failed_with: BTreeSet::new(),
            has_problem: false,
        }
    }

    /// Whether all its results are missing because nothing reached it.
    pub fn is_unreached(&self) -> bool {
        self.all > 0 && self.unreached == self.all
    }

    /// Whether no verdict and no problem is about it.
    pub fn is_unjudged(&self) -> bool {
        self.verdict.is_none() && !self.has_problem
    }

    /// Whether it has all its numbers, and a finding is about it that is no problem.
    fn has_warning(&self) -> bool {
        !self.has_problem
            && self.verdict <= Some(Verdict::Warn)
            && self.verdict.is_some()
            && !self.found.is_empty()
    }

    fn met(&self) -> String {
        if self.is_unreached() { "not reached".to_owned() } else { format!("{} of {}", self.met, self.all) }
    }

    /// Kinds of findings, and with whom a sound node failed.
    fn found(&self) -> String {
        let with: Vec<&str> = self.failed_with.iter().copied().collect();
        let with = (!with.is_empty()).then(|| format!("failed only with {}", fold(&with)));
        self.found.iter().map(|kind| (*kind).to_owned()).chain(with).collect::<Vec<_>>().join(", ")
    }

    fn take(&mut self, verdict: Verdict, what: Worst<'a>) {
        self.all += usize::from(verdict != Verdict::Skip);
        self.met += usize::from(matches!(verdict, Verdict::Pass | Verdict::Warn));
        let heavier = self.verdict < Some(verdict);
        if heavier || (self.verdict == Some(verdict) && margin(what) < self.margin()) {
            self.worst = Some(what);
        }
        self.verdict = self.verdict.max(Some(verdict));
    }

    /// What to do with the node: nothing after a pass, repair after a fail, measure again while it is unknown.
    fn lasting(&self) -> Verdict {
        match self.verdict {
            _ if self.has_problem => Verdict::Fail,
            Some(Verdict::Pass | Verdict::Warn) => Verdict::Pass,
            Some(Verdict::Fail) => Verdict::Fail,
            None | Some(Verdict::Skip | Verdict::Unknown) => Verdict::Unknown,
        }
    }

    fn margin(&self) -> i64 {
        self.worst.map_or(0, margin)
    }

    /// The worst result, unless it is good.
    fn worst(&self) -> Option<Worst<'a>> {
        self.worst.filter(|worst| match worst {
            Worst::Judged(record) => record.verdict != Verdict::Pass,
            Worst::Case(case) => case.outcome != Outcome::Measured,
        })
    }

    fn judged(&self) -> Option<&'a VerdictRecord> {
        match self.worst()? {
            Worst::Judged(record) => Some(record),
            Worst::Case(_) => None,
        }
    }

    /// The verdict; for a run that is not judged, the outcome of its cases, or a problem although they have numbers.
    fn badge(&self, is_judged: bool) -> Badge {
        match self.verdict {
            Some(verdict) if is_judged => verdict.into(),
            None if is_judged && !self.has_problem => Badge::NOT_JUDGED,
            None | Some(Verdict::Pass | Verdict::Skip) if !is_judged && self.has_problem => {
                Severity::Problem.into()
            }
            _ if !is_judged && self.has_warning() => Severity::Warning.into(),
            verdict => of_cases(verdict),
        }
    }
}

fn of_cases(verdict: Option<Verdict>) -> Badge {
    match verdict {
        None => Badge { word: "nothing", ..Verdict::Unknown.into() },
        Some(Verdict::Fail) => Outcome::Failed.into(),
        Some(Verdict::Unknown) => Outcome::Unmeasured.into(),
        Some(Verdict::Skip) => Outcome::Skipped.into(),
        // Numbers that nothing judges are no pass.
        Some(Verdict::Pass | Verdict::Warn) => Badge { word: "no problem", ..Verdict::Skip.into() },
    }
}

/// Margin in thousandths of a percent on the good side of the bound; integers order totally.
fn margin(what: Worst<'_>) -> i64 {
    match what {
        Worst::Judged(record) => shortfall(record),
        Worst::Case(_) => 0,
    }
}

/// The margin of a judged number, in thousandths of a percent. A failure without a number is furthest off.
pub fn shortfall(record: &VerdictRecord) -> i64 {
    match record.margin_percent {
        Some(percent) => (percent * 1000.0) as i64,
        None if record.verdict == Verdict::Fail => i64::MIN,
        None => 0,
    }
}

/// `20 nodes: 1 fail, 1 not reached, 18 pass`, `4 nodes: 1 with a problem, 1 with a warning, 2 without a problem`. Without verdicts a node
/// with a problem or a warning counts as that alone.
pub fn title(document: &Document, summaries: &[NodeSummary<'_>]) -> String {
    let is_judged = !document.verdicts.is_empty();
    let mut numbers: BTreeMap<(Reverse<Option<Verdict>>, bool), usize> = BTreeMap::new();
    let is_told = |summary: &&NodeSummary<'_>| is_judged || !(summary.has_problem || summary.has_warning());
    for summary in summaries.iter().filter(is_told) {
        *numbers.entry((Reverse(summary.verdict), summary.is_unreached())).or_default() += 1;
    }
    let word = |verdict: Option<Verdict>, is_unreached: bool| match verdict {
        _ if is_unreached => "not reached",
        None => "without anything",
        Some(verdict) if is_judged => verdict.word(),
        Some(Verdict::Pass | Verdict::Warn) => "without a problem",
        verdict => of_cases(verdict).word,
    };
    let told = numbers
        .iter()
        .map(|((verdict, is_unreached), number)| format!("{number} {}", word(verdict.0, *is_unreached)));
    let with = |number: usize, what: &str| (number > 0).then(|| format!("{number} with a {what}"));
    let problems = with(summaries.iter().filter(|summary| summary.has_problem).count(), "problem");
    let warnings = summaries.iter().filter(|summary| !is_judged && summary.has_warning()).count();
    let mut told: Vec<String> = told.collect();
    let at = if is_judged { told.len() } else { 0 };
    told.splice(at..at, problems.into_iter().chain(with(warnings, "warning")));
    format!("{}: {}", count(summaries.len(), "node"), told.join(", "))
}

/// A row for each of `nodes`, with their `roles`.
pub fn table(document: &Document, nodes: &[NodeSummary<'_>], roles: Option<&Assignment>) -> Table {
    let is_judged = !document.verdicts.is_empty();
    let value = |node: &NodeSummary<'_>| value_of(node.judged()?);
    let margin = |node: &NodeSummary<'_>| node.judged()?.margin_percent.map(signed_percent);
    let (ended, met) = if is_judged { ("verdict", "met") } else { ("outcome", "measured") };
    Builder::new(title(document, nodes), nodes)
        .words(ended, |node| node.badge(is_judged))
        .column(Column::words("node").unbroken(), |node| node.node)
        .words("role", |node| roles.map(|roles| roles.roles_of(node.node).join(", ")))
        .numbers(met, NodeSummary::met)
        .words("worst", worst)
        .numbers("value", value)
        .numbers(MARGIN, margin)
        .words("why", |node| Cell::default().notes(why(node)))
        .words("found", NodeSummary::found)
        .about(|node, row| {
            row.nodes = vec![node.node.to_owned()];
            row.tone = Some(node.badge(is_judged).tone);
        })
        .finish()
}

/// The worst result of a node, by name.
fn worst(node: &NodeSummary<'_>) -> Cell {
    let on = |name: &str, subject: &Subject| match subject.as_str() {
        "node" => name.to_owned(),
        subject => format!("{name} {}", named(subject, "")),
    };
    match node.worst().filter(|_| !node.is_unreached()) {
        None => Cell::default(),
        Some(Worst::Judged(record)) => {
            Cell::from(on(&record.criterion, &record.subject)).case(record.case.as_deref())
        }
        Some(Worst::Case(case)) => Cell::from(on(&case.bench, &case.subject)).case(case.case.as_str()),
    }
}

fn why<'a>(node: &NodeSummary<'a>) -> Vec<&'a str> {
    let texts = match node.worst() {
        Some(Worst::Judged(record)) => [record.reason.as_deref(), record.waiver.as_deref()],
        Some(Worst::Case(case)) => [case.reason.as_deref(), None],
        None => [None, None],
    };
    texts.into_iter().flatten().collect()
}
