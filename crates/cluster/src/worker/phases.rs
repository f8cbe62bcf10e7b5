//! Takes one part through its phases, and reads probes around the measurement.

use std::sync::mpsc::Receiver;
use std::time::Duration;

use seatrial_bench::{Offer, Part, Prepared, Registry, Running};
use seatrial_model::{
    AgreedStart, Case, Cause, Evidence, Fact, LogLine, Nanos, Phase, ProbeReading, ProbeReadings, Reason,
};
use seatrial_sys::clock;
use seatrial_sys::probe::{Difference, Line, Watch, probe};
use seatrial_sys::root::SysRoot;
use serde_json::json;

use super::control::WorkerOrder;
use super::outbox::Outbox;
use super::phase_stop::PhaseStop;
use super::sink::PhaseSink;
use crate::message::FromWorker;

pub(super) struct Task {
    pub(super) case: Box<Case>,
    pub(super) place: u32,
    pub(super) trial: u32,
}

/// Runs the part as ordered until `Finish`.
pub(super) fn serve(
    registry: &Registry,
    task: &Task,
    orders: &Receiver<WorkerOrder>,
    phase_stop: PhaseStop,
    outbox: &mut Outbox,
) -> Result<(), Reason> {
    let case = &*task.case;
    let protocol = |text: String| Reason::new(Cause::Protocol, text);
    let bench = registry
        .find(&case.bench)
        .ok_or_else(|| protocol(format!("this build has no benchmark '{}'", case.bench)))?;
    let place =
        case.place(task.place).ok_or_else(|| protocol(format!("{} has no place {}", case.id, task.place)))?;
    tracing::debug!(case = %case.id, part = place.part, index = place.index, trial = task.trial, "worker starts");
    let check = if case.origin.liveness_check { (bench.liveness_check)(case, place) } else { None };
    let mut stage = Stage::New(check.unwrap_or_else(|| bench.part(case, place)));
    let probes = if case.has_probes() { bench.about.probes } else { &[] };
    let mut served = Served { evidence: Evidence::new(), probes, phase_stop, outbox };
    // The channel ends only with the control thread, which ends the process.
    while let Ok(order) = orders.recv() {
        stage = match (order, stage) {
            (WorkerOrder::Prepare, Stage::New(part)) => served.prepare(part)?,
            (WorkerOrder::Connect(offers), Stage::Prepared(part)) => served.connect(part, &offers)?,
            (WorkerOrder::Run(phase, span, at), Stage::Running(mut part)) => {
                served.run(&mut *part, phase, span, at)?;
                Stage::Running(part)
            }
            (WorkerOrder::Verify, Stage::Running(mut part)) => {
                served.verify(&mut *part)?;
                Stage::Running(part)
            }
            (WorkerOrder::Finish, _) => break,
            (_, stage) => {
                return Err(protocol(format!("the order does not fit a part that is {}", stage.name())));
            }
        }
    }
    Ok(())
}

enum Stage {
    New(Part),
    Prepared(Prepared),
    Running(Box<dyn Running>),
}

impl Stage {
    fn name(&self) -> &'static str {
        match self {
            Self::New(_) => "new",
            Self::Prepared(_) => "prepared",
            Self::Running(_) => "running",
        }
    }
}

struct Served<'a> {
    evidence: Evidence,
    probes: &'static [&'static str],
    phase_stop: PhaseStop,
    outbox: &'a mut Outbox,
}

