//! Plans on invented machines, invented curves, and one real worker on small memory.

use std::collections::BTreeSet;
use std::time::Duration;

use seatrial_model::machine::{Cache, Caches, Cpu, CpuThread, Known, Machine, Memory, NumaNode};
use seatrial_model::{
    Bytes, Case, Cause, Integrity, Limit, Nanos, PartRecord, Phase, Quantity, Reason, Sample, Site, SiteNode,
    Unit,
};
use seatrial_sys::affinity;

use super::part::{CHASE, LOAD, LoadedLatencyWorker};
use super::team::FLAT_BLOCK;
use super::{ABOUT, BENCHMARK};
use crate::kernel::Isa;
use seatrial_bench::testing::{Kept, connected};
use seatrial_bench::{Running, Stop};

const MIB: u64 = 1 << 20;
const GIB: u64 = 1 << 30;

/// Two NUMA nodes of two cores, each with a last-level cache of `cache` bytes and `memory` bytes of memory.
fn machine(cache: u64, memory: u64) -> Machine {
    let threads = (0..4).map(|id| CpuThread {
        socket: Some(id / 2),
        node: Some(id / 2),
        l3: Some(id / 2),
        ..seatrial_testkit::thread(id)
    });
    let shared = (0..2).map(|node| Cache {
        level: 3,
        size_bytes: cache,
        cpus: vec![2 * node, 2 * node + 1],
        ..Cache::default()
    });
    let node = |id| NumaNode {
        id,
        cpus: vec![2 * id, 2 * id + 1],
        total_bytes: Known::Known(memory),
        available_bytes: Known::Known(memory),
        ..NumaNode::default()
    };
    let isa = Isa::available().iter().map(|isa| isa.feature().to_owned()).collect();
    Machine {
        cpu: Cpu { isa: Known::Known(isa), threads: threads.collect(), ..Cpu::default() },
        caches: Caches { instances: shared.collect(), ..Caches::default() },
        numa: (0..2).map(node).collect(),
        memory: Memory { effective_available_bytes: Known::Known(2 * memory), ..Memory::default() },
        ..Machine::default()
    }
}

fn plan(machine: Machine, set: &[(&str, &str)]) -> Result<Case, Reason> {
    let params = seatrial_testkit::params(&ABOUT, set);
    let site = Site { nodes: vec![SiteNode::new("n1", machine)] };
    BENCHMARK.plan(&params, &site).map(|mut cases| cases.remove(0))
}

fn cpus(case: &Case) -> Vec<u32> {
    case.places[0].bindings.iter().map(|binding| binding.cpu).collect()
}

fn chosen(case: &Case, name: &str) -> u64 {
    case.planned.bytes(name).ok().flatten().map_or(0, Bytes::get)
}

#[test]
fn the_first_core_chases_and_the_others_load() {
    let case = plan(machine(32 * MIB, 64 * GIB), &[]).unwrap();
    assert_eq!(cpus(&case), [0, 1, 2, 3]);
    // Four times the cache of one core for the ring, of all loaders (two caches) for the arrays, in whole MiB for
    // each of the three.
    assert_eq!((chosen(&case, "ring"), chosen(&case, "array")), (128 * MIB, 255 * MIB));
    let near = plan(machine(32 * MIB, 64 * GIB), &[("loaders", "node")]).unwrap();
    assert_eq!(cpus(&near), [0, 1]);
}

#[test]
fn one_core_cannot_chase_and_load() {
    let mut lonely = machine(32 * MIB, 64 * GIB);
    lonely.cpu.threads.truncate(1);
    let reason = plan(lonely, &[]).unwrap_err();
    assert_eq!(reason.cause, Cause::Inapplicable);
    assert!(reason.text.contains("may use one core only"), "{reason}");
    let mut sparse = machine(32 * MIB, 64 * GIB);
    sparse.cpu.threads.remove(1);
    let reason = plan(sparse, &[("loaders", "node")]).unwrap_err();
    assert!(reason.text.contains("use loaders=machine"), "{reason}");
}

#[test]
fn ring_and_arrays_take_half_of_what_is_available_and_a_lack_is_told() {
    let case = plan(machine(32 * MIB, 128 * MIB), &[("load", "copy")]).unwrap();
    let taken = chosen(&case, "ring") + 2 * chosen(&case, "array");
    assert!(taken <= 128 * MIB && chosen(&case, "ring") == 48 * MIB, "{}", case.planned);
    assert!(case.findings.iter().any(|finding| finding.kind == "cache-resident"));
    assert_eq!(plan(machine(32 * MIB, 4 * MIB), &[]).unwrap_err().cause, Cause::NoSpace);
}

