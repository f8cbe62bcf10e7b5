//! Both ends of a case in this process.

use std::collections::BTreeMap;
use std::time::Duration;

use seatrial_bench::testing::{Enter, at_once, prepare_all};
use seatrial_bench::{Offer, Running, Sink, Stop};
use seatrial_model::machine::{Cpu, CpuThread, Machine};
use seatrial_model::{Case, Integrity, Params, PartRecord, Phase, Reason, Sample, Site, SiteNode};
use seatrial_net::udp_stream::BENCHMARK;
use serde_json::Value;

const PATIENCE: Duration = Duration::from_secs(180);

#[derive(Default)]
pub struct Kept {
    pub samples: Vec<Sample>,
    pub facts: BTreeMap<String, Value>,
}

impl Sink for Kept {
    fn sample(&mut self, sample: Sample) {
        self.samples.push(sample);
    }

    fn evidence(&mut self, name: &str, value: Value) {
        self.facts.insert(name.to_owned(), value);
    }
}

impl Kept {
    pub fn flow(&self, flow: usize, name: &str) -> u64 {
        let value = &self.facts["received"]["flows"][flow][name];
        value.as_u64().unwrap_or_else(|| panic!("{name} of flow {flow} is {value}"))
    }

    pub fn record(self, part: &str, index: u32, integrity: Integrity) -> PartRecord {
        PartRecord {
            part: part.to_owned(),
            index,
            node: format!("n{index}"),
            trial: 0,
            samples: self.samples,
            integrity,
            evidence: self.facts,
        }
    }
}

/// Room for seconds of data, so that a receiver without a CPU loses nothing.
pub const ROOM: (&str, &str) = ("buffer", "64 MiB");

/// A case between two nodes, or of one node with itself. Unpinned: the machine may have other CPUs than the nodes.
pub fn case(nodes: &[&str], changed: &[(&str, &str)]) -> Case {
    let about = BENCHMARK.about;
    let mut params: Params = about.defaults();
    let usual = [("affinity", "none"), ("message", "100 B"), ("rate", "0.8 Mbit/s"), ("threads", "1"), ROOM];
    for (name, value) in usual.iter().chain(changed) {
        let spec = about.param(name).unwrap_or_else(|| panic!("no parameter {name}"));
        params.set(name, spec.parse(value).expect("a value"));
    }
    let thread = |id| CpuThread { id, core: Some(id), online: true, allowed: true, ..CpuThread::default() };
    let cpu = Cpu { threads: vec![thread(0), thread(1)], ..Cpu::default() };
    let machine = Machine { cpu, ..Machine::default() };
    let node = |name: &&str| SiteNode::new(*name, machine.clone());
    let site = Site { nodes: nodes.iter().map(node).collect() };
    BENCHMARK.plan(&params, &site).expect("a plan").remove(0)
}

/// The two parts of a case, and their namespaces, which the working threads enter.
pub struct Ends<'a> {
    pub parts: Vec<Box<dyn Running>>,
    enter: [&'a Enter<'a>; 2],
}

impl<'a> Ends<'a> {
    pub fn of(
        case: &Case,
        enter: [&'a Enter<'a>; 2],
        change: impl FnOnce(&mut [Offer]),
    ) -> Result<Self, Reason> {
        let (parts, mut offers) =
            prepare_all(case.places.iter().map(|place| BENCHMARK.part(case, place)), &enter)?;
        change(&mut offers);
        let parts =
            at_once(parts, &enter, |part| part.connect(&offers)).into_iter().collect::<Result<_, _>>()?;
        Ok(Self { parts, enter })
    }

    pub fn here(case: &Case) -> Result<Ends<'static>, Reason> {
        Ends::of(case, [&|| {}, &|| {}], |_| {})
    }

    pub fn run(&mut self, phase: Phase, span: Duration) -> [(Kept, Result<(), Reason>); 2] {
        self.run_until(phase, || Stop::after(span))
    }

    pub fn run_until(
        &mut self,
        phase: Phase,
        stop: impl Fn() -> Stop + Sync,
    ) -> [(Kept, Result<(), Reason>); 2] {
        let ends = at_once(&mut self.parts, &self.enter, |part| {
            let mut kept = Kept::default();
            let ended = part.run(phase, &stop(), &mut kept);
            (kept, ended)
        });
        ends.try_into().ok().expect("two ends")
    }

    pub fn measure(&mut self, span: Duration) -> [Kept; 2] {
        self.measure_while(|| std::thread::sleep(span)).0
    }

    /// Measures until `meanwhile` returns. Ends wait for each other for a phase and some seconds more, so this phase
    /// may last long, however little CPU time they get.
    pub fn measure_while<T>(&mut self, meanwhile: impl FnOnce() -> T) -> ([Kept; 2], T) {
        let stop = Stop::after(PATIENCE);
        std::thread::scope(|scope| {
            let running = scope.spawn(|| self.run_until(Phase::Measure, || stop.clone()));
            let came = meanwhile();
            stop.raise();
            let kept = running.join().expect("joined").map(|(kept, ended)| {
                ended.expect("runs to its end");
                kept
            });
            (kept, came)
        })
    }

    /// Measures a case with both ends on this machine, again until `is_enough`, as other programs may take the CPUs
    /// for a whole measurement.
    pub fn measured(
        case: &Case,
        span: Duration,
        is_enough: impl Fn(&[Kept; 2]) -> bool,
    ) -> (Ends<'static>, [Kept; 2]) {
        for _ in 0..40 {
            let mut ends = Ends::here(case).expect("connected");
            let kept = ends.measure(span);
            if is_enough(&kept) {
                return (ends, kept);
            }
        }
        panic!("no measurement of 40 was enough");
    }
}
