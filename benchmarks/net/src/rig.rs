//! Shared by the tests of benchmarks with two ends: parameters, nodes, records, both ends in this process.

use std::time::Duration;

use seatrial_model::machine::{Cpu, CpuThread, Machine};
use seatrial_model::{Case, Evidence, Integrity, Params, PartRecord, Reason, Sample, SiteNode};

use seatrial_bench::{Benchmark, Running, Sink, Stop};

const LIMIT: Duration = Duration::from_secs(60);

pub fn params(bench: &Benchmark, changed: &[(&str, &str)]) -> Params {
    let about = bench.about;

    seatrial_testkit::params(about, changed)
}

pub fn node(name: &str, cores: u32) -> SiteNode {
    let thread = |id| CpuThread { id, core: Some(id), online: true, allowed: true, ..CpuThread::default() };
    let cpu = Cpu { threads: (0..cores).map(thread).collect(), ..Cpu::default() };
    SiteNode::new(name, Machine { cpu, ..Machine::default() })
}

/// The case on any CPU: the test machine may have one, or a set without CPU 0.
pub fn anywhere(mut case: Case) -> Case {
    case.places.iter_mut().for_each(|place| place.bindings.clear());
    case
}

/// Keeps what an end reports, and ends the phase when there are enough samples.
pub struct Kept {
    pub samples: Vec<Sample>,
    pub facts: Evidence,
    pub stop: Stop,
    enough: usize,
}

impl Default for Kept {
    fn default() -> Self {
        Self::until(usize::MAX)
    }
}

impl Kept {
    pub fn until(enough: usize) -> Self {
        Self { samples: Vec::new(), facts: Evidence::new(), stop: Stop::after(LIMIT), enough }
    }

    pub fn record(self, part: &str, integrity: Integrity) -> PartRecord {
        PartRecord {
            part: part.to_owned(),
            index: 0,
            node: "n1".to_owned(),
            trial: 0,
            samples: self.samples,
            integrity,
            evidence: self.facts,
        }
    }
}

impl Sink for Kept {
    fn sample(&mut self, sample: Sample) {
        self.samples.push(sample);
        if self.samples.len() >= self.enough {
            self.stop.raise();
        }
    }

    fn evidence(&mut self, name: &str, value: serde_json::Value) {
        self.facts.insert(name.to_owned(), value);
    }
}

pub type Ends = (Box<dyn Running>, Box<dyn Running>);

pub fn try_ends(bench: &Benchmark, case: &Case) -> Result<Ends, Reason> {
    let parts = case.places.iter().map(|place| bench.part(case, place));
    let mut ends = seatrial_bench::testing::connect_all(parts, &[])?.into_iter();
    Ok((ends.next().expect("a first end"), ends.next().expect("a second end")))
}

pub fn ends(bench: &Benchmark, case: &Case) -> Ends {
    try_ends(bench, case).expect("connected")
}
