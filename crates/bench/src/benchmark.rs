//! The two traits that every benchmark is made of.

use seatrial_model::{
    About, Case, Factor, Integrity, Limits, Measures, Params, PartPlacement, PartRecord, Phase, Reason,
    Sample, Site,
};
use serde::{Deserialize, Serialize};

use crate::{Error, Stop};

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

    /// The part of `case` that runs at `place`, inside the worker's process. Must not allocate what is measured:
    /// that is the work of [`Part::prepare`].
    ///
    /// # Errors
    /// When the case's parameters cannot be read.
    fn part(&self, case: &Case, place: &PartPlacement) -> Result<Box<dyn Part>, Error>;

    /// A part that does no more than touch the subject of `case` while it connects, in the cheapest way that hangs where the
    /// case would. It is asked for before a case whose subject hung; without one the case runs as it is.
    fn liveness_check(&self, _case: &Case, _place: &PartPlacement) -> Option<Box<dyn Part>> {
        None
    }

    /// Makes metrics and series of what the parts of all trials so far said.
    ///
    /// # Errors
    /// A [`Reason`] when the samples do not make a number that could be trusted.
    fn reduce(&self, case: &Case, parts: &[PartRecord]) -> Result<Measures, Reason>;
}

/// A process's share in one trial of a case. The phases come in order, with a barrier between them.
pub trait Part: Send {
    /// Allocates, pins, listens; says what the peers must know.
    ///
    /// # Errors
    /// When the system refuses; the reason tells what was tried.
    fn prepare(&mut self) -> Result<Offer, Error>;

    /// Reaches the peers. `peers` holds the offers of all parts, this one's too, by index.
    ///
    /// # Errors
    /// When a peer cannot be reached.
    fn connect(&mut self, peers: &[Offer]) -> Result<(), Error>;

    /// Runs until `stop` says so, looking at it at least every 10 ms or resting by [`Stop::rest`]. Samples of the warm-up
    /// are thrown away.
    ///
    /// # Errors
    /// When the system under test fails.
    fn run(&mut self, phase: Phase, stop: &Stop, out: &mut dyn Sink) -> Result<(), Error>;

    /// Checks the data and says what it found. The clock no longer runs.
    ///
    /// # Errors
    /// When the check itself is impossible; corrupt data is a result, not an error.
    fn verify(&mut self) -> Result<Integrity, Error>;
}

/// What a part tells the others before they connect.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Offer {
    /// Which of the benchmark's parts.
    pub part: String,
    /// Position among all parts of the case.
    pub index: u32,
    /// The node it runs on.
    pub node: String,
    /// Addresses, keys, numbers: the benchmark's own form.
    pub data: serde_json::Value,
}

impl Offer {
    /// The offer of the part at `place`.
    pub fn new(place: &PartPlacement, data: serde_json::Value) -> Self {
        Self { part: place.part.clone(), index: place.index, node: place.node.clone(), data }
    }
}

/// Where a part puts what it observed.
pub trait Sink {
    /// Keeps one sample of the trial that runs, in the order of the calls.
    fn sample(&mut self, sample: Sample);

    /// Keeps a fact that supports the numbers; a later one of the same name replaces it.
    fn evidence(&mut self, name: &str, value: serde_json::Value);
}
