//! What to do about a verdict that is not a pass, and who does it.

use std::collections::HashMap;

use seatrial_analysis::fill;
use seatrial_model::profile::fold;
use seatrial_model::record::{CaseRecord, Document};
use seatrial_model::{About, Cause, Remedy, Severity, Verdict, VerdictRecord};

use super::cases::by_id;
use super::findings::{Found, found};

/// The sources of remedies of a run.
pub struct Remedies<'a> {
    cases: HashMap<&'a str, &'a CaseRecord>,
    /// Findings with a remedy, the worst first.
    findings: Vec<Found<'a>>,
    abouts: &'a [&'static About],
}

impl<'a> Remedies<'a> {
    pub fn new(document: &'a Document, abouts: &'a [&'static About]) -> Self {
        let has_remedy =
            |found: &Found<'_>| found.finding.remedy.is_some() && found.finding.severity > Severity::Info;
        Self {
            cases: by_id(document),
            findings: found(document).into_iter().filter(has_remedy).collect(),
            abouts,
        }
    }

    /// The remedy of the verdict itself; that of a finding on its case, then on its node; that of the cause of a case
    /// without numbers on `nodes`; else the first check of the benchmark.
    pub fn of(&self, record: &VerdictRecord, nodes: &[&str]) -> Option<Remedy> {
        if record.verdict == Verdict::Pass || record.remedy.is_some() {
            return record.remedy.clone();
        }
        let case = record.case.as_deref().and_then(|case| self.cases.get(case)).copied()?;
        if let Some(remedy) = remedy_of_cause(case.cause, nodes) {
            return Some(remedy);
        }
        if record.verdict != Verdict::Fail {
            return None;
        }
        self.of_finding(record, case).cloned().or_else(|| self.check(case))
    }

    fn of_finding(&self, record: &VerdictRecord, case: &CaseRecord) -> Option<&Remedy> {
        let is_on_case = |found: &&Found<'_>| found.cases.contains(&case.case.as_str());
        let is_on_node = |found: &&Found<'_>| {
            let is_whole = matches!(found.finding.subject.as_str(), "node");
            found.cases.is_empty()
                && found.finding.node.is_some()
                && found.finding.node == record.node
                && (is_whole || found.finding.subject == record.subject)
        };
        let found =
            self.findings.iter().find(is_on_case).or_else(|| self.findings.iter().find(is_on_node))?;
        found.finding.remedy.as_ref()
    }

    /// The first check of the benchmark of `case`, with what the case tells of its devices.
    fn check(&self, case: &CaseRecord) -> Option<Remedy> {
        let remedy = self.abouts.iter().find(|about| about.id == case.bench)?.checks.first()?;
        Some(fill(remedy, case))
    }
}

/// The remedy of cases without numbers on `nodes`.
pub fn remedy_of_cause(cause: Option<Cause>, nodes: &[&str]) -> Option<Remedy> {
    let nodes = if nodes.is_empty() { "the node".to_owned() } else { fold(nodes) };
    cause?.remedy(&nodes)
}
