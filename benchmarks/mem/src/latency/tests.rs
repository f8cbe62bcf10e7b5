//! Plans on invented machines, and one real worker on small rings.

use std::collections::BTreeSet;
use std::time::Duration;

use seatrial_model::machine::{Cache, Caches, Cpu, CpuThread, Known, Machine, Memory, NumaNode};
use seatrial_model::{
    Bytes, Case, Cause, Integrity, Limit, Nanos, PartRecord, Phase, Reason, Sample, Site, SiteNode, Value,
};
use seatrial_sys::affinity;

use super::part::{CHANNEL, LatencyWorker};
use super::{ABOUT, BENCHMARK};
use seatrial_bench::testing::{Kept, connected};
use seatrial_bench::{Running, Stop};

const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;
const GIB: u64 = 1 << 30;

/// `nodes` NUMA nodes of two cores, with caches of 32 KiB, 1 MiB and, per node, 32 MiB; `memory` bytes per node.
fn machine(nodes: u32, memory: u64) -> Machine {
    let threads = (0..2 * nodes).map(|id| CpuThread {
        socket: Some(id / 2),
        node: Some(id / 2),
        l3: Some(id / 2),
        ..seatrial_testkit::thread(id)
    });
    let cache =
        |level, size_bytes, cpus| Cache { level, size_bytes, line_bytes: Some(64), cpus, ..Cache::default() };
    let own = (0..2 * nodes).flat_map(|id| [cache(1, 32 * KIB, vec![id]), cache(2, MIB, vec![id])]);
    let shared = (0..nodes).map(|node| cache(3, 32 * MIB, vec![2 * node, 2 * node + 1]));
    let node = |id| NumaNode {
        id,
        cpus: vec![2 * id, 2 * id + 1],
        total_bytes: Known::Known(memory),
        available_bytes: Known::Known(memory),
        ..NumaNode::default()
    };
    Machine {
        cpu: Cpu { threads: threads.collect(), ..Cpu::default() },
        caches: Caches { instances: own.chain(shared).collect(), ..Caches::default() },
        numa: (0..nodes).map(node).collect(),
        memory: Memory {
            effective_available_bytes: Known::Known(u64::from(nodes) * memory),
            ..Memory::default()
        },
        ..Machine::default()
    }
}

fn plan(machine: Machine, set: &[(&str, &str)]) -> Result<Case, Reason> {
    let params = seatrial_testkit::params(&ABOUT, set);
    let site = Site { nodes: vec![SiteNode::new("n1", machine)] };
    BENCHMARK.plan(&params, &site).map(|mut cases| cases.remove(0))
}

fn chosen(case: &Case, name: &str) -> Option<u64> {
    case.planned.bytes(name).ok().flatten().map(Bytes::get)
}

#[test]
fn the_largest_ring_is_four_times_the_last_cache_of_the_one_core_that_chases() {
    let case = plan(machine(2, 64 * GIB), &[]).unwrap();
    assert_eq!(chosen(&case, "size"), Some(128 * MIB));
    assert_eq!(case.places[0].bindings.len(), 1);
    assert_eq!(case.planned.text("cpu"), Ok("0"));
    assert!(case.findings.is_empty(), "{:?}", case.findings);
}

#[test]
fn each_cache_gets_a_size_well_inside_it() {
    let case = plan(machine(1, 64 * GIB), &[]).unwrap();
    let at = ["l1_at", "l2_at", "l3_at"].map(|name| chosen(&case, name));
    assert_eq!(at, [Some(16 * KIB), Some(512 * KIB), Some(16 * MIB)]);
}

#[test]
fn rings_take_half_of_what_is_available_and_a_lack_is_told() {
    let case = plan(machine(1, 256 * MIB), &[]).unwrap();
    // 48, 32 and 17 MiB of rings, and 3 MiB for their order; with 64 MiB they would exceed 128 MiB.
    assert_eq!(chosen(&case, "size"), Some(48 * MIB));
    assert!(case.findings.iter().any(|finding| finding.kind == "cache-resident"));
    assert_eq!(plan(machine(1, 4 * MIB), &[]).unwrap_err().cause, Cause::NoSpace);
}

#[test]
fn a_given_size_is_one_ring_and_one_that_does_not_fit_is_refused() {
    let case = plan(machine(1, 64 * GIB), &[("size", "100 kB")]).unwrap();
    assert_eq!(chosen(&case, "size"), Some(100_000 / 64 * 64));
    assert_eq!(chosen(&case, "l1_at"), None);
    let reason = plan(machine(1, GIB), &[("size", "1 GiB")]).unwrap_err();
    assert_eq!(reason.cause, Cause::NoSpace);
    assert!(reason.text.contains("size=1 GiB does not fit") && reason.text.contains("512 MiB"), "{reason}");
}

#[test]
fn the_longest_line_of_a_cache_parts_the_nodes_of_a_ring() {
    let mut long = machine(1, 64 * GIB);
    long.caches.instances[1].line_bytes = Some(256);
    assert_eq!(chosen(&plan(long, &[]).unwrap(), "line"), Some(256));
}

