//! What every benchmark says of itself: its definition, its cases, their limits, parts and metrics.

use seatrial_model::{
    About, Case, Factor, Limits, Measures, Params, PartPlacement, PartRecord, Reason, Sample, Site,
};

use crate::Part;

/// Under what name `chosen` of a case on one node says whether it is between two cards of the node that are physically
/// distinct, so that there is a wire on the way.
pub const DISTINCT_CARDS: &str = "distinct_cards";

/// A measuring test. Everything but [`Benchmark::part`] is pure and runs where the plan is made.
pub trait Benchmark: Sync {
    /// The one definition that list, help, docs and checks come from.
    fn about(&self) -> &'static About;

    /// What a study of factors may be asked for beside the parameters themselves.
    fn factors(&self) -> &'static [Factor] {
        &[]
    }

    /// The cases that `params` (one value each) make on `site`; one case a subject.
    ///
    /// # Errors
    /// A [`Reason`] of cause `inapplicable` when there is nothing here to measure, or of another cause when it
    /// should be measurable but cannot be (a contradiction in the parameters, no memory for the arrays).
    fn plan(&self, params: &Params, site: &Site) -> Result<Vec<Case>, Reason>;

    /// What the hardware could do, by metric; every metric has an entry.
    fn limits(&self, case: &Case, site: &Site) -> Limits;

    /// The part of `case` that runs at `place`, inside the worker's process. Allocates nothing yet.
    fn part(&self, case: &Case, place: &PartPlacement) -> Part;

    /// A part that does no more than touch the subject of `case` while it connects, in the cheapest way that hangs where the
    /// case would. It is asked for before a case whose subject hung; without one the case runs as it is.
    fn liveness_check(&self, _case: &Case, _place: &PartPlacement) -> Option<Part> {
        None
    }

    /// Makes metrics and series of what the parts of all trials so far said.
    ///
    /// # Errors
    /// A [`Reason`] when the samples do not make a number that could be trusted.
    fn reduce(&self, case: &Case, parts: &[PartRecord]) -> Result<Measures, Reason>;
}

/// Where a part puts what it observed.
pub trait Sink {
    /// Keeps one sample of the trial that runs, in the order of the calls.
    fn sample(&mut self, sample: Sample);

    /// Keeps a fact that supports the numbers; a later one of the same name replaces it.
    fn evidence(&mut self, name: &str, value: serde_json::Value);
}
