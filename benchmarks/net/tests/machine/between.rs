//! The two parts of a benchmark, each in its own network namespace, run as the engine runs them.

use std::time::Duration;

use seatrial_bench::testing::{Enter, Kept, at_once, connect_all};
use seatrial_bench::{Benchmark, Running, Stop, find};
use seatrial_model::{Case, PartRecord, Phase, Reason, Site};

use super::space::Pair;

pub fn bench(name: &str) -> &'static Benchmark {
    find(seatrial_net::BENCHMARKS, name).expect("shipped")
}

pub fn case(name: &str, cpus: u32, changed: &[(&str, &str)]) -> Case {
    let about = bench(name).about;
    let params = seatrial_testkit::params(about, changed);
    let nodes = ["n1", "n2"].map(|name| seatrial_testkit::node(name, cpus)).to_vec();
    let mut case = bench(name).plan(&params, &Site { nodes }).expect("a plan").remove(0);
    case.places.iter_mut().for_each(|place| place.bindings.clear());
    case
}

pub struct Ends<'a> {
    case: &'a Case,
    pair: &'a Pair,
    parts: Vec<Box<dyn Running>>,
}

impl<'a> Ends<'a> {
    pub fn connected(case: &'a Case, pair: &'a Pair) -> Result<Self, Reason> {
        let bench = bench(&case.bench);
        let parts = case.places.iter().map(|place| bench.part(case, place));
        let parts = connect_all(parts, &[&|| pair.first.enter(), &|| pair.second.enter()])?;
        Ok(Self { case, pair, parts })
    }

    fn each<T: Send>(
        &mut self,
        act: impl Fn(&mut dyn Running) -> Result<T, Reason> + Sync,
    ) -> Result<Vec<T>, Reason> {
        let pair = self.pair;
        let enter: [&Enter<'_>; 2] = [&|| pair.first.enter(), &|| pair.second.enter()];
        at_once(&mut self.parts, &enter, |part| act(&mut **part)).into_iter().collect()
    }

    pub fn run(&mut self, phase: Phase, span: Duration) -> Result<Vec<Kept>, Reason> {
        self.each(|end| {
            let mut kept = Kept::default();
            end.run(phase, &Stop::after(span), &mut kept).map(|()| kept)
        })
    }

    pub fn records(&mut self, told: Vec<Kept>) -> Result<Vec<PartRecord>, Reason> {
        let checked = self.each(|end| end.verify())?;
        let of_both = self.case.places.iter().zip(told).zip(checked);
        Ok(of_both.map(|((place, kept), integrity)| kept.record(place, integrity)).collect())
    }
}
