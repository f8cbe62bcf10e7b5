//! Plans and limits on invented machines.

use std::collections::BTreeSet;

use seatrial_model::machine::{Known, NumaNode};
use seatrial_model::{Bytes, Case, Cause, Limit, Nanos, Severity};

use crate::pipeline::BENCHMARK;
use crate::pipeline::fixture::{GIB, machine, plan, site, with_modules};
use crate::pipeline::window::LEAD;

fn memory(case: &Case) -> u64 {
    case.planned.bytes("memory").unwrap().unwrap().get()
}

fn ring(case: &Case) -> &str {
    case.planned.text("ring").unwrap()
}

fn nodes(case: &Case) -> BTreeSet<u32> {
    case.places[0].bindings.iter().map(|binding| binding.node).collect()
}

#[test]
fn the_window_is_whole_rounds_of_the_measuring_time() {
    let round = 49_152_000;
    let case = plan(machine(1, 64, 32), &[("time", "4 s")]).unwrap();
    assert_eq!(case.budget.measure, Nanos(81 * round).plus(LEAD));
    let case = plan(machine(1, 64, 32), &[("time", "25166 ms")]).unwrap();
    assert_eq!((case.planned.count("rounds"), case.budget.measure), (Ok(512), Nanos(512 * round).plus(LEAD)));
    let readme = [("scenario", "cobalt2-readme"), ("time", "4 s")];
    assert_eq!(plan(machine(1, 64, 32), &readme).unwrap().budget.measure, Nanos(40 * 2 * round).plus(LEAD));
}

#[test]
fn a_time_below_a_round_is_a_usage_error() {
    let reason = plan(machine(1, 64, 32), &[("scenario", "cobalt2-readme"), ("time", "98 ms")]).unwrap_err();
    assert_eq!(reason.cause, Cause::Contradiction);
    assert_eq!(reason.text, "time=98 ms is shorter than one round of the scenario, 98304 us");
    let reason = plan(machine(1, 64, 32), &[("mode", "max"), ("time", "1999 ms")]).unwrap_err();
    assert_eq!(reason.cause, Cause::Contradiction);
    assert!(reason.text.starts_with("time=1999 ms is shorter than 2 s"), "{reason}");
}

#[test]
fn a_scheduling_class_that_does_not_exist_is_a_usage_error() {
    let reason = plan(machine(1, 64, 32), &[("sched", "fifo")]).unwrap_err();
    assert_eq!(reason.cause, Cause::Contradiction);
    assert!(reason.text.contains("sched=fifo is neither 'other' nor 'fifo:N'"), "{reason}");
}

#[test]
fn blocks_rotate_past_the_caches_in_use_of_all_nodes() {
    // 4 x 2 x 512 MiB at 87.75 GB/s are 48.9 ms: 16 small blocks, 2 large ones, 1 of the output.
    let case = plan(machine(2, 64, 512), &[]).unwrap();
    assert_eq!(ring(&case), "16 16 16 2 2 2 1 1 1 1");
    assert!(memory(&case) >= 4 * GIB && case.findings.is_empty(), "{:?}", case.findings);
    assert_eq!(ring(&plan(machine(1, 64, 32), &[]).unwrap()), "1 1 1 1 1 1 1 1 1 1");
}

#[test]
fn a_machine_of_unknown_caches_gets_a_gibibyte_between_two_uses() {
    let mut blank = machine(1, 64, 32);
    blank.caches = Default::default();
    assert_eq!(ring(&plan(blank, &[]).unwrap()), "4 4 4 1 1 1 1 1 1 1");
}

#[test]
fn one_block_a_step_is_told_to_be_in_the_cache_when_it_is() {
    let case = plan(machine(2, 64, 512), &[("blocks", "one")]).unwrap();
    assert_eq!(ring(&case), "1 1 1 1 1 1 1 1 1 1");
    let finding = &case.findings[0];
    assert_eq!((finding.kind.as_str(), finding.severity), ("cache-resident", Severity::Info));
    assert!(plan(machine(1, 64, 32), &[("blocks", "one")]).unwrap().findings.is_empty());
}

#[test]
fn short_memory_shortens_the_rings_and_is_told() {
    let case = plan(machine(1, 5, 1024), &[]).unwrap();
    assert!(memory(&case) <= 5 * GIB / 2, "{case:?}");
    let finding = &case.findings[0];
    assert_eq!((finding.kind.as_str(), finding.severity), ("cache-resident", Severity::Warning));
    assert!(finding.text.contains("free memory"), "{}", finding.text);
}

#[test]
fn memory_that_does_not_hold_a_block_of_every_step_is_refused_before_anything_is_allocated() {
    for blocks in ["rotate", "one"] {
        let reason = plan(machine(1, 3, 32), &[("blocks", blocks)]).unwrap_err();
        assert_eq!(reason.cause, Cause::NoSpace);
        assert!(reason.text.starts_with("one block of every step takes 1.8 GiB for 18 stations"), "{reason}");
        assert!(reason.text.contains("more than 1.5 GiB"), "{reason}");
    }
}

