//! How the nodes of a fleet came out: one row a node, the worst first; nodes that are alike and pass are folded.

use std::collections::{BTreeMap, HashMap};

use seatrial_model::profile::fold;
use seatrial_model::record::{CaseRecord, Document};
use seatrial_model::{Cause, Outcome, Severity, Subject, Verdict, VerdictRecord};

use crate::grid::{self, Column};
use crate::ink::Ink;
use crate::notes::Notes;
use crate::number::{plain, signed_share};
use crate::words::{self, clean, count};

/// Rows of nodes at most; of a larger fleet the worst are shown and the others folded by how they came out.
const MOST_ROWS: usize = 16;

/// Characters of a folded node set at most: names that do not fold are counted only.
const LONGEST_SET: usize = 160;

/// Whether `document` is about several nodes.
pub fn is_fleet(document: &Document) -> bool {
    document.run.nodes.len() > 1
}

/// How one node came out.
pub(crate) struct NodeSummary<'a> {
    pub(crate) node: &'a str,
    /// The roll-up; none when nothing was measured or judged there.
    pub(crate) verdict: Option<Verdict>,
    /// Judgements or cases that came out well, of how many.
    pub(crate) met: usize,
    pub(crate) all: usize,
    /// What came out worst.
    pub(crate) worst: Option<Worst<'a>>,
    /// Kinds of what was found about the node, besides what is only good to know.
    pub(crate) found: Vec<&'a str>,
    /// Whether one of them is that something is wrong.
    pub(crate) has_problem: bool,
}

#[derive(Clone, Copy)]
pub(crate) enum Worst<'a> {
    Judged(&'a VerdictRecord),
    Case(&'a CaseRecord),
}

/// The nodes of a fleet; nothing for a single machine.
pub fn block(document: &Document, notes: &mut Notes, width: u16) -> String {
    if !is_fleet(document) {
        return String::new();
    }
    let summaries = summaries(document);
    let is_listed = |summary: &&NodeSummary<'_>| {
        summaries.len() <= MOST_ROWS
            || summary.verdict > Some(Verdict::Pass)
            || summary.verdict.is_none()
            || summary.has_problem
    };
    let (listed, folded): (Vec<_>, Vec<_>) = summaries.iter().partition(is_listed);
    let shown = &listed[..listed.len().min(MOST_ROWS)];
    let mut text = format!("{}\n", Ink::Strong.on(&title(document, &summaries)));
    if !shown.is_empty() {
        text += &table(shown, notes, width);
    }
    let mut rest: BTreeMap<std::cmp::Reverse<Option<Verdict>>, Vec<&str>> = BTreeMap::new();
    for summary in listed[shown.len()..].iter().chain(&folded) {
        rest.entry(std::cmp::Reverse(summary.verdict)).or_default().push(summary.node);
    }
    let judged = !document.verdicts.is_empty();
    let rows: Vec<_> = rest
        .into_iter()
        .map(|(verdict, nodes)| (word(verdict.0, judged), set(&nodes, verdict.0 > Some(Verdict::Pass))))
        .collect();
    text += &grid::paragraphs(&rows, width);
    if listed.len() > shown.len() {
        let command = format!(" every node: seatrial report {} -o json", clean(&document.run.id));
        text += &format!("{}\n", Ink::Faint.on(&command));
    }
    text
}

/// `18 nodes: n[01-16,18-19]`.
fn set(nodes: &[&str], more: bool) -> String {
    let folded = clean(&fold(nodes));
    let more = if more { "more " } else { "" };
    let number = count(nodes.len(), &format!("{more}node"));
    if folded.chars().count() > LONGEST_SET { number } else { format!("{number}: {folded}") }
}

