//! Load sweeps: cases that differ in load alone, and what follows when a load fails.
//!
//! When a load fails, larger loads will most likely fail too, and a failure is expensive: a hang lasts until the
//! deadline of its phase. So the demanded cases above a failed load are tried only while failures have cost no more
//! than the estimated time of the sweep; afterwards the highest working load is searched by bisection.

mod back_off;
#[cfg(test)]
mod tests;

use std::collections::HashMap;

use seatrial_bench::Registry;
use seatrial_model::record::CaseRecord;
use seatrial_model::{Case, CaseId, Cause, Kind, Nanos, Origin, Outcome, Params, Reason, Value};

pub use back_off::BackOff;

/// The time that failures may always cost, however short the sweep.
const LEAST_ALLOWANCE: Nanos = Nanos::secs(120);

#[derive(Clone, Debug)]
pub(crate) struct LoadSweep {
    axis: &'static str,
    /// The smallest value of the parameter.
    least: u64,
    like: Case,
}

#[derive(Clone, Debug, Default)]
pub struct LoadSweeps {
    sweeps: Vec<LoadSweep>,
    /// The load sweep and the load of every demanded case in a sweep.
    places: HashMap<CaseId, (usize, u64)>,
    /// Load sweep by the key of a record or case.
    by_key: HashMap<Key, usize>,
    /// The estimated seconds of each demanded case.
    estimates: HashMap<CaseId, f64>,
    /// The seconds that failures may cost before cases with larger loads are left out.
    allowance: f64,
}

/// Group, benchmark, nodes, subject, and every parameter but the load.
type Key = (String, String, Vec<String>, String, String);

impl LoadSweeps {
    /// The load sweeps among `planned`: over the first parameter that is a load and has several values. Cases that
    /// share links on purpose and cases of a study that repeats them are in no load sweep.
    pub fn new(planned: &[Case], registry: Registry) -> Self {
        let mut axes: HashMap<(&str, &str), (&'static str, u64)> = HashMap::new();
        let mut loads: HashMap<(&str, &str, &'static str), Value> = HashMap::new();
        for case in planned.iter().filter(|case| stands_alone(&case.origin)) {
            let Some(bench) = registry.find(&case.bench) else { continue };
            for spec in bench.about.params {
                let (Kind::Load(least, _), Some(value)) = (spec.kind, case.params.get(spec.name)) else {
                    continue;
                };
                let first =
                    loads.entry((&case.group, &case.bench, spec.name)).or_insert_with(|| value.clone());
                let position = |name: &str| bench.about.params.iter().position(|spec| spec.name == name);
                if first != value {
                    let axis = axes.entry((&case.group, &case.bench)).or_insert((spec.name, least));
                    if position(spec.name) < position(axis.0) {
                        *axis = (spec.name, least);
                    }
                }
            }
        }
        let mut found = Self::default();
        for case in planned.iter().filter(|case| stands_alone(&case.origin)) {
            let Some((axis, least)) = axes.get(&(case.group.as_str(), case.bench.as_str())) else { continue };
            let Ok(load) = case.params.count(axis) else { continue };
            let key = key(&case.group, &case.bench, &case.nodes, case.subject.as_str(), &case.params, axis);
            let at = *found.by_key.entry(key).or_insert_with(|| {
                found.sweeps.push(LoadSweep { axis, least: *least, like: case.clone() });
                found.sweeps.len() - 1
            });
            found.places.insert(case.id.clone(), (at, load));
            found.estimates.insert(case.id.clone(), case.estimate().as_secs());
        }
        found.allowance = found.estimates.values().sum::<f64>().max(LEAST_ALLOWANCE.as_secs());
        found
    }

    /// Why `case` is left out after the records `done`, if so: a smaller load failed, and failures have cost too much
    /// time. Depends on the records alone, so that a resumed run decides the same.
    pub fn leave_out(&self, case: &Case, done: &[CaseRecord]) -> Option<Reason> {
        let (at, load) = *self.places.get(&case.id)?;
        let mut below: Option<(u64, &CaseRecord)> = None;
        let mut cost = 0.0;
        for record in done.iter().filter(|record| record.outcome == Outcome::Failed) {
            let Some((of, failed)) = self.place_of(record) else { continue };
            cost += record.seconds - self.estimates.get(&record.case).copied().unwrap_or_default();
            if of == at && failed < load && below.is_none_or(|(least, _)| failed < least) {
                below = Some((failed, record));
            }
        }
        let (failed, _) = below.filter(|_| cost > self.allowance)?;
        let axis = self.sweeps[at].axis;
        let text = format!(
            "not tried: {axis}={failed} failed, and failures have taken {cost:.0} s more than planned for \
             their cases; measure it by itself with -p {axis}={load}"
        );
        Some(Reason::new(Cause::NotTried, text))
    }

    fn place_of(&self, record: &CaseRecord) -> Option<(usize, u64)> {
        if let Some(place) = self.places.get(&record.case) {
            return Some(*place);
        }
        let axis = record.origin.load_sweep.as_deref()?;
        let key =
            key(&record.group, &record.bench, &record.nodes, record.subject.as_str(), &record.params, axis);
        Some((*self.by_key.get(&key)?, record.params.count(axis).ok()?))
    }
}

fn stands_alone(origin: &Origin) -> bool {
    !origin.is_concurrent() && !origin.is_added()
}

fn key(group: &str, bench: &str, nodes: &[String], subject: &str, params: &Params, axis: &str) -> Key {
    let others: Params = params
        .iter()
        .filter(|(name, _)| *name != axis)
        .map(|(name, it)| (name.to_owned(), it.clone()))
        .collect();
    (group.to_owned(), bench.to_owned(), nodes.to_vec(), subject.to_owned(), others.to_string())
}
