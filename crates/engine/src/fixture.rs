//! Round trips between scripted nodes, and runs on them, for tests. Their clock moves only when somebody waits.

use seatrial_bench::Registry;
use seatrial_cluster::{Script, ScriptedFleet};
use seatrial_model::profile::Test;
use seatrial_model::record::CaseRecord;
use seatrial_model::{Case, Event, Nanos, Params, Quantity, Sample, Site, Unit};

use crate::{Plan, PlanInputs, Runner, Study};

/// Nodes `n1` and on, of one core each.
pub fn site(count: usize) -> Site {
    Site { nodes: (1..=count).map(|at| seatrial_testkit::node(&format!("n{at}"), 1)).collect() }
}

pub fn test(pattern: &str, trials: &str, most: &str) -> Test {
    let params = [("trials", trials), ("max_trials", most)];
    Test {
        id: "net.rr".to_owned(),
        bench: "net.rr".to_owned(),
        params: params.map(|(name, value)| (name.to_owned(), vec![value.to_owned()])).into(),
        pattern: Some(pattern.to_owned()),
        ..Test::default()
    }
}

pub fn plan(site: &Site, pattern: &str, trials: &str, most: &str) -> Vec<Case> {
    let test = test(pattern, trials, most);
    Plan::new(&[test], &seatrial_registry::REGISTRY, PlanInputs::of(site)).expect("a plan").cases
}

/// Six round trips of so many nanoseconds, one slice of the measuring time each.
pub fn round_trips(nanos: [u64; 6]) -> Script {
    let sample = |(at, nanos): (u64, u64)| {
        let span = (Nanos::millis(at), Nanos::millis(at + 1));
        let amount = Quantity::new(nanos as f64, Unit::Nanosecond).expect("finite");
        Sample::new("median", Params::default(), span, amount)
    };
    let counted = serde_json::json!({ "buckets": [[nanos[0], 1000]], "max_ns": nanos[0] });
    let evidence = [("round_trips".to_owned(), counted)].into();
    Script { evidence, ..Script::of((0..6).zip(nanos).map(sample).collect()) }
}

pub fn steady() -> Script {
    round_trips([9000; 6])
}

/// What came of a run.
pub struct Ran {
    pub records: Vec<CaseRecord>,
    pub rounds: Vec<Vec<Case>>,
    pub notes: Vec<String>,
}

/// Runs `study`, of whose cases `done` have records.
pub fn run(
    registry: Registry,
    site: &Site,
    mut fleet: ScriptedFleet,
    study: Study<'_>,
    done: Vec<CaseRecord>,
) -> Ran {
    let (mut rounds, mut notes) = (Vec::new(), Vec::new());
    let mut watch = |event: Event| {
        match event {
            Event::RoundPlanned { cases, .. } => rounds.push(cases),
            Event::Note { text, .. } => notes.push(text),
            _ => {}
        }
        Ok(())
    };
    let finished = Runner::new(registry, site, &mut fleet, &mut watch).run(study, done).expect("runs");
    Ran { records: finished.records, rounds, notes }
}
