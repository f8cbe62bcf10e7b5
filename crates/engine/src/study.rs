//! Studies decide which cases run next.

use std::collections::HashSet;

use seatrial_model::record::CaseRecord;
use seatrial_model::{Case, Finding};

#[derive(Clone, Debug, PartialEq)]
pub enum Next {
    /// Run these cases, in this order where they share a node.
    Round(Vec<Case>),
    /// Add these records without measuring.
    Settled(Vec<CaseRecord>),
    /// The study has ended; these are its conclusions.
    Done(Vec<Finding>),
}

/// Decides which cases run next. Deterministic in the records so far, so that a run can be resumed.
pub trait Study {
    /// The next round, given every record so far.
    fn next(&mut self, done: &[CaseRecord]) -> Next;

    /// `node` is lost: no case can run there any more. Called before [`Self::next`], possibly more than once.
    fn lost(&mut self, _node: &str) {}
}

/// All cases once, in one round: the product of the given values.
#[derive(Clone, Debug, PartialEq)]
pub struct Sweep {
    cases: Vec<Case>,
}

impl Sweep {
    pub fn new(cases: Vec<Case>) -> Self {
        Self { cases }
    }
}

impl Study for Sweep {
    fn next(&mut self, done: &[CaseRecord]) -> Next {
        let done: HashSet<_> = done.iter().map(|record| &record.case).collect();
        let missing: Vec<_> = self.cases.drain(..).filter(|case| !done.contains(&case.id)).collect();
        if missing.is_empty() { Next::Done(Vec::new()) } else { Next::Round(missing) }
    }
}
