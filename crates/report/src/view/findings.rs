//! The findings, the worst first; the same finding of several cases is shown once.

use std::collections::{BTreeMap, HashMap, HashSet};

use seatrial_model::profile::fold;
use seatrial_model::record::Document;
use seatrial_model::{Finding, Severity};

use super::table::{Builder, Cell, Table};
use crate::words::{Badge, count};

/// Listed cases; more are counted.
const MOST_NAMES: usize = 2;

#[derive(Clone, Debug, PartialEq)]
pub struct Found<'a> {
    pub finding: &'a Finding,
    pub cases: Vec<&'a str>,
    /// The nodes of each case.
    pub nodes: Vec<&'a [String]>,
    /// Whether other findings of the same kind, about other cases, are not shown.
    pub is_first_of_kind: bool,
}

impl Found<'_> {
    /// Its cases, else its subject.
    pub fn about(&self) -> String {
        match self.cases.as_slice() {
            [] => {
                let node = self.finding.node.as_ref().map(|node| format!(" of {node}"));
                format!("{}{}", self.finding.subject, node.unwrap_or_default())
            }
            few if few.len() <= MOST_NAMES => few.join(", "),
            many => format!("{}{}", count(many.len(), "case"), self.shared()),
        }
    }

    /// The nodes that all cases share, where cases have several.
    fn shared(&self) -> String {
        let [first, others @ ..] = self.nodes.as_slice() else { return String::new() };
        let is_shared = |node: &&String| others.iter().all(|nodes| nodes.contains(node));
        let shared: Vec<&str> = first.iter().filter(is_shared).map(String::as_str).collect();
        match shared.is_empty() || first.len() < 2 {
            true => String::new(),
            false => format!(", all with {}", fold(&shared)),
        }
    }

    /// Its text; that of the first case where others are not shown.
    pub fn text(&self) -> String {
        let of = if self.is_first_of_kind { "first case: " } else { "" };
        format!("{of}{}", self.finding.full_text())
    }

    pub fn badge(&self) -> Badge {
        self.finding.severity.into()
    }
}

pub fn found(document: &Document) -> Vec<Found<'_>> {
    let mut found: Vec<Found<'_>> = Vec::new();
    let mut places: BTreeMap<(&str, &str, Severity), usize> = BTreeMap::new();
    let mut told: HashSet<(usize, &str)> = HashSet::new();
    let of_cases = document
        .results
        .iter()
        .flat_map(|record| record.findings.iter().map(|finding| (finding, Some(record.case.as_str()))));
    let nodes: HashMap<&str, &[String]> =
        document.results.iter().map(|record| (record.case.as_str(), record.nodes.as_slice())).collect();
    // Factors, settings and prices have their own tables.
    let has_table = |finding: &&Finding| {
        ["factor", "setting-gain"].contains(&finding.kind.as_str()) || finding.price.is_some()
    };
    let of_run = document.findings.iter().filter(|finding| !has_table(finding));
    let of_run = of_run.map(|finding| (finding, finding.case.as_deref()));
    for (finding, case) in of_cases.chain(of_run) {
        let at = *places.entry((&finding.kind, &finding.text, finding.severity)).or_insert_with(|| {
            found.push(Found { finding, cases: Vec::new(), nodes: Vec::new(), is_first_of_kind: false });
            found.len() - 1
        });
        // The run's findings may repeat those of its cases.
        if let Some(case) = case.filter(|case| told.insert((at, case))) {
            found[at].cases.push(case);
            found[at].nodes.extend(nodes.get(case));
        }
    }
    found.sort_by_key(|found| std::cmp::Reverse(found.finding.severity));
    found
}

/// Kinds of which each case has its own text, while the cause is one for the run.
pub const OF_RUN: [&str; 2] = ["disturbed", "did-not-converge"];

/// Kinds of which each flow has its own text, while many have the same limit.
const OF_FLOWS: &str = "limited-by-";

/// The kind of a finding about a node that is not like the others.
const UNLIKE: &str = "uniformity";