#[test]
fn a_larger_cache_by_another_source_makes_larger_rings_and_is_told() {
    let mut disputed = machine(1, 64 * GIB);
    disputed.caches.l3_by_libc_bytes = Known::Known(384 * MIB);
    let case = plan(disputed, &[]).unwrap();
    assert_eq!(chosen(&case, "size"), Some(1536 * MIB));
    assert!(case.findings.iter().any(|finding| finding.kind == "cache-size-disputed"));
}

#[test]
fn a_matrix_needs_two_nodes_and_takes_memory_without_cores_along() {
    let reason = plan(machine(1, 64 * GIB), &[("scope", "matrix")]).unwrap_err();
    assert_eq!(reason.cause, Cause::Inapplicable);
    let mut far = machine(2, 64 * GIB);
    far.numa.push(NumaNode {
        id: 4,
        total_bytes: Known::Known(64 * GIB),
        available_bytes: Known::Known(64 * GIB),
        ..NumaNode::default()
    });
    let case = plan(far.clone(), &[("scope", "matrix")]).unwrap();
    assert_eq!(case.planned.text("memory_nodes"), Ok("0 1 4"));
    let cpus: Vec<u32> = case.places[0].bindings.iter().map(|binding| binding.cpu).collect();
    assert_eq!(cpus, [0, 2], "the first core of each node");
    far.confinement.memory_nodes = Known::Known(vec![0, 4]);
    let case = plan(far, &[("scope", "matrix")]).unwrap();
    assert_eq!(case.planned.text("memory_nodes"), Ok("0 4"), "the cpuset has no memory of node 1");
}

#[test]
fn the_time_of_a_trial_grows_with_what_is_to_be_visited() {
    let small = plan(machine(1, 64 * GIB), &[("time", "50 ms")]).unwrap();
    assert!(small.budget.measure > Nanos::millis(300), "{:?}", small.budget);
    let one = plan(machine(1, 64 * GIB), &[("time", "50 ms"), ("size", "16 KiB")]).unwrap();
    assert_eq!(one.budget.measure, Nanos::millis(50));
}

#[test]
fn no_metric_has_a_limit_and_each_says_why() {
    let case = plan(machine(1, 64 * GIB), &[]).unwrap();
    for (metric, limit) in BENCHMARK.limits(&case, &Site::default()) {
        assert!(
            matches!(limit, Limit::Unknown { reason } if reason.contains("does not report") || reason.contains("do not report")),
            "{metric}"
        );
    }
}

/// A case on an allowed CPU, with caches so small that the sweep ends at 1 MiB.
fn small_case() -> Case {
    let mut here = machine(1, 64 * GIB);
    let cpu = affinity::allowed().expect("a mask").iter().next().expect("a CPU");
    here.cpu.threads = vec![CpuThread { id: cpu, ..here.cpu.threads[0].clone() }];
    here.caches.instances.retain(|cache| cache.level < 3);
    here.caches.instances.truncate(2);
    here.caches.instances.iter_mut().for_each(|cache| {
        cache.cpus = vec![cpu];
        cache.size_bytes /= 4;
    });
    here.caches.instances[1].level = 3;
    plan(here, &[("time", "50 ms")]).expect("a plan")
}

#[test]
fn a_worker_visits_every_size_and_ends_where_the_order_says() {
    let case = small_case();
    let mut part = connected(BENCHMARK.part(&case, &case.places[0])).unwrap();
    let mut kept = Kept::default();
    part.run(Phase::WarmUp, &Stop::after(Duration::from_millis(1)), &mut kept).unwrap();
    assert!(kept.samples.is_empty(), "the warm-up keeps nothing");
    // A slow or busy CPU needs longer to reach the last size.
    let visited =
        |kept: &Kept| kept.samples.iter().map(|sample| sample.at.to_string()).collect::<BTreeSet<_>>();
    for turn in 1..=50 {
        let time = Duration::from(case.budget.measure) * turn;
        part.run(Phase::Measure, &Stop::after(time), &mut kept).unwrap();
        if visited(&kept).len() == 17 {
            break;
        }
    }
    let integrity = part.verify().unwrap();
    assert!(matches!(integrity, Integrity::Verified { checked } if checked > 2 * MIB / 8), "{integrity:?}");
    assert!(
        kept.evidence.contains_key("place")
            && kept.evidence.contains_key("pages")
            && kept.evidence.contains_key("clock")
    );
    let measures = BENCHMARK.reduce(&case, &[kept.record(&case.places[0], integrity)]).unwrap();
    let sizes: Vec<Value> =
        measures.series["by_size"].iter().filter_map(|row| row.at.get("size").cloned()).collect();
    assert_eq!((sizes.len(), &sizes[0], &sizes[16]), (17, &Value::from("4 KiB"), &Value::from("1 MiB")));
    let names: Vec<&str> = measures.metrics.keys().map(String::as_str).collect();
    assert_eq!(names, ["l1", "l3", "latency"]);
    for values in measures.metrics.values() {
        assert!(values.trials.iter().flatten().all(|ns| ns.is_finite() && *ns > 0.0));
    }
}

