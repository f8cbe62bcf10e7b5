//! Shared by the tests of GPU benchmarks: a machine with fake GPUs, and a trial on them.

#[path = "../../../crates/sys/tests/fake_gpu/compile.rs"]
mod fake;

use std::path::Path;
use std::time::Duration;

use seatrial_model::machine::{Cpu, CpuThread, Gpu, Known, Machine, Memory, NumaNode, PciDevice};
use seatrial_model::{
    Case, Evidence, Finding, Measures, Params, PartPlacement, PartRecord, Phase, Reason, Sample, Site,
    SiteNode,
};

pub use fake::Fake;
pub use seatrial_bench::refused_here;

use seatrial_bench::{Benchmark, Part, Sink, Stop};

pub fn machine(gpus: u32) -> Machine {
    let thread = |id| CpuThread { node: Some(0), l3: Some(0), ..seatrial_testkit::thread(id) };
    let gigabytes = |count: u64| Known::Known(count << 30);
    let gpu = |index: u32| Gpu {
        index,
        vendor: Known::Known("NVIDIA".to_owned()),
        memory_bytes: Known::Known(256 << 20),
        memory_clock_mhz: Known::Known(5000),
        memory_bus_bits: Known::Known(1000),
        link_generation: Known::Known(5),
        link_width: Known::Known(16),
        nvlinks: Known::Known(vec!["0000:c1:00.0".to_owned(); 2]),
        nvlink_megabytes_per_second: Known::Known(250_000),
        pci: PciDevice {
            address: format!("0000:{:02x}:00.0", 0x10 + index),
            numa_node: Known::Known(0),
            ..PciDevice::default()
        },
        ..Gpu::default()
    };
    Machine {
        cpu: Cpu { threads: vec![thread(0), thread(1)], ..Cpu::default() },
        numa: vec![NumaNode {
            cpus: vec![0, 1],
            total_bytes: gigabytes(8),
            available_bytes: gigabytes(6),
            ..NumaNode::default()
        }],
        memory: Memory { effective_available_bytes: gigabytes(6), ..Memory::default() },
        gpus: Known::Known((0..gpus).map(gpu).collect()),
        ..Machine::default()
    }
}

pub fn site(machine: Machine) -> Site {
    Site { nodes: vec![SiteNode::new("n1", machine)] }
}

/// The benchmark's defaults with some parameters changed, as typed.
pub fn params(bench: &Benchmark, changed: &[(&str, &str)]) -> Params {
    let about = bench.about;

    seatrial_testkit::params(about, changed)
}

/// The cases that the changed parameters make on `machine`.
pub fn plan(bench: &Benchmark, changed: &[(&str, &str)], machine: Machine) -> Result<Vec<Case>, Reason> {
    bench.plan(&params(bench, changed), &site(machine))
}

/// Keeps the samples, and ends the phase when the first coordinates come a second time: after one whole round, on any
/// machine.
struct Kept {
    samples: Vec<Sample>,
    evidence: Evidence,
    stop: Stop,
}

impl Kept {
    fn new(stop: &Stop) -> Self {
        Self { samples: Vec::new(), evidence: Evidence::new(), stop: stop.clone() }
    }
}

impl Sink for Kept {
    fn sample(&mut self, sample: Sample) {
        let place = |sample: &Sample| {
            let axes = sample.at.iter().filter(|(name, _)| !matches!(*name, "slice" | "lane"));
            (sample.channel.clone(), axes.map(|(_, value)| value.to_string()).collect::<Vec<_>>())
        };
        if let Some(first) = self.samples.first() {
            let again = place(first) == place(&sample);
            // Pieces of one slice have the same coordinates.
            if again && (sample.at.get("slice").is_none() || first.at.get("slice") != sample.at.get("slice"))
            {
                self.stop.raise();
            }
        }
        self.samples.push(sample);
    }

    fn evidence(&mut self, name: &str, value: serde_json::Value) {
        self.evidence.insert(name.to_owned(), value);
    }
}

pub fn trial(part: Part, place: &PartPlacement) -> Result<PartRecord, Reason> {
    let mut part = seatrial_bench::testing::connected(part)?;
    let over = Stop::after(Duration::ZERO);
    part.run(Phase::WarmUp, &over, &mut Kept::new(&over))?;
    let stop = Stop::after(Duration::from_secs(600));
    let mut kept = Kept::new(&stop);
    part.run(Phase::Measure, &stop, &mut kept)?;
    Ok(PartRecord {
        part: place.part.clone(),
        index: place.index,
        node: place.node.clone(),
        trial: 0,
        samples: kept.samples,
        integrity: part.verify()?,
        evidence: kept.evidence,
    })
}

/// The findings; without those that depend on this machine: unknown memory placement where the system does not report it,
/// and a warm-up in which a slow host made too few copies to tell that they are steady.
pub fn findings(measures: &Measures) -> Vec<&Finding> {
    let refused = refused_here().is_some();
    let is_of_host =
        |one: &&Finding| (refused && one.kind == "placement-unverified") || one.kind == "gpu-not-steady";
    measures.findings.iter().filter(|one| !is_of_host(one)).collect()
}

pub type Make = fn(&Case, &PartPlacement, &Path) -> Part;

pub fn measured(
    bench: &Benchmark,
    make: Make,
    changed: &[(&str, &str)],
    gpus: u32,
    library: &Path,
) -> Result<(PartRecord, Measures), Reason> {
    let cases = plan(bench, changed, machine(gpus)).expect("a plan");
    let case = &cases[0];
    let record = trial(make(case, &case.places[0], library), &case.places[0])?;
    let measures = bench.reduce(case, std::slice::from_ref(&record)).expect("figures");
    Ok((record, measures))
}

pub fn median(measures: &Measures, metric: &str) -> f64 {
    let values = measures.metrics.get(metric).unwrap_or_else(|| panic!("no metric '{metric}'"));
    let mut all: Vec<f64> = values.trials.concat();
    all.sort_by(f64::total_cmp);
    all[all.len() / 2]
}

/// Asserts that `found` is `expected`, up to rounding of times to nanoseconds and of marks to single precision.
pub fn close(found: f64, expected: f64) {
    assert!((found / expected - 1.0).abs() < 0.002, "{found} is not {expected}");
}
