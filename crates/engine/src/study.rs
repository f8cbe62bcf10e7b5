//! Studies decide which cases run next.

use std::collections::HashSet;

use seatrial_model::record::CaseRecord;
use seatrial_model::{Case, Finding};

/// What a study wants after what is done so far.
#[derive(Clone, Debug, PartialEq)]
pub enum Next {
    /// These cases, in this order where they share a node.
    Round(Vec<Case>),
    /// These stand without being measured.
    Settled(Vec<CaseRecord>),
    /// Nothing more; these are its conclusions.
    Done(Vec<Finding>),
}

/// Decides which cases run next. Deterministic in what is done, so that a run can be resumed.
pub trait Study {
    /// The next round, given every record so far.
    fn next(&mut self, done: &[CaseRecord]) -> Next;

    /// `node` is gone: no case can run there any more. Told before [`Self::next`], and perhaps more than once.
    fn lost(&mut self, _node: &str) {}
}

/// All cases once, in one round: the product of the values given.
#[derive(Clone, Debug, PartialEq)]
pub struct Sweep {
    cases: Vec<Case>,
}

impl Sweep {
    /// A sweep over `cases`.
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
