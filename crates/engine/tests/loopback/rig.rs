//! Runs toys through the engine.

use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use seatrial_cluster::{Fleet, Launcher, LocalLauncher};
use seatrial_engine::{Deadlines, Finished, Plan, PlanInputs, RunError, Runner, Study};
use seatrial_model::profile::Test;
use seatrial_model::record::CaseRecord;
use seatrial_model::{Event, Nanos, Parts, Site, SiteNode};

use crate::BUILD;
use crate::toy::REGISTRY;

/// Far more than anything here takes.
const PATIENCE: Duration = Duration::from_secs(120);

/// A test for `bench` with `params`, written `name=v1,v2`.
pub fn test(bench: &str, params: &[&str]) -> Test {
    let split = |text: &&str| {
        let (name, values) = text.split_once('=').expect("name=values");
        (name.to_owned(), values.split(',').map(str::to_owned).collect())
    };
    let params: BTreeMap<String, Vec<String>> = params.iter().map(split).collect();
    let about = REGISTRY.find(bench).expect("a toy").about;
    let is_pair = matches!(about.parts, Parts::Two(_) | Parts::OneWay(_));
    Test {
        id: bench.to_owned(),
        bench: bench.to_owned(),
        params,
        pattern: is_pair.then(|| "alone".to_owned()),
        ..Test::default()
    }
}

pub fn fleet() -> Box<dyn Fleet> {
    LocalLauncher::new(BUILD).node("here").hello_within(PATIENCE).launch().expect("an agent")
}

/// Runs `tests` on `fleet`; every event goes to `watch` first.
pub fn run(
    fleet: &mut dyn Fleet,
    tests: &[Test],
    cancel: &AtomicBool,
    mut watch: impl FnMut(Event) -> Result<(), Box<dyn std::error::Error + Send + Sync>>,
) -> Result<Finished, RunError> {
    let site = Site { nodes: fleet.agents().iter().map(SiteNode::from).collect() };
    let plan = Plan::new(tests, &REGISTRY, PlanInputs::of(&site)).expect("a plan");
    // Far more than anything here takes: nothing waits until then.
    let long = Nanos::secs(120);
    let deadlines = Deadlines { grace: long, kill: long };
    let mut runner = Runner { cancel, deadlines, ..Runner::new(REGISTRY, &site, fleet, &mut watch) };
    runner.run(Study::new(plan.cases), Vec::new())
}

/// Runs one test to its only record.
pub fn one(bench: &str, params: &[&str]) -> CaseRecord {
    let mut fleet = fleet();
    let finished = run(fleet.as_mut(), &[test(bench, params)], &AtomicBool::new(false), |_| Ok(()));
    let mut records = finished.expect("finishes").records;
    assert_eq!(records.len(), 1);
    records.remove(0)
}

/// Worker processes of this test binary, by pid: none may be left.
pub fn workers() -> Vec<u32> {
    let own = std::process::id();
    let mut found = Vec::new();
    for entry in std::fs::read_dir("/proc").expect("/proc").flatten() {
        let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse::<u32>().ok()) else {
            continue;
        };
        let line = std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
        let mut words = line.split(|byte| *byte == 0);
        let same = words.next().is_some_and(|program| program.windows(8).any(|part| part == b"loopback"));
        if pid != own && same && words.next() == Some(b"worker") {
            found.push(pid);
        }
    }
    found
}