#[test]
fn a_pointer_that_makes_a_short_cycle_is_found() {
    let case = small_case();
    let mut worker = LatencyWorker::prepare(&case, &case.places[0]).unwrap();
    worker.redirect(16, 4000, 4000);
    worker.run(Phase::WarmUp, &Stop::after(Duration::from_millis(1)), &mut Kept::default()).unwrap();
    let Integrity::Corrupt { wrong, of, first } = worker.verify().unwrap() else {
        panic!("a short cycle went unseen")
    };
    assert_eq!((wrong, of), (1, MIB / 64));
    assert!(first.starts_with("in the ring of 1 MiB, the pointer in line 4000 is 0x"), "{first}");
}

fn sample(at: &[(&str, Value)], hops: u64) -> Sample {
    Sample {
        channel: CHANNEL.to_owned(),
        at: at.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect(),
        start: Nanos(0),
        end: Nanos(1000),
        amount: hops.to_string().parse().unwrap(),
    }
}

fn verified(trial: u32, samples: Vec<Sample>) -> PartRecord {
    PartRecord { trial, ..seatrial_testkit::part(samples) }
}

#[test]
fn the_largest_ring_is_the_headline_and_all_trials_count() {
    let case = plan(machine(1, 64 * GIB), &[]).unwrap();
    let size = |text: &str| Value::from(text);
    let parts = [
        verified(
            0,
            vec![sample(&[("size", size("128 MiB"))], 10), sample(&[("size", size("16 KiB"))], 1000)],
        ),
        verified(1, vec![sample(&[("size", size("128 MiB"))], 8)]),
    ];
    let measures = BENCHMARK.reduce(&case, &parts).unwrap();
    assert_eq!(measures.metrics["latency"].trials, [vec![100.0], vec![125.0]]);
    assert_eq!(measures.metrics["l1"].trials, [vec![1.0]]);
    assert!(!measures.metrics.contains_key("l3"), "that size was never visited");
    let first = &measures.series["by_size"][0];
    assert_eq!(first.at.get("size"), Some(&size("16 KiB")), "rows rise in size");
}

#[test]
fn a_run_without_the_largest_ring_has_no_headline() {
    let case = plan(machine(1, 64 * GIB), &[]).unwrap();
    let parts = [verified(0, vec![sample(&[("size", Value::from("16 KiB"))], 1000)])];
    assert_eq!(BENCHMARK.reduce(&case, &parts).unwrap_err().cause, Cause::TooShort);
}

#[test]
fn local_and_remote_are_the_slowest_pairs() {
    let case = plan(machine(2, 64 * GIB), &[("scope", "matrix")]).unwrap();
    let pair = |cpus: u64, memory: u64, hops| {
        sample(&[("cpu_node", Value::Count(cpus)), ("memory_node", Value::Count(memory))], hops)
    };
    let parts = [verified(0, vec![pair(0, 0, 10), pair(0, 1, 5), pair(1, 0, 4), pair(1, 1, 8)])];
    let measures = BENCHMARK.reduce(&case, &parts).unwrap();
    assert_eq!(measures.metrics["local"].trials, [vec![125.0]]);
    assert_eq!(measures.metrics["remote"].trials, [vec![250.0]]);
    assert_eq!(measures.metrics["nearest_other"].trials, [vec![200.0]]);
    assert_eq!(measures.series["matrix"].len(), 4);
    assert!(!measures.metrics.contains_key("latency"));
    // Node 1 reaches the memory of node 0 in half the time; node 2 has no CPUs.
    let crossed = [pair(0, 0, 10), pair(0, 1, 5), pair(1, 0, 10), pair(1, 1, 5), pair(1, 2, 2)];
    let measures = BENCHMARK.reduce(&case, &[verified(0, crossed.to_vec())]).unwrap();
    assert_eq!(measures.metrics["nearest_other"].trials, [vec![50.0]]);
}

#[test]
fn base_pages_are_told_when_nobody_asked_for_them() {
    let with = |set: &[(&str, &str)]| {
        let case = plan(machine(1, 64 * GIB), set).unwrap();
        let mut part = verified(0, vec![sample(&[("size", Value::from("128 MiB"))], 10)]);
        part.evidence.insert("pages".to_owned(), serde_json::json!({ "kind": "base", "huge_percent": 0.0 }));
        let kinds =
            BENCHMARK.reduce(&case, &[part]).unwrap().findings.into_iter().map(|finding| finding.kind);
        kinds.collect::<Vec<_>>()
    };
    assert_eq!(with(&[]), ["base-pages"]);
    assert!(with(&[("pages", "base")]).is_empty());
}
