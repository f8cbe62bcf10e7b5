//! A case on this machine, taken through its phases in this process, which is the worker.

use std::time::Duration;

use seatrial_bench::testing::{Kept, connected};
use seatrial_bench::{Benchmark, Stop, core_bindings, find};
use seatrial_model::machine::{Cpu, CpuThread, Machine};
use seatrial_model::{Case, Cause, Integrity, Measures, Nanos, Phase, Reason, Site, SiteNode};

use crate::installed::Installed;

/// Time of a phase.
const SPAN: Duration = Duration::from_millis(150);

/// The time that is asked for; short turns end soon where ranks wait for cores.
const TIME: &str = "50ms";

/// How often a case is tried on a busy machine.
pub const TRIES: usize = 4;

/// Time of a job to start and to end; processors may be busy with other tests.
const PREPARE: Nanos = Nanos::secs(60);

pub const POINT_TO_POINT: &str = "mpi.point_to_point";
pub const COLLECTIVE: &str = "mpi.collective";
pub const STARTUP: &str = "mpi.startup";

pub fn benchmark(id: &str) -> Benchmark {
    *find(seatrial_mpi::BENCHMARKS, id).expect("the benchmark")
}

/// The CPUs that this process may use, as cores.
fn machine() -> Machine {
    let cpus = seatrial_sys::affinity::allowed().expect("an affinity");
    let thread = |id| CpuThread { node: Some(0), ..seatrial_testkit::thread(id) };
    Machine {
        cpu: Cpu { threads: cpus.iter().map(thread).collect(), ..Cpu::default() },
        ..Machine::default()
    }
}

/// The case of `mpi.point_to_point` with these parameters.
pub fn case(params: &[(&str, &str)], of: Option<&Installed>) -> Result<Case, Reason> {
    case_of(POINT_TO_POINT, params, of)
}

/// The case of a benchmark with these parameters. Its ranks are not pinned: other tests use the same cores, and ranks that
/// poll on two cores by turns would never meet.
pub fn case_of(id: &str, params: &[(&str, &str)], of: Option<&Installed>) -> Result<Case, Reason> {
    let mut case = pinned_case(id, params, of)?;
    case.places[0].bindings.clear();
    Ok(case)
}

/// The case as planned.
pub fn pinned_case(id: &str, params: &[(&str, &str)], of: Option<&Installed>) -> Result<Case, Reason> {
    let benchmark = benchmark(id);
    let mut all = benchmark.about.defaults();
    let of = of.map(|of| [("library", of.library.display()), ("launcher", of.launcher.display())]);
    let of = of.into_iter().flatten().map(|(name, path)| (name, path.to_string()));
    let of = std::iter::once(("time", TIME.to_owned())).chain(of);
    let typed = params.iter().map(|(name, value)| (*name, (*value).to_owned()));
    for (name, value) in of.chain(typed) {
        let spec = benchmark.about.params.iter().find(|spec| spec.name == name).expect("a parameter");
        all.set(name, spec.parse(&value).expect("a value"));
    }
    let site = Site { nodes: vec![SiteNode::new("n1", machine())] };
    let mut case = benchmark.plan(&all, &site)?.remove(0);
    case.budget.prepare = PREPARE;
    Ok(case)
}

/// What a trial of the case says.
pub struct Trial {
    pub measures: Measures,
    pub integrity: Integrity,
    pub kept: Kept,
}

pub fn trial(case: &Case) -> Result<Trial, Reason> {
    let (benchmark, place) = (benchmark(&case.bench), &case.places[0]);
    let mut running = connected(benchmark.part(case, place))?;
    let mut kept = Kept::default();
    running.run(Phase::WarmUp, &Stop::after(SPAN), &mut Kept::default())?;
    let span = if case.params.text("like") == Ok("osu") { Duration::from_secs(60) } else { SPAN };
    running.run(Phase::Measure, &Stop::after(span), &mut kept)?;
    let integrity = running.verify()?;
    kept.evidence.extend(running.late_evidence());
    drop(running);
    let record = kept.clone().record(place, integrity.clone());
    let measures = benchmark.reduce(case, &[record])?;
    Ok(Trial { measures, integrity, kept })
}

impl Trial {
    pub fn is_verified(&self) -> bool {
        matches!(self.integrity, Integrity::Verified { checked: 1.. })
    }
}

/// The trial of a case that can be measured. Beside the load of other programs ranks that poll may hinder each other for
/// longer than the time, which is told and tried again.
#[track_caller]
pub fn measured(case: &Case) -> Trial {
    let mut reasons = Vec::new();
    for _ in 0..TRIES {
        match trial(case) {
            Ok(trial) => return trial,
            Err(reason) => {
                let is_busy = matches!(reason.cause, Cause::TooShort | Cause::Hang);
                reasons.push(reason);
                if !is_busy {
                    break;
                }
            }
        }
    }
    panic!("{}: {reasons:?}", case.id)
}

/// How many cores there are for ranks.
pub fn cores() -> usize {
    core_bindings(&machine()).expect("cores").len()
}
