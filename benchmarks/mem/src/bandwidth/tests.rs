//! Plans on invented machines, and one real worker on a small array.

use std::time::Duration;

use seatrial_model::machine::{Cache, Caches, Cpu, CpuThread, Known, Machine, Memory, NumaNode};
use seatrial_model::{Bytes, Case, Cause, Integrity, Nanos, Phase, Reason, Sample, Site, SiteNode, Value};
use seatrial_sys::affinity;
use seatrial_sys::memory::Pages;

use super::team::BLOCK;
use super::{ABOUT, BENCHMARK};
use crate::kernel::{Isa, Kernel, Pass, Store};
use crate::shard::{ArrayShard, ShardSpec};
use seatrial_bench::Stop;
use seatrial_bench::testing::{Kept, connected};
use seatrial_testkit::part as record;

const GIB: u64 = 1 << 30;

/// `nodes` NUMA nodes of four cores with two L3 domains of 32 MiB each, and `memory` GiB per node, all available.
fn machine(nodes: u32, memory: u64) -> Machine {
    let threads = (0..4 * nodes).map(|id| CpuThread {
        socket: Some(0),
        node: Some(id / 4),
        l3: Some(id / 2),
        ..seatrial_testkit::thread(id)
    });
    let caches = (0..2 * nodes).map(|domain| Cache {
        level: 3,
        size_bytes: 32 << 20,
        cpus: vec![2 * domain, 2 * domain + 1],
        ..Cache::default()
    });
    let node = |id| NumaNode {
        id,
        cpus: (4 * id..4 * id + 4).collect(),
        total_bytes: Known::Known(memory * GIB),
        available_bytes: Known::Known(memory * GIB),
        ..NumaNode::default()
    };
    let isa = ["sse2", "avx2"].map(str::to_owned).to_vec();
    Machine {
        cpu: Cpu { isa: Known::Known(isa), threads: threads.collect(), ..Cpu::default() },
        caches: Caches { instances: caches.collect(), ..Caches::default() },
        numa: (0..nodes).map(node).collect(),
        memory: Memory {
            effective_available_bytes: Known::Known(u64::from(nodes) * memory * GIB),
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

fn array(case: &Case) -> u64 {
    case.planned.bytes("array").unwrap().unwrap().get()
}

#[test]
fn arrays_are_four_times_the_sum_of_the_caches_in_use() {
    assert_eq!(array(&plan(machine(2, 64), &[]).unwrap()), 4 * 4 * (32 << 20));
}

#[test]
fn all_arrays_together_take_at_most_half_of_what_is_available_and_the_rest_is_told() {
    let case = plan(machine(1, 1), &[("kernel", "triad")]).unwrap();
    assert_eq!(array(&case), GIB / 2 / 3 / (4 << 20) * (4 << 20));
    assert!(case.findings.iter().any(|finding| finding.kind == "cache-resident"));
}

#[test]
fn a_control_group_that_leaves_less_counts() {
    let mut small = machine(1, 64);
    small.memory.effective_available_bytes = Known::Known(GIB);
    assert!(array(&plan(small, &[("kernel", "copy")]).unwrap()) <= GIB / 4);
}

#[test]
fn the_fullest_node_counts_for_all() {
    let mut uneven = machine(2, 64);
    uneven.numa[1].available_bytes = Known::Known(GIB / 2);
    assert!(array(&plan(uneven, &[("kernel", "read")]).unwrap()) <= GIB / 2);
}

#[test]
fn an_array_that_does_not_fit_is_refused_before_anything_is_allocated() {
    let reason = plan(machine(1, 4), &[("array", "2 GiB")]).unwrap_err();
    assert_eq!(reason.cause, Cause::NoSpace);
    assert!(
        reason
            .text
            .contains("3 arrays of this size need more than half of the available memory; at most 683 MiB"),
        "{reason}"
    );
}

#[test]
fn a_machine_without_room_has_no_plan() {
    let mut full = machine(1, 4);
    full.memory.effective_available_bytes = Known::Known(1 << 20);
    assert_eq!(plan(full, &[]).unwrap_err().cause, Cause::NoSpace);
}

#[test]
fn the_widest_instruction_set_is_chosen_and_a_missing_one_refused() {
    assert_eq!(plan(machine(1, 64), &[]).unwrap().planned.text("isa"), Ok("avx2"));
    let reason = plan(machine(1, 64), &[("isa", "avx512")]).unwrap_err();
    assert_eq!(reason.cause, Cause::Inapplicable);
    assert!(reason.text.contains("isa=avx512: this CPU does not have it; it has: sse2, avx2"), "{reason}");
}

#[test]
fn a_choice_of_stores_that_a_loop_does_not_have_is_skipped_with_the_reason() {
    let reason = plan(machine(1, 64), &[("kernel", "read"), ("store", "nt")]).unwrap_err();
    assert_eq!(reason.cause, Cause::Inapplicable);
    assert!(reason.text.contains("it stores nothing"), "{reason}");
}

#[test]
fn one_thread_a_core_and_only_where_we_are_allowed() {
    let mut narrow = machine(1, 64);
    narrow.cpu.threads[0].allowed = false;
    narrow.cpu.threads[2].core = Some(1);
    let case = plan(narrow, &[]).unwrap();
    let cpus: Vec<u32> = case.places[0].bindings.iter().map(|binding| binding.cpu).collect();
    assert_eq!(cpus, [1, 3]);
}

#[test]
fn a_matrix_needs_two_nodes_and_takes_memory_without_cores_along() {
    assert_eq!(plan(machine(1, 64), &[("scope", "matrix")]).unwrap_err().cause, Cause::Inapplicable);
    let mut far = machine(2, 64);
    far.numa.push(NumaNode {
        id: 4,
        total_bytes: Known::Known(64 * GIB),
        available_bytes: Known::Known(64 * GIB),
        ..NumaNode::default()
    });
    let case = plan(far.clone(), &[("scope", "matrix")]).unwrap();
    assert_eq!(case.planned.text("memory_nodes"), Ok("0 1 4"));
    far.confinement.memory_nodes = Known::Known(vec![0, 4]);
    let case = plan(far, &[("scope", "matrix")]).unwrap();
    assert_eq!(case.planned.text("memory_nodes"), Ok("0 4"), "the cpuset has no memory of node 1");
    assert_eq!(case.findings, [], "every cell says where its memory is");
}

#[test]
fn cores_are_compared_where_there_are_two() {
    let case = plan(machine(2, 64), &[("scope", "cores"), ("kernel", "read"), ("time", "50 ms")]).unwrap();
    assert_eq!(case.planned.text("cores"), Ok("each"));
    // Two slices of 10 ms for each of eight cores, and of 25 ms for all.
    assert_eq!(case.budget.measure, Nanos::millis(2 * (8 * 10 + 25)));
    let mut single = machine(1, 64);
    single.cpu.threads.truncate(1);
    let reason = plan(single, &[("scope", "cores")]).unwrap_err();
    assert_eq!(reason.cause, Cause::Inapplicable, "{reason}");
}

/// A slice of 10 ms.
fn slice(axis: &str, value: u64, number: u64, megabytes: f64) -> Sample {
    let at = [(axis, value), ("slice", number), ("thread", 0)];
    let at = at.into_iter().map(|(name, value)| (name.to_owned(), Value::Count(value))).collect();
    Sample::new("slice", at, (Nanos(0), Nanos::millis(10)), format!("{megabytes} MB").parse().unwrap())
}

#[test]
fn cores_alone_are_no_thread_counts() {
    let case = plan(machine(1, 64), &[("scope", "cores"), ("kernel", "read")]).unwrap();
    let core = |cpu| slice("cpu", cpu, cpu, if cpu == 3 { 50.0 } else { 100.0 });
    let together = slice("threads", 4, 4, 250.0);
    let measures =
        BENCHMARK.reduce(&case, &[record((0..4).map(core).chain([together.clone()]).collect())]).unwrap();
    let of = |name: &str| measures.metrics[name].trials.concat();
    assert_eq!((of("one_core"), of("slowest_core"), of("gain")), (vec![10.0], vec![50.0], vec![2.5]));
    assert_eq!((measures.series["by_core"].len(), measures.series["by_threads"].len()), (4, 1));
    assert!(!measures.metrics.contains_key("bandwidth"));
    let lacking = BENCHMARK.reduce(&case, &[record((0..3).map(core).chain([together]).collect())]);
    assert_eq!(lacking.unwrap_err().cause, Cause::TooShort, "the core without a slice may be the slowest");
}

#[test]
fn all_cores_have_no_bandwidth_where_only_some_ran_together() {
    let case = plan(machine(1, 64), &[("kernel", "read")]).unwrap();
    let measures = BENCHMARK.reduce(&case, &[record(vec![slice("threads", 2, 0, 100.0)])]).unwrap();
    assert!(measures.metrics.contains_key("bandwidth") && !measures.metrics.contains_key("bandwidth_all"));
}

#[test]
fn a_machine_that_hides_its_memory_has_no_limit_and_says_why() {
    let case = plan(machine(1, 64), &[]).unwrap();
    let site = Site { nodes: vec![SiteNode::new("n1", machine(1, 64))] };
    let limit = BENCHMARK.limits(&case, &site).remove("bandwidth").unwrap();
    assert!(matches!(limit, seatrial_model::Limit::Unknown { reason } if !reason.is_empty()));
}

fn shard(kernel: Kernel, store: Option<Store>) -> ArrayShard {
    let isa = *Isa::available().last().expect("some instruction set");
    let pass = Pass::select(kernel, store, isa).expect("a loop");
    let spec = ShardSpec { elements: 1 << 20, pass, pages: vec![Pages::Base], memory: None };
    ArrayShard::new(&spec).expect("8 MiB an array")
}

#[test]
fn every_loop_leaves_what_it_should_and_a_flipped_bit_is_found() {
    for kernel in Kernel::ALL {
        let stores: &[Option<Store>] = if kernel.has_store_choice() {
            &[Some(Store::Regular), Some(Store::NonTemporal)]
        } else {
            &[None]
        };
        for store in stores {
            let mut shard = shard(*kernel, *store);
            while shard.passes() < 2 {
                shard.step(BLOCK);
            }
            let whole = shard.verify();
            assert!(
                matches!(whole, Integrity::Verified { checked } if checked > 0),
                "{kernel} {store:?}: {whole:?}"
            );
            shard.flip(777_777);
            let Integrity::Corrupt { wrong, first, .. } = shard.verify() else {
                panic!("{kernel} {store:?}: a flipped bit went unseen");
            };
            assert!(wrong >= 1 && first.contains("777777"), "{kernel} {store:?}: {first}");
        }
    }
}

#[test]
fn what_was_never_worked_through_is_not_verified() {
    assert!(matches!(shard(Kernel::Copy, Some(Store::Regular)).verify(), Integrity::Unverified { .. }));
}

#[test]
fn a_worker_measures_every_thread_count_and_proves_where_its_memory_is() {
    let mut here = machine(1, 64);
    let allowed = affinity::allowed().expect("a mask");
    here.cpu.threads.retain(|thread| allowed.contains(thread.id));
    here.cpu.isa = Known::Known(Isa::available().iter().map(|isa| isa.feature().to_owned()).collect());
    let case = plan(here, &[("array", "32 MiB"), ("kernel", "copy")]).unwrap();
    let mut part = connected(BENCHMARK.part(&case, &case.places[0])).unwrap();
    let mut kept = Kept::default();
    part.run(Phase::WarmUp, &Stop::after(Duration::ZERO), &mut kept).unwrap();
    assert!(kept.samples.is_empty(), "the warm-up keeps nothing");
    let cores = case.places[0].bindings.len() as u64;
    let mut seen = Vec::new();
    let measures = loop {
        let mut kept = Kept::default();
        part.run(Phase::Measure, &Stop::after(case.budget.measure.into()), &mut kept).unwrap();
        assert!(
            kept.evidence.contains_key("place")
                && kept.evidence.contains_key("pages")
                && kept.evidence.contains_key("isa")
        );
        let record = kept.record(&case.places[0], Integrity::Verified { checked: 1 });
        match BENCHMARK.reduce(&case, &[record]) {
            Ok(measures) => {
                let rows = measures.series["by_threads"].iter();
                let threads: Vec<_> = rows.map(|row| row.at.get("threads").cloned()).collect();
                if threads.last() == Some(&Some(Value::Count(cores))) {
                    break measures;
                }
                seen.push(format!("{threads:?}"));
            }
            Err(reason) => {
                assert_eq!(reason.cause, Cause::TooShort, "{reason}");
                seen.push(reason.to_string());
            }
        }
        assert!(seen.len() < 50, "of {cores} threads: {seen:#?}");
    };
    let integrity = part.verify().unwrap();
    assert!(matches!(integrity, Integrity::Verified { .. }), "{integrity:?}");
    for values in measures.metrics.values() {
        assert!(values.trials.iter().flatten().all(|rate| rate.is_finite() && *rate > 0.0));
    }
    assert!(array(&case) == Bytes::mib(32).get());
}