/// `20 nodes: 1 fail, 1 unknown, 18 pass`.
fn title(document: &Document, summaries: &[NodeSummary<'_>]) -> String {
    let judged = !document.verdicts.is_empty();
    let mut numbers: BTreeMap<std::cmp::Reverse<Option<Verdict>>, usize> = BTreeMap::new();
    for summary in summaries {
        *numbers.entry(std::cmp::Reverse(summary.verdict)).or_default() += 1;
    }
    let told = numbers.iter().map(|(verdict, number)| format!("{number} {}", bare(verdict.0, judged)));
    let problems = summaries.iter().filter(|summary| summary.has_problem).count();
    let problems = (problems > 0).then(|| format!("{problems} with a problem"));
    format!("{}: {}", count(summaries.len(), "node"), told.chain(problems).collect::<Vec<_>>().join(", "))
}

pub(crate) fn summaries(document: &Document) -> Vec<NodeSummary<'_>> {
    let mut order: Vec<&str> = document.run.nodes.iter().map(String::as_str).collect();
    let mut places: HashMap<&str, usize> = order.iter().enumerate().map(|(at, node)| (*node, at)).collect();
    for node in document.results.iter().flat_map(|case| &case.nodes) {
        places.entry(node).or_insert_with(|| {
            order.push(node);
            order.len() - 1
        });
    }
    let mut all: Vec<NodeSummary<'_>> = order.iter().map(|node| NodeSummary::new(node)).collect();
    let mut add = |node: &str, verdict: Verdict, what| {
        if let Some(summary) = places.get(node).and_then(|at| all.get_mut(*at)) {
            summary.take(verdict, what);
        }
    };
    if document.verdicts.is_empty() {
        for case in &document.results {
            for node in spoken_of(case) {
                add(node, of_outcome(case.outcome), Worst::Case(case));
            }
        }
    } else {
        let cases: HashMap<&str, &CaseRecord> =
            document.results.iter().map(|case| (case.case.as_str(), case)).collect();
        for record in &document.verdicts {
            let what = Worst::Judged(record);
            match (&record.node, record.case.as_deref().and_then(|case| cases.get(case))) {
                (Some(node), _) => add(node, record.verdict, what),
                (None, Some(case)) => {
                    spoken_of(case).for_each(|node| add(node, record.verdict, what));
                }
                // About the run as a whole.
                (None, None) => {}
            }
        }
    }
    for finding in document.findings.iter().filter(|finding| finding.severity > Severity::Info) {
        let summary =
            finding.node.as_deref().and_then(|node| places.get(node)).and_then(|at| all.get_mut(*at));
        if let Some(summary) = summary {
            summary.has_problem |= finding.severity == Severity::Problem;
            if !summary.found.contains(&finding.kind.as_str()) {
                summary.found.push(&finding.kind);
            }
        }
    }
    // Stable: nodes that are as bad stay in the order of the run.
    let bad = |summary: &NodeSummary<'_>| summary.verdict.max(summary.has_problem.then_some(Verdict::Fail));
    all.sort_by_key(|summary| {
        (std::cmp::Reverse(bad(summary)), std::cmp::Reverse(summary.verdict), summary.margin())
    });
    all
}

/// The nodes that a case speaks about: those that were lost in it, or all. When a job ends every node is lost, whichever
/// was the first to go in this case.
fn spoken_of(case: &CaseRecord) -> impl Iterator<Item = &String> {
    let is_about_all = case.lost.is_empty() || case.cause == Some(Cause::Interrupted);
    case.nodes.iter().filter(move |node| is_about_all || case.lost.contains(node))
}

/// Where an outcome stands among verdicts: what has numbers is in order.
fn of_outcome(outcome: Outcome) -> Verdict {
    match outcome {
        Outcome::Failed => Verdict::Fail,
        Outcome::Unmeasured => Verdict::Unknown,
        Outcome::Measured => Verdict::Pass,
        Outcome::Skipped => Verdict::Skip,
    }
}

