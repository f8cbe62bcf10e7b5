//! For tests of benchmarks: parts taken through a trial in this process, without agent or worker.

use std::thread;
use std::time::Duration;

use seatrial_model::{Evidence, Integrity, PartPlacement, PartRecord, Reason, Sample};

use crate::{Offer, Part, Prepared, Running, Sink, Stop};

/// Keeps what a part says, and ends the phase when there are enough samples.
#[derive(Clone, Debug)]
pub struct Kept {
    /// In the order of the calls.
    pub samples: Vec<Sample>,
    pub evidence: Evidence,
    /// Raised with the sample that is `enough`, and over after a minute.
    pub stop: Stop,
    pub enough: usize,
}

impl Default for Kept {
    fn default() -> Self {
        Self::until(usize::MAX)
    }
}

impl Sink for Kept {
    fn sample(&mut self, sample: Sample) {
        self.samples.push(sample);
        if self.samples.len() >= self.enough {
            self.stop.raise();
        }
    }

    fn evidence(&mut self, name: &str, value: serde_json::Value) {
        self.evidence.insert(name.to_owned(), value);
    }
}

impl Kept {
    pub fn until(enough: usize) -> Self {
        let stop = Stop::after(Duration::from_secs(60));
        Self { samples: Vec::new(), evidence: Evidence::new(), stop, enough }
    }

    /// The record of the part at `place` in the first trial.
    pub fn record(self, place: &PartPlacement, integrity: Integrity) -> PartRecord {
        PartRecord {
            part: place.part.clone(),
            index: place.index,
            node: place.node.clone(),
            trial: 0,
            samples: self.samples,
            integrity,
            evidence: self.evidence,
        }
    }
}

/// A part without peers, ready to run.
pub fn connected(part: Part) -> Result<Box<dyn Running>, Reason> {
    part.prepare()?.connect(&[])
}

/// Where the thread of a part goes before it works, such as a network namespace.
pub type Enter<'a> = dyn Fn() + Sync + 'a;

/// Does `act` with each of `all` at once, each in a thread of its own that first goes where `enter` says, if it does.
///
/// # Panics
/// When a thread does.
pub fn at_once<T: Send, R: Send>(
    all: impl IntoIterator<Item = T>,
    enter: &[&Enter<'_>],
    act: impl Fn(T) -> R + Sync,
) -> Vec<R> {
    let act = &act;
    thread::scope(|scope| {
        let spawn = |(number, one): (usize, T)| {
            let enter = enter.get(number);
            scope.spawn(move || {
                enter.inspect(|enter| enter());
                act(one)
            })
        };
        let threads: Vec<_> = all.into_iter().enumerate().map(spawn).collect();
        threads.into_iter().map(|thread| thread.join().expect("joined")).collect()
    })
}

/// All parts of a case, prepared, with their offers.
pub fn prepare_all(
    parts: impl IntoIterator<Item = Part>,
    enter: &[&Enter<'_>],
) -> Result<(Vec<Prepared>, Vec<Offer>), Reason> {
    let parts = at_once(parts, enter, Part::prepare).into_iter().collect::<Result<Vec<_>, _>>()?;
    let offers = parts.iter().map(|part| part.offer().clone()).collect();
    Ok((parts, offers))
}

/// All parts of a case, connected with each other.
pub fn connect_all(
    parts: impl IntoIterator<Item = Part>,
    enter: &[&Enter<'_>],
) -> Result<Vec<Box<dyn Running>>, Reason> {
    let (parts, offers) = prepare_all(parts, enter)?;
    at_once(parts, enter, |part| part.connect(&offers)).into_iter().collect()
}
