//! The two parts of a benchmark, each in a network namespace of its own: what the engine does with them, on this machine.

use std::thread;
use std::time::Duration;

use seatrial_bench::{Benchmark, Error, Offer, Part, Sink, Stop, find};
use seatrial_model::machine::{Cpu, CpuThread, Machine};
use seatrial_model::{Case, Evidence, Integrity, PartRecord, Phase, Sample, Site, SiteNode};

use super::space::Pair;

/// The benchmark of this name.
pub fn bench(name: &str) -> &'static dyn Benchmark {
    find(seatrial_net::BENCHMARKS, name).expect("shipped")
}

/// A case between two nodes of so many CPUs, whose threads run where there is room.
pub fn case(name: &str, cpus: u32, changed: &[(&str, &str)]) -> Case {
    let about = bench(name).about();
    let params = seatrial_testkit::params(about, changed);
    let thread = |id| CpuThread { id, core: Some(id), online: true, allowed: true, ..CpuThread::default() };
    let cpu = Cpu { threads: (0..cpus).map(thread).collect(), ..Cpu::default() };
    let machine = Machine { cpu, ..Machine::default() };
    let nodes = ["n1", "n2"].map(|name| SiteNode::new(name, machine.clone())).to_vec();
    let mut case = bench(name).plan(&params, &Site { nodes }).expect("a plan").remove(0);
    case.places.iter_mut().for_each(|place| place.seats.clear());
    case
}

/// What a part told.
#[derive(Default)]
pub struct Kept {
    pub samples: Vec<Sample>,
    pub facts: Evidence,
}

impl Sink for Kept {
    fn sample(&mut self, sample: Sample) {
        self.samples.push(sample);
    }

    fn evidence(&mut self, name: &str, value: serde_json::Value) {
        self.facts.insert(name.to_owned(), value);
    }
}

/// Both parts of a case, connected.
pub struct Ends<'a> {
    case: &'a Case,
    pair: &'a Pair,
    parts: [Box<dyn Part>; 2],
}

impl<'a> Ends<'a> {
    /// Makes both, and lets them connect.
    pub fn connected(case: &'a Case, pair: &'a Pair) -> Result<Self, Error> {
        let bench = bench(&case.bench);
        let parts = [bench.part(case, &case.places[0])?, bench.part(case, &case.places[1])?];
        let mut ends = Self { case, pair, parts };
        let offers: Vec<Offer> = ends.each(|end| end.prepare())?.into_iter().collect();
        ends.each(|end| end.connect(&offers))?;
        Ok(ends)
    }

    /// Does something with both at once, each where it lives.
    fn each<T: Send>(
        &mut self,
        act: impl Fn(&mut dyn Part) -> Result<T, Error> + Sync,
    ) -> Result<[T; 2], Error> {
        let pair = self.pair;
        let [first, second] = &mut self.parts;
        thread::scope(|scope| {
            let act = &act;
            let one = scope.spawn(move || {
                pair.first.enter();
                act(&mut **first)
            });
            let other = scope.spawn(move || {
                pair.second.enter();
                act(&mut **second)
            });
            let [one, other] = [one, other].map(|end| end.join().expect("joined"));
            Ok([one?, other?])
        })
    }

    /// Lets both run for so long.
    pub fn run(&mut self, phase: Phase, span: Duration) -> Result<[Kept; 2], Error> {
        self.each(|end| {
            let mut kept = Kept::default();
            end.run(phase, &Stop::after(span), &mut kept).map(|()| kept)
        })
    }

    /// Lets both check their data, and makes the records of what they told.
    pub fn records(&mut self, told: [Kept; 2]) -> Result<Vec<PartRecord>, Error> {
        let checked: [Integrity; 2] = self.each(|end| end.verify())?;
        let of_both = self.case.places.iter().zip(told).zip(checked);
        Ok(of_both
            .map(|((place, kept), integrity)| PartRecord {
                part: place.part.clone(),
                index: place.index,
                node: place.node.clone(),
                trial: 0,
                samples: kept.samples,
                integrity,
                evidence: kept.facts,
            })
            .collect())
    }
}