impl<'a> NodeSummary<'a> {
    fn new(node: &'a str) -> Self {
        Self { node, verdict: None, met: 0, all: 0, worst: None, found: Vec::new(), has_problem: false }
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

    fn margin(&self) -> i64 {
        self.worst.map_or(0, margin)
    }
}

/// Thousandths of a percent on the good side of the bound; integers order totally.
fn margin(what: Worst<'_>) -> i64 {
    match what {
        Worst::Judged(record) => shortfall(record),
        Worst::Case(_) => 0,
    }
}

/// How far a judged number is on the good side, in thousandths of a percent. What failed without a number is furthest off.
pub(crate) fn shortfall(record: &VerdictRecord) -> i64 {
    match record.margin_percent {
        Some(percent) => (percent * 1000.0) as i64,
        None if record.verdict == Verdict::Fail => i64::MIN,
        None => 0,
    }
}

fn table(shown: &[&NodeSummary<'_>], notes: &mut Notes, width: u16) -> String {
    let judged = shown.iter().any(|summary| matches!(summary.worst, Some(Worst::Judged(_))));
    let cells = |text: &dyn Fn(&NodeSummary<'_>) -> String| {
        shown.iter().map(|summary| text(summary)).collect::<Vec<_>>()
    };
    let record = |summary: &NodeSummary<'_>, text: &dyn Fn(&VerdictRecord) -> String| match summary.worst {
        Some(Worst::Judged(record)) if record.verdict != Verdict::Pass => text(record),
        _ => String::new(),
    };
    let mut why = |summary: &&NodeSummary<'_>| {
        let texts: [Option<&str>; 2] = match summary.worst {
            Some(Worst::Judged(record)) if record.verdict != Verdict::Pass => {
                [record.reason.as_deref(), record.waiver.as_deref()]
            }
            Some(Worst::Case(case)) => [case.reason.as_deref(), None],
            _ => [None, None],
        };
        texts.into_iter().flatten().map(|text| notes.refer(text)).collect::<Vec<_>>().join(" ")
    };
    let why = shown.iter().map(&mut why).collect();
    let head = if judged { "verdict" } else { "outcome" };
    let mut columns = vec![
        Column::words(
            head,
            cells(&|summary| match is_only_found(summary, judged) {
                true => words::severity(Severity::Problem),
                false => word(summary.verdict, judged),
            }),
        ),
        Column::words("node", cells(&|summary| clean(summary.node))).unbroken(),
        Column::numbers(
            if judged { "met" } else { "measured" },
            cells(&|summary| format!("{} of {}", summary.met, summary.all)),
        ),
        Column::words("worst", cells(&worst)),
        Column::numbers(
            "value",
            cells(&|summary| {
                record(summary, &|record| {
                    let value = record.measured;
                    value.map_or(String::new(), |value| format!("{} {}", plain(value.value()), value.unit()))
                })
            }),
        ),
        Column::numbers(
            "margin",
            cells(&|summary| {
                record(summary, &|record| record.margin_percent.map_or(String::new(), signed_share))
            }),
        ),
        Column::words("why", why),
        Column::words("found", cells(&|summary| clean(&summary.found.join(", ")))),
    ];
    columns.retain(|column| !column.is_empty());
    grid::fitted(&columns, width)
}

/// Whether nothing is wrong with a node but what was found: its cases have numbers, and nobody judged them.
pub(crate) fn is_only_found(summary: &NodeSummary<'_>, judged: bool) -> bool {
    !judged && summary.has_problem && summary.verdict <= Some(Verdict::Pass)
}

/// What came out worst on a node, by name.
fn worst(summary: &NodeSummary<'_>) -> String {
    let named = |name: &str, subject: &Subject| match subject.as_str() {
        "node" => clean(name),
        subject => clean(&format!("{name} {subject}")),
    };
    match summary.worst {
        Some(Worst::Judged(record)) if record.verdict != Verdict::Pass => {
            named(&record.criterion, &record.subject)
        }
        Some(Worst::Case(case)) if case.outcome != Outcome::Measured => named(&case.bench, &case.subject),
        _ => String::new(),
    }
}

/// Sign and word; of a run that is not judged, how its cases ended.
fn word(verdict: Option<Verdict>, judged: bool) -> String {
    match (verdict, judged) {
        (None, _) => Ink::Doubt.on("? nothing"),
        (Some(verdict), true) => words::verdict(verdict),
        (Some(Verdict::Fail), false) => words::outcome(Outcome::Failed),
        (Some(Verdict::Unknown), false) => words::outcome(Outcome::Unmeasured),
        (Some(Verdict::Skip), false) => words::outcome(Outcome::Skipped),
        (Some(_), false) => words::outcome(Outcome::Measured),
    }
}

/// The word by itself.
fn bare(verdict: Option<Verdict>, judged: bool) -> &'static str {
    match (verdict, judged) {
        (None, _) => "without anything",
        (Some(verdict), true) => verdict.word(),
        (Some(Verdict::Fail), false) => "failed",
        (Some(Verdict::Unknown), false) => "unmeasured",
        (Some(Verdict::Skip), false) => "skipped",
        (Some(_), false) => "measured",
    }
}
