//! Both ends of a case in this process.

use std::time::Duration;

pub use seatrial_bench::testing::Kept;
use seatrial_bench::testing::{Enter, at_once, prepare_all};
use seatrial_bench::{Offer, Running, Stop};
use seatrial_model::{Case, Integrity, Params, PartRecord, Phase, Reason, Site};
use seatrial_net::udp_stream::BENCHMARK;

const PATIENCE: Duration = Duration::from_secs(180);

/// What a receiver counted.
pub trait Counted {
    fn flow(&self, flow: usize, name: &str) -> u64;
}

impl Counted for Kept {
    fn flow(&self, flow: usize, name: &str) -> u64 {
        let value = &self.evidence["received"]["flows"][flow][name];
        value.as_u64().unwrap_or_else(|| panic!("{name} of flow {flow} is {value}"))
    }
}

/// The records of a sender and of its receiver, which checks the data.
pub fn records(case: &Case, [sender, receiver]: [Kept; 2], checked: Integrity) -> [PartRecord; 2] {
    let unverified = Integrity::Unverified { why: "the other end checks".to_owned() };
    [sender.record(&case.places[0], unverified), receiver.record(&case.places[1], checked)]
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
    let site = Site { nodes: nodes.iter().map(|name| seatrial_testkit::node(name, 2)).collect() };
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
        let Ok(ends) = ends.try_into() else { panic!("two ends") };
        ends
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
