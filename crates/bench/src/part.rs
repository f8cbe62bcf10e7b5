//! A process's share in one trial of a case. Its stages come in order, with a barrier of all parts between them, and each
//! consumes the one before, so that none can be left out or entered twice:
//!
//! [`Part`] → prepare → [`Prepared`] → connect → [`Running`] → run (warm-up, measure) → verify.

use seatrial_model::{Case, Cause, Evidence, Integrity, PartPlacement, Phase, Reason, Verification};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::verification::Unverified;
use crate::{Sink, Stop, sched};

/// A part before anything is allocated.
pub struct Part(Box<dyn FnOnce() -> Result<Prepared, Reason> + Send>);

impl Part {
    /// The part of `case` at `place` that `prepare` prepares: it reads the parameters, allocates, pins and listens.
    pub fn new(
        case: &Case,
        place: &PartPlacement,
        prepare: impl FnOnce(&Case, &PartPlacement) -> Result<Prepared, Reason> + Send + 'static,
    ) -> Self {
        let (case, place) = (case.clone(), place.clone());
        Self(Box::new(move || {
            // Before all: threads inherit the class of the thread that starts them.
            sched::enter(&case.params)?;
            let prepared = prepare(&case, &place)?;
            Ok(match Verification::of(&case.params) {
                Verification::None => prepared.unverified(),
                Verification::Full | Verification::Header => prepared,
            })
        }))
    }

    /// A part of `case` that has no peers to connect to.
    pub fn alone<R: Running + 'static>(
        case: &Case,
        place: &PartPlacement,
        prepare: impl FnOnce(&Case, &PartPlacement) -> Result<R, Reason> + Send + 'static,
    ) -> Self {
        Self::new(case, place, |case, place| {
            let running = prepare(case, place)?;
            Ok(Prepared::new(place, Value::Null, |_| Ok(running))?.with_peers(Vec::new()))
        })
    }

    /// Prepares the part.
    ///
    /// # Errors
    /// When the parameters cannot be read or the system refuses.
    pub fn prepare(self) -> Result<Prepared, Reason> {
        (self.0)()
    }
}

/// A part that is ready to connect to its peers.
pub struct Prepared {
    offer: Offer,
    connect: Box<Connect>,
}

type Connect = dyn FnOnce(&[Offer]) -> Result<Box<dyn Running>, Reason> + Send;

impl Prepared {
    /// The part at `place`, which tells its peers `data` (addresses, keys, numbers) and reaches them by `connect`.
    /// `connect` gets the offers of all parts, of this one too, by index, unless [`Self::with_peers`] names fewer.
    ///
    /// # Errors
    /// When `data` has no form in JSON.
    pub fn new<R: Running + 'static>(
        place: &PartPlacement,
        data: impl Serialize,
        connect: impl FnOnce(&[Offer]) -> Result<R, Reason> + Send + 'static,
    ) -> Result<Self, Reason> {
        let data = serde_json::to_value(data).map_err(|error| {
            Reason::new(Cause::Protocol, format!("cannot write the offer as JSON: {error}"))
        })?;
        let offer = Offer::new(place, data);
        let connect = |offers: &[Offer]| Ok(Box::new(connect(offers)?) as Box<dyn Running>);
        Ok(Self { offer, connect: Box::new(connect) })
    }

    /// The same with the offers of `peers` only, by index: with hundreds of parts, those of all are too much to send to
    /// each.
    pub fn with_peers(mut self, peers: Vec<u32>) -> Self {
        self.offer.peers = Some(peers);
        self
    }

    /// The same with a part that verifies nothing.
    fn unverified(self) -> Self {
        let Self { offer, connect } = self;
        let connect = |offers: &[Offer]| Ok(Box::new(Unverified(connect(offers)?)) as Box<dyn Running>);
        Self { offer, connect: Box::new(connect) }
    }

    /// What the peers must know of this part.
    pub fn offer(&self) -> &Offer {
        &self.offer
    }

    /// Reaches the peers.
    pub fn connect(self, offers: &[Offer]) -> Result<Box<dyn Running>, Reason> {
        (self.connect)(offers)
    }
}

/// A part that is connected.
pub trait Running: Send {
    /// Runs until `stop` says so, looking at it at least every 10 ms or resting by [`Stop::rest`]. Samples of the warm-up
    /// are thrown away.
    fn run(&mut self, phase: Phase, stop: &Stop, out: &mut dyn Sink) -> Result<(), Reason>;

    /// Checks the data and says what it found. The clock no longer runs.
    ///
    /// # Errors
    /// When the check itself is impossible; corrupt data is a result, not an error.
    fn verify(&mut self) -> Result<Integrity, Reason>;

    /// What became known while the data was checked.
    fn late_evidence(&self) -> Evidence {
        Evidence::new()
    }
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
    pub data: Value,
    /// The parts whose offers this part needs, by index; none for those of all. Peers do not get it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub peers: Option<Vec<u32>>,
}

impl Offer {
    /// The offer of the part at `place`.
    pub fn new(place: &PartPlacement, data: Value) -> Self {
        Self { part: place.part.clone(), index: place.index, node: place.node.clone(), data, peers: None }
    }

    /// What the part at `index` offers, and the node that it runs on.
    ///
    /// # Errors
    /// When it offers nothing, or something else.
    pub fn of_part<T: DeserializeOwned>(offers: &[Self], index: u32) -> Result<(T, &str), Reason> {
        let missing = || Reason::new(Cause::Protocol, format!("part {index} is not among the peers"));
        let offer = offers.iter().find(|offer| offer.index == index).ok_or_else(missing)?;
        let data = T::deserialize(&offer.data).map_err(|error| {
            Reason::new(Cause::Protocol, format!("cannot parse the offer of part {index}: {error}"))
        })?;
        Ok((data, &offer.node))
    }

    /// What the other part of a case of two offers to the part at `index`.
    ///
    /// # Errors
    /// When it offers nothing, or something else.
    pub fn of_other<T: DeserializeOwned>(offers: &[Self], index: u32) -> Result<T, Reason> {
        let missing = || Reason::new(Cause::Protocol, "the other part is not among the peers");
        let other = offers.iter().find(|offer| offer.index != index).ok_or_else(missing)?;
        T::deserialize(&other.data).map_err(|error| {
            Reason::new(Cause::Protocol, format!("cannot parse the offer of the {}: {error}", other.part))
        })
    }
}
