//! Studies decide which cases run next.

use std::collections::{BTreeSet, HashSet};

use seatrial_model::Case;
use seatrial_model::record::CaseRecord;

/// What a study wants next; it has ended when it wants nothing.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct More {
    /// Run these, in this order where they share a node.
    pub cases: Vec<Case>,
    /// Add these without measuring, before the cases run.
    pub settled: Vec<CaseRecord>,
}

impl More {
    pub fn is_nothing(&self) -> bool {
        self.cases.is_empty() && self.settled.is_empty()
    }
}

impl From<Vec<Case>> for More {
    fn from(cases: Vec<Case>) -> Self {
        Self { cases, settled: Vec::new() }
    }
}

/// Adds to the cases of a study. Deterministic in the records so far, so that a run can be resumed.
pub trait Rule {
    /// What to add, given every record so far. No case can run on the nodes `gone` any more.
    fn more(&mut self, done: &[CaseRecord], gone: &BTreeSet<String>) -> More;
}

/// All cases once, in one round: the product of the given values. Then what the first rule that wants something wants,
/// until none does.
pub struct Study<'a> {
    cases: Vec<Case>,
    rules: Vec<Box<dyn Rule + 'a>>,
}

impl<'a> Study<'a> {
    /// A study without rules.
    pub fn new(cases: Vec<Case>) -> Self {
        Self { cases, rules: Vec::new() }
    }

    /// The study with one more rule, which is asked after those before it.
    #[must_use]
    pub fn then(mut self, rule: impl Rule + 'a) -> Self {
        self.rules.push(Box::new(rule));
        self
    }

    pub(crate) fn next(&mut self, done: &[CaseRecord], gone: &BTreeSet<String>) -> More {
        let known: HashSet<_> = done.iter().map(|record| &record.case).collect();
        let missing: Vec<_> = self.cases.drain(..).filter(|case| !known.contains(&case.id)).collect();
        if !missing.is_empty() {
            return missing.into();
        }
        let mut wanted = self.rules.iter_mut().map(|rule| rule.more(done, gone));
        wanted.find(|more| !more.is_nothing()).unwrap_or_default()
    }
}
