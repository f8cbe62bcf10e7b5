//! A case on this machine, taken through its phases in this process, which is the worker.

use std::time::Duration;

use seatrial_bench::testing::{Kept, connected};
use seatrial_bench::{Benchmark, Stop, core_bindings, find};
use seatrial_model::machine::{Cpu, CpuThread, Machine};
use seatrial_model::{Case, Integrity, Measures, Nanos, Phase, Reason, Site, SiteNode};

use crate::installed::Installed;

/// Time of a phase.
const SPAN: Duration = Duration::from_millis(150);

/// Time of a job to start and to end; processors may be busy with other tests.
const PREPARE: Nanos = Nanos::secs(60);

pub fn benchmark() -> Benchmark {
    *find(seatrial_mpi::BENCHMARKS, "mpi.point_to_point").expect("the benchmark")
}

/// The CPUs that this process may use, as cores.
fn machine() -> Machine {
    let cpus = seatrial_sys::affinity::allowed().expect("an affinity");
    let thread = |id: u32| CpuThread {
        id,
        core: Some(id),
        node: Some(0),
        online: true,
        allowed: true,
        ..CpuThread::default()
    };
    Machine {
        cpu: Cpu { threads: cpus.iter().map(thread).collect(), ..Cpu::default() },
        ..Machine::default()
    }
}

/// The case with these parameters. Tests run beside each other and each pins its ranks to the first cores, so most are not
/// pinned.
pub fn case(params: &[(&str, &str)], of: Option<&Installed>) -> Result<Case, Reason> {
    let benchmark = benchmark();
    let mut all = benchmark.about.defaults();
    let of = of.map(|of| [("library", of.library.display()), ("launcher", of.launcher.display())]);
    let of = of.into_iter().flatten().map(|(name, path)| (name, path.to_string()));
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
    let (benchmark, place) = (benchmark(), &case.places[0]);
    let mut running = connected(benchmark.part(case, place))?;
    let mut kept = Kept::default();
    running.run(Phase::WarmUp, &Stop::after(SPAN), &mut Kept::default())?;
    let span = if case.params.text("like") == Ok("osu") { Duration::from_secs(60) } else { SPAN };
    running.run(Phase::Measure, &Stop::after(span), &mut kept)?;
    let integrity = running.verify()?;
    drop(running);
    let copy = Kept { samples: kept.samples.clone(), evidence: kept.evidence.clone() };
    let record = copy.record(place, integrity.clone());
    let measures = benchmark.reduce(case, &[record])?;
    Ok(Trial { measures, integrity, kept })
}

/// How many cores there are for ranks.
pub fn cores() -> usize {
    core_bindings(&machine()).expect("cores").len()
}