#[test]
fn the_bandwidth_of_a_part_of_the_machine_has_no_limit() {
    let case = plan(machine(32 * MIB, GIB), &[("loaders", "node")]).unwrap();
    let site = Site { nodes: vec![SiteNode::new("n1", machine(32 * MIB, GIB))] };
    let limits = BENCHMARK.limits(&case, &site);
    assert!(matches!(&limits["bandwidth"], Limit::Unknown { reason } if reason.contains("the NUMA node")));
}

fn record(trial: u32, samples: Vec<Sample>) -> PartRecord {
    PartRecord { trial, ..seatrial_testkit::part(samples) }
}

/// A case on two allowed CPUs (or twice the same), with small caches.
fn small_case(load: &str) -> Case {
    let allowed: Vec<u32> = affinity::allowed().expect("a mask").iter().collect();
    let mut here = machine(64 << 10, 64 * GIB);
    here.numa.truncate(1);
    here.cpu.threads.truncate(2);
    let mut case = plan(here, &[("load", load), ("time", "50 ms"), ("steps", "5")]).expect("a plan");
    for (binding, cpu) in case.places[0].bindings.iter_mut().zip(allowed.iter().cycle()) {
        binding.cpu = *cpu;
    }
    case
}

/// Repeats the warm-up while other load keeps the loaders from their cores, which the worker reports as an error.
fn warm_up(part: &mut dyn Running, kept: &mut Kept) {
    for _ in 0..300 {
        match part.run(Phase::WarmUp, &Stop::after(Duration::from_millis(20)), kept) {
            Err(error) if error.cause == Cause::TooShort => {}
            done => return done.unwrap(),
        }
    }
    panic!("the loaders never moved anything");
}

#[test]
fn a_worker_takes_every_step_with_both_figures_and_verifies_both_sides() {
    for load in ["read", "copy"] {
        let case = small_case(load);
        let mut part = connected(BENCHMARK.part(&case, &case.places[0])).unwrap();
        let mut kept = Kept::default();
        warm_up(part.as_mut(), &mut kept);
        assert!(kept.samples.is_empty(), "the warm-up keeps nothing");
        let taken = |kept: &Kept, channel: &str| {
            let of_channel = kept.samples.iter().filter(|sample| sample.channel == channel);
            of_channel.map(|sample| sample.at.to_string()).collect::<BTreeSet<_>>().len()
        };
        for _ in 0..300 {
            part.run(Phase::Measure, &Stop::after(Duration::from_millis(200)), &mut kept).unwrap();
            // A loader without CPU moves nothing in a slice, but not for ever.
            let moved =
                kept.samples.iter().any(|sample| sample.channel == LOAD && sample.amount.value() > 0.0);
            if moved && taken(&kept, CHASE) == 6 && taken(&kept, LOAD) == 6 {
                break;
            }
        }
        let integrity = part.verify().unwrap();
        assert!(matches!(integrity, Integrity::Verified { .. }), "{load}: {integrity:?}");
        assert!(kept.evidence.contains_key("place") && kept.evidence.contains_key("loaders"));
        // A loader interrupted in a block may finish it after the order to pause, but no more.
        let idle =
            kept.samples.iter().filter(|sample| sample.channel == LOAD && sample.at.count("load") == Ok(0));
        let most = (FLAT_BLOCK * 2 * size_of::<f64>()) as f64;
        assert!(
            idle.map(|sample| sample.amount.value()).all(|moved| moved <= most),
            "{load}: idle loaders went on"
        );
        let measures = BENCHMARK.reduce(&case, &[record(0, kept.samples)]).unwrap();
        for name in ["curve", "delivered"] {
            let steps: Vec<_> =
                measures.series[name].iter().map(|row| row.at.count("load").unwrap()).collect();
            assert_eq!(steps, [0, 20, 40, 60, 80, 100], "{load}: {name}");
        }
        let rates: Vec<f64> =
            measures.series["delivered"].iter().flat_map(|row| row.values.trials.concat()).collect();
        assert!(rates.iter().any(|rate| *rate > 0.0), "{load}: {rates:?}");
    }
}

#[test]
fn a_planted_fault_on_either_side_is_found() {
    let case = small_case("read");
    let ready = || LoadedLatencyWorker::prepare(&case, &case.places[0]).unwrap();
    let run = |worker: &mut LoadedLatencyWorker| {
        warm_up(worker, &mut Kept::default());
        worker.verify().unwrap()
    };
    let mut short_cut = ready();
    short_cut.innards().0.redirect(0, 500, 500);
    let found = run(&mut short_cut);
    assert!(
        matches!(&found, Integrity::Corrupt { first, .. } if first.contains("the pointer in line 500")),
        "{found:?}"
    );
    let mut flipped = ready();
    flipped.innards().1.flip(0, 777);
    let found = run(&mut flipped);
    assert!(
        matches!(&found, Integrity::Corrupt { first, .. } if first.contains("read other data")),
        "{found:?}"
    );
}