/// Whether a node is not like the others, and no number of the run shows it.
pub fn is_harmless(finding: &Finding) -> bool {
    finding.kind == UNLIKE && finding.evidence.is_empty()
}

/// Whether a node is not like the others, and a problem of the node has the same cause.
pub fn is_told_by_problem(document: &Document, finding: &Finding) -> bool {
    let is_it = |other: &Finding| {
        other.severity == Severity::Problem && other.node == finding.node && other.cause == finding.cause
    };
    finding.kind == UNLIKE && finding.cause.is_some() && document.findings.iter().any(is_it)
}

/// The same with one finding for each kind in [`OF_RUN`], and for each limit of flows; the others are at their cases.
pub fn by_cause(found: Vec<Found<'_>>) -> Vec<Found<'_>> {
    let mut kept: Vec<Found<'_>> = Vec::new();
    for one in found {
        let kind = one.finding.kind.as_str();
        let is_of_run = OF_RUN.contains(&kind) || kind.starts_with(OF_FLOWS);
        match kept.iter_mut().find(|known| is_of_run && known.finding.kind == one.finding.kind) {
            Some(known) => {
                known.is_first_of_kind = true;
                known.cases.extend(one.cases);
                known.nodes.extend(one.nodes);
            }
            None => kept.push(one),
        }
    }
    kept
}

/// One row per finding. A finding is no verdict: verdict filters do not hide it.
pub fn table(found: &[Found<'_>]) -> Table {
    Builder::new("Findings, the worst first", found)
        .words("kind", |found| found.finding.kind.as_str())
        .words("weight", Found::badge)
        .words("what was found", Found::text)
        .words("about", |found| Cell::from(found.about()).case(found.cases.first().copied()))
        .about(|found, row| row.nodes.extend(found.finding.node.clone()))
        .finish()
}

#[cfg(test)]
mod tests {
    use seatrial_model::Subject;

    use super::*;

    #[test]
    fn a_cause_of_the_whole_run_is_one_row_and_other_findings_keep_theirs() {
        let finding = |kind: &str, text: &str| Finding::new(kind, Severity::Warning, Subject::node(), text);
        let kinds = ["disturbed", "lossy", "disturbed", "lossy", "did-not-converge"];
        let findings: Vec<Finding> =
            kinds.iter().zip(["a", "b", "c", "d", "e"]).map(|(kind, text)| finding(kind, text)).collect();
        let all = findings.iter().map(|finding| Found {
            finding,
            cases: vec![finding.text.as_str()],
            nodes: Vec::new(),
            is_first_of_kind: false,
        });
        let rows: Vec<_> =
            by_cause(all.collect()).iter().map(|found| (found.text(), found.about())).collect();
        let row = |text: &str, about: &str| (text.to_owned(), about.to_owned());
        assert_eq!(rows, [row("first case: a", "a, c"), row("b", "b"), row("d", "d"), row("e", "e")]);
    }

    #[test]
    fn flows_with_one_limit_are_one_row_that_tells_the_node_of_all() {
        let text = |pair: &str| format!("{pair}, flow 0 forward: the receive window is small");
        let findings = ["n1->n3", "n2->n3", "n4->n3"].map(|pair| {
            Finding::new("limited-by-receive-window", Severity::Warning, Subject::node(), text(pair))
        });
        let pairs = [["n1", "n3"], ["n2", "n3"], ["n3", "n4"]].map(|pair| pair.map(str::to_owned));
        let all = findings.iter().zip(&pairs).map(|(finding, nodes)| Found {
            finding,
            cases: vec![finding.text.as_str()],
            nodes: vec![nodes.as_slice()],
            is_first_of_kind: false,
        });
        let found = by_cause(all.collect());
        let [row] = found.as_slice() else { panic!("{found:?}") };
        assert_eq!(row.about(), "3 cases, all with n3");
        assert_eq!(row.text(), format!("first case: {}", text("n1->n3")));
    }
}
