//! One part taken through its phases, with the probes read around the one that counts.

use std::collections::BTreeMap;
use std::sync::mpsc::Receiver;
use std::time::Duration;

use seatrial_bench::{Offer, Part, Registry};
use seatrial_model::{Case, Cause, Evidence, Phase, Reason};
use seatrial_sys::probe::{Counters, Difference, probe};
use seatrial_sys::root::SysRoot;
use serde_json::{Value, json};

use super::brake::Brake;
use super::control::Order;
use super::outbox::Outbox;
use super::sink::PhaseSink;
use crate::message::FromWorker;

/// What the worker is to be.
pub(super) struct Task {
    pub(super) case: Box<Case>,
    pub(super) place: u32,
    pub(super) trial: u32,
}

/// Runs the part as ordered until `Finish`.
///
/// # Errors
/// Why the part cannot go on.
pub(super) fn serve(
    registry: &Registry,
    task: &Task,
    orders: &Receiver<Order>,
    brake: Brake,
    outbox: &mut Outbox,
) -> Result<(), Reason> {
    let case = &*task.case;
    let protocol = |text: String| Reason::new(Cause::Protocol, text);
    let bench = registry
        .find(&case.bench)
        .ok_or_else(|| protocol(format!("the worker's build has no benchmark '{}'", case.bench)))?;
    let place =
        usize::try_from(task.place).ok().and_then(|index| case.places.get(index)).ok_or_else(|| {
            protocol(format!("{} has no place {}, it has {}", case.id, task.place, case.places.len()))
        })?;
    tracing::debug!(case = %case.id, part = place.part, index = place.index, trial = task.trial, "worker starts");
    let mut part = bench.part(case, place)?;
    let mut served = Served { evidence: Evidence::new(), probes: bench.about().probes, brake, outbox };
    // The channel ends only with the control thread, which takes the process with it.
    while let Ok(order) = orders.recv() {
        match order {
            Order::Prepare => served.prepare(&mut *part)?,
            Order::Connect(offers) => served.connect(&mut *part, &offers)?,
            Order::Run(phase, span) => served.run(&mut *part, phase, span)?,
            Order::Verify => served.verify(&mut *part)?,
            Order::Finish => break,
        }
    }
    Ok(())
}

struct Served<'a> {
    evidence: Evidence,
    probes: &'static [&'static str],
    brake: Brake,
    outbox: &'a mut Outbox,
}

impl Served<'_> {
    fn prepare(&mut self, part: &mut dyn Part) -> Result<(), Reason> {
        let offer = part.prepare()?;
        self.outbox.send(&FromWorker::Prepared { offer })
    }

    fn connect(&mut self, part: &mut dyn Part, offers: &[Offer]) -> Result<(), Reason> {
        part.connect(offers)?;
        self.outbox.send(&FromWorker::Connected)
    }

    fn run(&mut self, part: &mut dyn Part, phase: Phase, span: Duration) -> Result<(), Reason> {
        let before = (phase == Phase::Measure).then(|| read_probes(self.probes));
        let mut sink = PhaseSink::new(phase, &mut self.evidence, self.outbox);
        part.run(phase, &self.brake.start(span), &mut sink)?;
        // The probes come before the samples are sent, so that they see the phase and not the sending.
        let after = before.map(|before| (before, read_probes(self.probes)));
        sink.finish()?;
        let Some((before, after)) = after else { return self.outbox.send(&FromWorker::WarmedUp) };
        if !self.probes.is_empty() {
            self.evidence.insert("probes".to_owned(), differences(&before, &after));
        }
        self.outbox.send(&FromWorker::Measured)
    }

    fn verify(&mut self, part: &mut dyn Part) -> Result<(), Reason> {
        let integrity = part.verify()?;
        self.outbox.send(&FromWorker::Verified { integrity, evidence: self.evidence.clone() })
    }
}

type Readings = BTreeMap<&'static str, Counters>;

fn read_probes(ids: &[&'static str]) -> Readings {
    let root = SysRoot::live();
    let read = |id: &&'static str| (*id, probe(id).map_or_else(|| absent(id), |probe| probe.read(&root)));
    ids.iter().map(read).collect()
}

fn absent(id: &str) -> Counters {
    let mut nothing = Counters::default();
    nothing.unreadable(format_args!("this build has no probe '{id}'"));
    nothing
}

/// By probe: what was counted during the phase, and why something was not.
fn differences(before: &Readings, after: &Readings) -> Value {
    let of = |(id, after): (&&'static str, &Counters)| {
        let difference = before.get(id).map(|before| after.since(before)).unwrap_or_default();
        ((*id).to_owned(), document(&difference))
    };
    Value::Object(after.iter().map(of).collect())
}

fn document(difference: &Difference) -> Value {
    let Difference { counts, levels, backwards, unreadable } = difference;
    json!({ "counts": counts, "levels": levels, "backwards": backwards, "unreadable": unreadable })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counted(value: u64) -> Readings {
        let mut counters = Counters::default();
        counters.count("ticks", value);
        counters.level("queue", value);
        [("toy", counters)].into()
    }

    #[test]
    fn counts_are_subtracted_and_levels_kept() {
        let found = differences(&counted(5), &counted(12));
        assert_eq!(found["toy"]["counts"]["ticks"], 7);
        assert_eq!(found["toy"]["levels"]["queue"], 12);
    }

    #[test]
    fn a_probe_that_is_not_there_says_so() {
        let readings = read_probes(&["no_such_probe"]);
        let found = differences(&readings, &readings);
        let why = found["no_such_probe"]["unreadable"][0].as_str();
        assert_eq!(why, Some("this build has no probe 'no_such_probe'"));
    }
}