impl Served<'_> {
    fn prepare(&mut self, part: Part) -> Result<Stage, Reason> {
        let prepared = part.prepare()?;
        self.outbox.send(&FromWorker::Prepared { offer: prepared.offer().clone() })?;
        Ok(Stage::Prepared(prepared))
    }

    fn connect(&mut self, part: Prepared, offers: &[Offer]) -> Result<Stage, Reason> {
        let running = part.connect(offers)?;
        self.outbox.send(&FromWorker::Connected)?;
        Ok(Stage::Running(running))
    }

    fn run(
        &mut self,
        part: &mut dyn Running,
        phase: Phase,
        span: Duration,
        at: Option<Nanos>,
    ) -> Result<(), Reason> {
        let watched = (phase == Phase::Measure).then(|| watch(self.probes));
        if let Some(at) = at {
            AgreedStart(at.get()).put(&mut self.evidence);
            clock::sleep_until_ns(at.get());
            // On the node's clock; the controller computes the skew, with the offsets of the clocks.
            self.evidence.insert("began_ns".to_owned(), json!(clock::now_ns()));
        }
        let mut sink = PhaseSink::new(phase, &mut self.evidence, self.outbox);
        part.run(phase, &self.phase_stop.start(span), &mut sink)?;
        // Probes are read before the samples are sent, so that sending is not counted.
        let differences = watched.map(end);
        sink.finish()?;
        let Some(differences) = differences else { return self.outbox.send(&FromWorker::WarmedUp) };
        if !self.probes.is_empty() {
            readings(differences).put(&mut self.evidence);
        }
        self.outbox.send(&FromWorker::Measured)
    }

    fn verify(&mut self, part: &mut dyn Running) -> Result<(), Reason> {
        let integrity = part.verify()?;
        self.evidence.extend(part.late_evidence());
        self.outbox.send(&FromWorker::Verified { integrity, evidence: self.evidence.clone() })
    }
}

/// A probe by id, and its watch; `None` when this build lacks it.
type Watched = (&'static str, Option<Box<dyn Watch>>);

/// Starts the probes, the first of `ids` last: the first probes are read nearest to the phase, before and after.
fn watch(ids: &[&'static str]) -> Vec<Watched> {
    let root = SysRoot::live();
    let mut watched: Vec<Watched> =
        ids.iter().rev().map(|id| (*id, probe(id).map(|probe| probe.watch(&root)))).collect();
    watched.reverse();
    watched
}

/// Difference of each probe, by the order of ids.
fn end(watched: Vec<Watched>) -> Vec<(&'static str, Difference)> {
    let end = |(id, watch): Watched| (id, watch.map_or_else(|| absent(id), Watch::end));
    watched.into_iter().map(end).collect()
}

fn absent(id: &str) -> Difference {
    Difference { unreadable: vec![format!("this build has no probe '{id}'")], ..Difference::default() }
}

fn readings(differences: Vec<(&'static str, Difference)>) -> ProbeReadings {
    ProbeReadings(differences.into_iter().map(|(id, found)| (id.to_owned(), reading(found))).collect())
}

fn reading(difference: Difference) -> ProbeReading {
    let Difference { counts, levels, lines, lines_left_out, backwards, unreadable } = difference;
    let line = |line: Line| LogLine {
        sequence: line.sequence,
        level: line.level_name().to_owned(),
        text: line.text,
    };
    ProbeReading {
        counts,
        levels,
        lines: lines.into_iter().map(line).collect(),
        lines_left_out,
        backwards: backwards.into_iter().collect(),
        unreadable: unreadable.into_iter().collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_stand_with_their_level_and_only_where_there_are_some() {
        let lines = vec![Line { sequence: 7, level: 3, text: "disk on fire".to_owned() }];
        let document = |difference| serde_json::to_value(reading(difference)).expect("JSON");
        let found = document(Difference { lines, lines_left_out: 2, ..Difference::default() });
        assert_eq!(found["lines"][0], json!({ "sequence": 7, "level": "err", "text": "disk on fire" }));
        assert_eq!(found["lines_left_out"], 2);
        assert!(document(Difference::default()).get("lines").is_none());
    }

    #[test]
    fn every_probe_asked_for_is_told_in_its_order() {
        let found = end(watch(&["steal", "no_such_probe", "vmstat"]));
        let ids: Vec<_> = found.iter().map(|(id, _)| *id).collect();
        assert_eq!(ids, ["steal", "no_such_probe", "vmstat"]);
        let readings = readings(found).0;
        let why = readings["no_such_probe"].unreadable.first().map(String::as_str);
        assert_eq!(why, Some("this build has no probe 'no_such_probe'"));
        assert!(!readings["vmstat"].counts.is_empty());
    }
}
