//! What every benchmark says of itself: its definition, its cases, their limits, parts and metrics.

use seatrial_model::{
    About, Case, Factor, Limits, Measures, Params, PartPlacement, PartRecord, Reason, Sample, Site,
};

use crate::Part;

/// Under what name `chosen` of a case on one node says whether it is between two cards of the node that are physically
/// distinct, so that there is a wire on the way.
pub const DISTINCT_CARDS: &str = "distinct_cards";

/// Under what name `planned` of a case on one node says that it measures the node itself, where two nodes would measure what is
/// between them.
pub const WITHIN_NODE: &str = "within_node";

/// A measuring test: its definition, and the functions that make its cases, limits, parts and metrics of it. All but
/// `part` and `liveness_check` are pure and run where the plan is made.
#[derive(Clone, Copy)]
pub struct Benchmark {
    /// The one definition that list, help, docs and checks come from.
    pub about: &'static About,

    /// What a study of factors may be asked for beside the parameters themselves.
    pub factors: &'static [Factor],

    /// The cases that parameters (one value each) make on a site; one case a subject. Fails with cause `inapplicable`
    /// when there is nothing to measure, or with another cause when it should be measurable but cannot be (a
    /// contradiction in the parameters, no memory for the arrays).
    pub plan: fn(&'static About, &Params, &Site) -> Result<Vec<Case>, Reason>,

    /// What the hardware could do, by metric; every metric has an entry.
    pub limits: fn(&'static About, &Case, &Site) -> Limits,

    /// The part of a case that runs at a place, inside the worker's process. Allocates nothing yet.
    pub part: fn(&Case, &PartPlacement) -> Part,

    /// A part that only touches the subject of the case while it connects, in the cheapest way that hangs where the
    /// case would. It runs before a case whose subject hung; without one the case runs as it is.
    pub liveness_check: fn(&Case, &PartPlacement) -> Option<Part>,

    /// Makes metrics and series of what the parts of all trials so far said. Fails when the samples do not make a
    /// number that could be trusted.
    pub reduce: fn(&Case, &[PartRecord]) -> Result<Measures, Reason>,
}

impl Benchmark {
    /// Calls the field `plan`.
    pub fn plan(&self, params: &Params, site: &Site) -> Result<Vec<Case>, Reason> {
        (self.plan)(self.about, params, site)
    }

    /// Calls the field `limits`.
    pub fn limits(&self, case: &Case, site: &Site) -> Limits {
        (self.limits)(self.about, case, site)
    }

    /// Calls the field `part`.
    pub fn part(&self, case: &Case, place: &PartPlacement) -> Part {
        (self.part)(case, place)
    }

    /// Calls the field `reduce`.
    pub fn reduce(&self, case: &Case, parts: &[PartRecord]) -> Result<Measures, Reason> {
        (self.reduce)(case, parts)
    }
}

/// Where a part puts what it observed.
pub trait Sink {
    /// Keeps one sample of the trial that runs, in the order of the calls.
    fn sample(&mut self, sample: Sample);

    /// Keeps a fact that supports the numbers; a later one of the same name replaces it.
    fn evidence(&mut self, name: &str, value: serde_json::Value);
}
