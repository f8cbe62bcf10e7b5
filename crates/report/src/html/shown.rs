//! Which cases are shown in full, and the filters of every element.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap, HashSet};

use seatrial_analysis::Assignment;
use seatrial_model::profile::Profile;
use seatrial_model::record::{CaseRecord, Document};
use seatrial_model::{Outcome, Severity, Verdict, VerdictRecord};

use super::PageContext;
use super::filter::Filter;
use super::words::text;
use crate::view::cases::{Verdicts, verdicts};
use crate::view::nodes::shortfall;
use crate::view::numbers::Judged;
use crate::view::parts::is_absent;
use crate::words::tone;

/// Runs with up to this many cases show all in full.
const ALL: usize = 64;

/// Cases shown in full of a larger run: the worst.
const WORST: usize = 40;

/// Cases shown in full of each benchmark, so that each has an example.
const OF_EACH: usize = 2;

pub struct Shown<'a> {
    pub document: &'a Document,
    pub context: &'a PageContext<'a>,
    roles: Assignment,
    judged: Judged<'a>,
    pub verdicts: Verdicts<'a>,
    /// The number of each case that is shown in full, by name.
    full: HashMap<&'a str, usize>,
}

impl<'a> Shown<'a> {
    pub fn new(document: &'a Document, context: &'a PageContext<'a>) -> Self {
        let nobody = Profile::default();
        let profile = context.profile.unwrap_or(&nobody);
        let roles = Assignment::new(profile, &document.run.nodes, &BTreeMap::new());
        let (judged, verdicts) = (Judged::new(document), verdicts(document));
        let mut shown = Self { document, context, roles, judged, verdicts, full: HashMap::new() };
        shown.full = shown.choose();
        shown
    }

    fn choose(&self) -> HashMap<&'a str, usize> {
        let all = &self.document.results;
        let mut chosen: Vec<usize> = (0..all.len()).filter(|at| !is_absent(&all[*at])).collect();
        // For a run without verdicts, problems come first.
        let problems = self.document.findings.iter().filter(|finding| finding.severity == Severity::Problem);
        let wrong: HashSet<&str> = problems.filter_map(|finding| finding.node.as_deref()).collect();
        if chosen.len() > ALL {
            let weight = |at: &usize| {
                let case = &all[*at];
                let judged =
                    self.judgements(case).iter().map(|record| (Reverse(record.verdict), shortfall(record)));
                let (verdict, margin) = judged.min().unwrap_or((Reverse(tone(case.outcome)), 0));
                (verdict, margin, !case.nodes.iter().any(|node| wrong.contains(node.as_str())))
            };
            chosen.sort_by_cached_key(weight);
            let mut of_bench: HashMap<&str, usize> = HashMap::new();
            let (mut kept, mut rest) = (Vec::new(), Vec::new());
            for at in chosen {
                let number = of_bench.entry(&all[at].bench).or_default();
                *number += 1;
                if *number <= OF_EACH { kept.push(at) } else { rest.push(at) }
            }
            kept.extend(rest.into_iter().take(WORST.saturating_sub(kept.len())));
            kept.sort_unstable();
            chosen = kept;
        }
        chosen.into_iter().enumerate().map(|(number, at)| (all[at].case.as_str(), number + 1)).collect()
    }

    /// Whether some cases are not shown in full.
    pub fn is_cut(&self) -> bool {
        self.full.len() < self.document.results.iter().filter(|case| !is_absent(case)).count()
    }

    /// The link to a case in full; empty if it is not shown.
    pub fn place(&self, case: &str) -> String {
        self.full.get(case).map_or(String::new(), |number| format!("case-{number}"))
    }

    pub fn judgements(&self, case: &CaseRecord) -> &[&'a VerdictRecord] {
        self.judged.of(case)
    }

    pub fn verdict(&self, case: &CaseRecord) -> Option<Verdict> {
        self.verdicts.get(case.case.as_str()).copied()
    }

    /// The class of a case: of its verdict, else of its outcome if it was not measured.
    pub fn class(&self, case: &CaseRecord) -> &'static str {
        match (self.verdict(case), case.outcome) {
            (Some(verdict), _) => verdict.word(),
            (None, Outcome::Measured) => "",
            (None, outcome) => tone(outcome).word(),
        }
    }

    pub fn filter(&self, case: &CaseRecord) -> Filter {
        self.filter_of(case.nodes.iter().map(String::as_str), self.class(case))
    }

    pub fn filter_of<'n>(&self, nodes: impl IntoIterator<Item = &'n str>, verdict: &'static str) -> Filter {
        let nodes: Vec<&str> = nodes.into_iter().collect();
        let mut roles: Vec<String> = nodes.iter().flat_map(|node| self.roles.roles_of(node)).collect();
        roles.sort();
        roles.dedup();
        let roles: Vec<String> = roles.iter().map(|role| text(role)).collect();
        Filter { roles: roles.join("\n"), ..Filter::of_nodes(nodes, verdict) }
    }

    pub fn assignment(&self) -> &Assignment {
        &self.roles
    }

    pub fn roles_of(&self, node: &str) -> String {
        text(&self.roles.roles_of(node).join(", "))
    }

    pub fn roles(&self) -> Vec<String> {
        let mut roles: Vec<String> = self
            .document
            .run
            .nodes
            .iter()
            .flat_map(|node| self.roles.roles_of(node))
            .map(|role| text(&role))
            .collect();
        roles.sort();
        roles.dedup();
        roles
    }
}