/// The two samples of a step: hops of `latency` ns, and `rate` GB/s.
fn step(load: u64, latency: u64, rate: u64) -> [Sample; 2] {
    let sample = |channel: &str, end: u64, amount: f64, unit| Sample {
        channel: channel.to_owned(),
        at: [("load".to_owned(), load.into())].into_iter().collect(),
        start: Nanos(0),
        end: Nanos(end),
        amount: Quantity::new(amount, unit).unwrap(),
    };
    [sample(CHASE, 1000 * latency, 1000.0, Unit::Count), sample(LOAD, 1000, 1000.0 * rate as f64, Unit::Byte)]
}

/// Flat up to `knee` GB/s and steep beyond; the last step moves less than the one before.
fn trial(knee: u64) -> Vec<Sample> {
    let rise = |rate: u64| 100 + 20 * rate.saturating_sub(knee);
    let steps = (0..10).map(|tenth| step(10 * tenth, rise(10 * tenth), 10 * tenth));
    steps.chain([step(100, 2000, 85)]).flatten().collect()
}

#[test]
fn the_knee_is_found_in_every_trial_and_told() {
    let case = plan(machine(32 * MIB, 64 * GIB), &[]).unwrap();
    let measures = BENCHMARK.reduce(&case, &[record(0, trial(60)), record(2, trial(50))]).unwrap();
    assert_eq!(measures.metrics["knee"].trials, [vec![60.0], vec![50.0]]);
    assert_eq!(measures.metrics["idle"].trials, [vec![100.0], vec![100.0]]);
    assert_eq!(measures.metrics["loaded"].trials, [vec![2000.0], vec![2000.0]]);
    assert_eq!(
        measures.metrics["bandwidth"].trials,
        [vec![90.0], vec![90.0]],
        "the peak is not the last step"
    );
    let finding = &measures.findings[0];
    assert_eq!(
        (finding.kind.as_str(), finding.value.map(Quantity::unit)),
        ("knee", Some(Unit::GigabytesPerSecond))
    );
    assert!(
        finding.text.contains("of the 90.0 GB/s that the loaders reach: 100 ns idle"),
        "{}",
        finding.text
    );
}

#[test]
fn a_latency_that_does_not_take_off_has_no_knee() {
    let case = plan(machine(32 * MIB, 64 * GIB), &[]).unwrap();
    let even = (0..=10).flat_map(|tenth| step(10 * tenth, 100 + tenth, 10 * tenth)).collect();
    let measures = BENCHMARK.reduce(&case, &[record(0, even)]).unwrap();
    assert!(!measures.metrics.contains_key("knee"));
    assert_eq!(measures.findings[0].kind, "no-knee");
}

#[test]
fn a_bend_in_one_trial_of_three_is_no_knee() {
    let case = plan(machine(32 * MIB, 64 * GIB), &[]).unwrap();
    let even =
        |number| record(number, (0..=10).flat_map(|tenth| step(10 * tenth, 100, 10 * tenth)).collect());
    let measures = BENCHMARK.reduce(&case, &[record(0, trial(60)), even(1), even(2)]).unwrap();
    assert!(!measures.metrics.contains_key("knee"));
    assert_eq!(measures.findings[0].kind, "no-knee");
}

#[test]
fn a_bend_in_the_noise_is_no_knee() {
    let case = plan(machine(32 * MIB, 64 * GIB), &[]).unwrap();
    let bent = (0..=10).flat_map(|tenth| step(10 * tenth, if tenth < 7 { 100 } else { 119 }, 10 * tenth));
    let measures = BENCHMARK.reduce(&case, &[record(0, bent.collect())]).unwrap();
    assert_eq!(measures.findings[0].kind, "no-knee");
    let more = (0..=10).flat_map(|tenth| step(10 * tenth, if tenth < 7 { 100 } else { 121 }, 10 * tenth));
    let measures = BENCHMARK.reduce(&case, &[record(0, more.collect())]).unwrap();
    assert_eq!(measures.metrics["knee"].trials, [vec![60.0]]);
}

#[test]
fn a_curve_without_its_ends_is_no_result() {
    let case = plan(machine(32 * MIB, 64 * GIB), &[]).unwrap();
    let cut: Vec<Sample> = trial(60).into_iter().take(12).collect();
    assert_eq!(BENCHMARK.reduce(&case, &[record(0, cut)]).unwrap_err().cause, Cause::TooShort);
}
