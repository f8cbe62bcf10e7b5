//! Runs a case in this process.

use std::path::Path;
use std::time::Duration;

use seatrial_model::machine::Machine;
use seatrial_model::{Case, Cause, Integrity, Measures, Params, PartRecord, Phase, Reason, Site, SiteNode};

use crate::file::BENCHMARK;
use seatrial_bench::Stop;
use seatrial_bench::testing::{Kept, connected};

pub fn params(changed: &[(&str, &str)]) -> Params {
    let about = BENCHMARK.about;

    seatrial_testkit::params(about, changed)
}

pub fn machine() -> Machine {
    seatrial_testkit::node("n1", 1).machine
}

pub fn case(directory: &Path, changed: &[(&str, &str)]) -> Case {
    let mut params = params(&[("size", "2 MiB"), ("block", "16 KiB"), ("time", "100 ms")]);
    let about = BENCHMARK.about;
    params.set("directory", directory.to_str().expect("UTF-8"));
    for (name, value) in changed {
        params.set(name, about.param(name).expect("a parameter").parse(value).expect("a value"));
    }
    let site = Site { nodes: vec![SiteNode::new("n1", machine())] };
    let mut case = BENCHMARK.plan(&params, &site).expect("a plan").remove(0);
    case.places[0].bindings.clear();
    case
}

pub fn played(case: &Case) -> Result<PartRecord, Reason> {
    let place = &case.places[0];
    let mut part = connected(BENCHMARK.part(case, place))?;
    part.run(Phase::WarmUp, &Stop::after(Duration::from_millis(20)), &mut Kept::default())?;
    let mut kept = Kept::default();
    part.run(Phase::Measure, &Stop::after(Duration::from(case.budget.measure)), &mut kept)?;
    let integrity = part.verify()?;
    Ok(kept.record(place, integrity))
}

/// Record and measures of a trial. On a busy machine a thread may get no CPU during the short measuring time; then
/// the trial is repeated.
pub fn reduced(case: &Case) -> Result<(PartRecord, Measures), Reason> {
    for _ in 0..100 {
        let record = played(case)?;
        assert!(matches!(record.integrity, Integrity::Verified { checked: 1.. }), "{:?}", record.integrity);
        match BENCHMARK.reduce(case, std::slice::from_ref(&record)) {
            Err(reason) if reason.cause == Cause::TooShort => {}
            measures => return Ok((record, measures?)),
        }
    }
    Err(Reason::new(Cause::TooShort, "a hundred trials in which not all threads worked at any time"))
}

/// A folder in the working tree, which is usually not in memory.
pub fn folder() -> tempfile::TempDir {
    tempfile::tempdir_in(env!("CARGO_MANIFEST_DIR")).expect("a folder")
}