#[test]
fn the_fullest_node_counts_for_the_stations_that_it_gets() {
    let mut uneven = machine(2, 64, 32);
    uneven.numa[1].available_bytes = Known::Known(GIB);
    assert_eq!(plan(uneven, &[]).unwrap_err().cause, Cause::NoSpace);
    let mut enough = machine(2, 64, 32);
    enough.numa[1].available_bytes = Known::Known(2 * GIB);
    assert!(plan(enough, &[]).is_ok());
}

#[test]
fn stations_of_two_nodes_share_the_memory_of_the_one_that_a_cpuset_leaves() {
    let mut narrow = machine(2, 64, 32);
    narrow.numa[1].available_bytes = Known::Known(2 * GIB);
    narrow.confinement.memory_nodes = Known::Known(vec![1]);
    assert_eq!(plan(narrow.clone(), &[]).unwrap_err().cause, Cause::NoSpace);
    narrow.numa[1].available_bytes = Known::Known(4 * GIB);
    let case = plan(narrow, &[]).unwrap();
    assert!(case.places[0].bindings.iter().all(|binding| binding.memory == Some(1)));
}

#[test]
fn memory_without_cores_gets_no_station() {
    let mut far = machine(2, 64, 32);
    far.numa.push(NumaNode {
        id: 2,
        total_bytes: Known::Known(GIB),
        available_bytes: Known::Known(1 << 20),
        ..NumaNode::default()
    });
    let case = plan(far, &[]).unwrap();
    assert_eq!(nodes(&case), [0, 1].into());
    assert_eq!(case.facts.count("numa_nodes"), Ok(3));
}

#[test]
fn a_thread_a_core_or_a_thread_a_step_on_any_of_the_cpus() {
    let case = plan(machine(2, 64, 32), &[]).unwrap();
    assert_eq!((case.places[0].bindings.len(), case.planned.count("workers")), (8, Ok(8)));
    let case = plan(machine(2, 64, 32), &[("threads", "step")]).unwrap();
    assert_eq!((case.places[0].bindings.len(), case.planned.count("workers")), (16, Ok(180)));
    assert!(case.places[0].bindings.iter().all(|binding| binding.memory == Some(binding.node)));
}

#[test]
fn a_single_core_is_enough() {
    let mut single = machine(1, 64, 32);
    single.cpu.threads.truncate(1);
    let case = plan(single, &[]).unwrap();
    assert_eq!((case.places[0].bindings.len(), case.planned.count("workers")), (1, Ok(1)));
}

fn limit(case: &Case, machine: seatrial_model::machine::Machine, metric: &str) -> Limit {
    BENCHMARK.limits(case, &site(machine)).remove(metric).expect("every metric has one")
}

#[test]
fn the_pace_and_the_memory_bound_the_throughput() {
    let known = || with_modules(machine(1, 64, 32));
    let case = plan(known(), &[]).unwrap();
    let Limit::Chain(chain) = limit(&case, known(), "throughput") else { panic!("a chain") };
    let values: Vec<String> = chain.iter().map(|bound| bound.value.to_string()).collect();
    assert_eq!(values, ["460.8 GB/s", "702 Gbit/s"]);
    let case = plan(known(), &[("mode", "max")]).unwrap();
    let Limit::Chain(chain) = limit(&case, known(), "headroom") else { panic!("a chain") };
    assert!((chain[0].value.value() - 460.8 * 8.0 / 702.0).abs() < 1e-9);
    assert_eq!(chain[0].formula, "12 channels x 4800 MT/s x 8 B / 702 Gbit/s");
    let Limit::Chain(chain) = limit(&case, known(), "throughput") else { panic!("a chain") };
    assert_eq!(chain.len(), 1, "the pace bounds nothing where it is raised");
}

#[test]
fn caches_that_hold_the_blocks_leave_the_pace_alone_as_bound() {
    let large = || with_modules(machine(2, 64, 512));
    let case = plan(large(), &[("blocks", "one")]).unwrap();
    let Limit::Chain(chain) = limit(&case, large(), "throughput") else { panic!("a chain") };
    assert_eq!(chain.len(), 1);
    assert_eq!(chain[0].provenance, "scenario");
    let case = plan(large(), &[("blocks", "one"), ("mode", "max")]).unwrap();
    for metric in ["throughput", "headroom", "traffic_least"] {
        let Limit::Unknown { reason } = limit(&case, large(), metric) else {
            panic!("{metric} has no bound")
        };
        assert!(reason.contains("stays in the caches"), "{reason}");
    }
}

#[test]
fn what_the_plan_takes_stands_in_the_case() {
    let case = plan(machine(1, 64, 32), &[]).unwrap();
    assert_eq!(case.planned.bytes("memory"), Ok(Some(Bytes(18 * (5 * 1_152_000 + 11 * 9_216_000)))));
    assert_eq!(case.planned.bytes("l3"), Ok(Some(Bytes::mib(32))));
}
