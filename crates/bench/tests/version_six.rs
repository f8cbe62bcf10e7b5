//! Two nodes that speak only IPv6: every benchmark between nodes measures them as any others.

use std::thread;
use std::time::Duration;

use seatrial_bench::{Error, Offer, Part, Sink, Stop, registry};
use seatrial_model::machine::{Cpu, CpuThread, Machine};
use seatrial_model::{Case, Evidence, Integrity, Params, PartRecord, Phase, Sample, Site, SiteNode};

#[path = "udp/space.rs"]
#[expect(dead_code, reason = "shared with the tests of datagrams, which use all of it")]
mod space;

use space::{Net, Pair};

const BENCHES: [&str; 6] =
    ["net.tcp_stream", "net.udp_stream", "net.rr", "net.connect", "net.pingpong", "net.mtu"];

#[derive(Default)]
struct Kept {
    samples: Vec<Sample>,
    facts: Evidence,
}

impl Sink for Kept {
    fn sample(&mut self, sample: Sample) {
        self.samples.push(sample);
    }

    fn evidence(&mut self, name: &str, value: serde_json::Value) {
        self.facts.insert(name.to_owned(), value);
    }
}

fn case(name: &str) -> Case {
    let bench = registry().find(name).expect("shipped");
    let about = bench.about();
    let mut params: Params =
        about.params.iter().map(|spec| (spec.name.to_owned(), spec.default_value())).collect();
    for (name, value) in [("time", "200 ms"), ("to", "4 KiB"), ("send", "write"), ("receive", "read")] {
        if let Some(spec) = about.param(name) {
            params.set(name, spec.parse(value).expect("a value"));
        }
    }
    let thread = |id| CpuThread { id, core: Some(id), online: true, allowed: true, ..CpuThread::default() };
    let cpu = Cpu { threads: vec![thread(0), thread(1)], ..Cpu::default() };
    let machine = Machine { cpu, ..Machine::default() };
    let nodes = ["n1", "n2"].map(|name| SiteNode::new(name, machine.clone())).to_vec();
    let mut case = bench.plan(&params, &Site { nodes }).expect("a plan").remove(0);
    case.places.iter_mut().for_each(|place| place.seats.clear());
    case
}

/// Does something with both ends at once, each where it lives.
fn each<T: Send>(
    ends: &mut [Box<dyn Part>; 2],
    pair: &Pair,
    act: impl Fn(&mut dyn Part) -> T + Sync,
) -> [T; 2] {
    let [first, second] = ends;
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
        [one, other].map(|end| end.join().expect("joined"))
    })
}

/// Tries of a benchmark: ends that get no CPU for some time have nothing to tell, or take each other for gone.
const TRIES: usize = 20;

/// Measures once between the two.
fn measured(name: &str, pair: &Pair) -> Result<(), String> {
    let bench = registry().find(name).expect("shipped");
    let case = case(name);
    let mut ends = [0, 1].map(|at| bench.part(&case, &case.places[at]).expect("a part"));
    fn fine<T>(what: &str, done: [Result<T, Error>; 2]) -> Result<Vec<T>, String> {
        done.into_iter().map(|end| end.map_err(|error| format!("{what}: {error}"))).collect()
    }
    let offers: Vec<Offer> = fine("prepares", each(&mut ends, pair, |end| end.prepare()))?;
    fine("connects", each(&mut ends, pair, |end| end.connect(&offers)))?;
    let run = |ends: &mut [Box<dyn Part>; 2], phase| {
        each(ends, pair, |end| {
            let mut kept = Kept::default();
            end.run(phase, &Stop::after(Duration::from_millis(400)), &mut kept).map(|()| kept)
        })
    };
    fine("warms up", run(&mut ends, Phase::WarmUp))?;
    let measured = fine("measures", run(&mut ends, Phase::Measure))?;
    let checked = fine("checks", each(&mut ends, pair, |end| end.verify()))?;
    let is_corrupt = checked.iter().any(|end| matches!(end, Integrity::Corrupt { .. }));
    assert!(!is_corrupt, "{name}: {checked:?}");
    if !checked.iter().any(|end| matches!(end, Integrity::Verified { .. })) {
        return Err(format!("checks: {checked:?}"));
    }
    let records: Vec<PartRecord> = case
        .places
        .iter()
        .zip(measured)
        .zip(checked)
        .map(|((place, kept), integrity)| PartRecord {
            part: place.part.clone(),
            index: place.index,
            node: place.node.clone(),
            trial: 0,
            samples: kept.samples,
            integrity,
            evidence: kept.facts,
        })
        .collect();
    let measures = bench.reduce(&case, &records).map_err(|why| why.to_string())?;
    assert!(!measures.metrics.is_empty(), "{name}");
    Ok(())
}

#[test]
fn every_benchmark_between_nodes_measures_over_version_six_alone() {
    let Some(pair) = Pair::new(&Net { four: false, six: true, mtu: 1500 }) else { return };
    for name in BENCHES {
        let mut failed = Vec::new();
        while let Err(why) = measured(name, &pair) {
            failed.push(why);
            assert!(failed.len() < TRIES, "{name}: {failed:#?}");
        }
    }
}
