//! Restricted environments: CPUs, memory, huge pages, no right to bind memory.

use std::fs;

use seatrial_model::record::CaseRecord;
use seatrial_model::{Bytes, Cause, Outcome, Params};

use crate::rig::{Call, Cgroup, Home, SMALL, assert_nothing_runs, is_installed, skipped};

const BRIEF: &str = "-p time=300ms -p trials=1 -p max_trials=1 -o json";

fn first_cpu() -> u32 {
    let status = fs::read_to_string("/proc/self/status").expect("procfs");
    let list = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:")).expect("a list");
    let first = list.trim().split([',', '-']).next().expect("not empty");
    first.parse().expect("a CPU")
}

fn threads(case: &CaseRecord) -> Vec<u64> {
    let rows = &case.series["by_threads"].rows;
    rows.iter().map(|row| row.at.count("threads").expect("an axis")).collect()
}

fn under(call: Call, words: &[String]) -> Call {
    call.under(&words.iter().map(String::as_str).collect::<Vec<_>>())
}

#[test]
fn on_one_core_one_thread_is_measured() {
    if !is_installed("taskset") {
        return;
    }
    let home = Home::new();
    let cpu = first_cpu().to_string();
    let run = home.seatrial(&format!("run mem.bandwidth -p array=4MiB {BRIEF}"));
    let case = run.under(&["taskset", "-c", &cpu]).run().exits(0).case();
    assert_eq!(threads(&case), [1]);
    assert_eq!(case.facts.count("cores"), Ok(1));
}

#[test]
fn more_threads_than_the_cores_left_are_skipped_with_the_reason() {
    if !is_installed("taskset") {
        return;
    }
    let home = Home::new();
    let cpu = first_cpu().to_string();
    let run = home.seatrial(&format!("run mem.bandwidth -p array=4MiB -p threads=2 {BRIEF}"));
    let case = run.under(&["taskset", "-c", &cpu]).run().exits(3).case();
    assert_eq!(case.outcome, Outcome::Skipped);
    assert!(case.reason.expect("a reason").contains("has only 1 cores that this process may use"));
}

#[test]
fn a_cpuset_of_one_core_is_kept_to() {
    let cpu = first_cpu().to_string();
    let group = match Cgroup::new("cpuset", &[("cpuset.mems", "0"), ("cpuset.cpus", &cpu)]) {
        Ok(group) => group,
        Err(why) => return skipped(&why),
    };
    let home = Home::new();
    let run = home.seatrial(&format!("run mem.bandwidth -p array=4MiB {BRIEF}"));
    let case = under(run, &group.enter()).run().exits(0).case();
    assert_eq!(threads(&case), [1]);
    assert_nothing_runs(home.path());
}

fn memory(limit: &str) -> Option<Cgroup> {
    Cgroup::new("memory", &[("memory.limit_in_bytes", limit)]).map_err(|why| skipped(&why)).ok()
}

fn kills(group: &Cgroup) -> Option<u64> {
    group.read("memory.oom_control").lines().find_map(|line| line.strip_prefix("oom_kill ")?.parse().ok())
}

#[test]
fn arrays_shrink_to_what_the_control_group_allows() {
    let Some(group) = memory("160M") else { return };
    let home = Home::new();
    let run = home.seatrial(&format!("run mem.bandwidth -p kernel=copy {BRIEF}"));
    let ended = under(run, &group.enter()).run();
    assert_eq!(kills(&group), Some(0), "{}", ended.err);
    let case = ended.exits(0).case();
    let size = |from: &Params, name| from.bytes(name).expect("a size").map(Bytes::get);
    let array = size(&case.chosen, "array").expect("a size");
    assert!(2 * array < 160 << 20, "two arrays of {array} bytes");
    if size(&case.layout, "l3").is_some_and(|l3| array < 4 * l3) {
        assert!(case.findings.iter().any(|finding| finding.kind == "cache-resident"), "{:#?}", case.findings);
    }
    assert_nothing_runs(home.path());
}

#[test]
fn arrays_that_the_control_group_does_not_hold_are_not_tried() {
    let Some(group) = memory("160M") else { return };
    let home = Home::new();
    let run = home.seatrial(&format!("run mem.bandwidth -p kernel=copy -p array=1GiB {BRIEF}"));
    let ended = under(run, &group.enter()).run();
    assert_eq!(kills(&group), Some(0), "{}", ended.err);
    let case = ended.exits(3).case();
    assert_eq!((case.outcome, case.cause), (Outcome::Unmeasured, Some(Cause::NoSpace)));
    let reason = case.reason.expect("a reason");
    assert!(
        reason.contains(
            "array=1 GiB: 2 arrays of this size need more than half of the available memory; at most"
        ),
        "{reason}"
    );
}

#[test]
fn huge_pages_that_are_not_there_are_told_and_auto_falls_back() {
    let pool =
        fs::read_to_string("/sys/kernel/mm/hugepages/hugepages-2048kB/free_hugepages").unwrap_or_default();
    if pool.trim().parse().unwrap_or(0) > 0 {
        return skipped("there are explicit huge pages on this machine");
    }
    let home = Home::new();
    let run = home.seatrial(&format!("run mem.bandwidth {SMALL} -p pages=2MiB -o json"));
    let case = run.run().exits(3).case();
    assert_eq!(case.outcome, Outcome::Unmeasured, "{case:#?}");
    let cause = case.cause.expect("a cause");
    assert!(matches!(cause, Cause::NoSpace | Cause::Missing), "{cause:?}");
    let reason = case.reason.expect("a reason");
    assert!(reason.contains("2MiB") && reason.contains("os error 12"), "{reason}");

    let case = home.seatrial(&format!("run mem.bandwidth {SMALL} -o json")).run().exits(0).case();
    let refused = case.evidence["pages"]["refused"].to_string();
    assert!(refused.contains("2MiB"), "what was refused stands in the record: {refused}");
}

/// Starts a program for which the kernel answers EPERM to some system calls: seccomp(2) by perl, which every Debian
/// has, since tests contain no unsafe code.
fn forbidding(calls: &[i64]) -> Vec<String> {
    let fixture = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/rig/forbid.pl");
    let mut words = vec!["perl".to_owned(), fixture.to_owned(), libc::SYS_prctl.to_string()];
    words.extend(calls.iter().map(ToString::to_string));
    words.push("--".to_owned());
    words
}

#[test]
fn memory_that_may_not_be_bound_is_measured_where_it_falls_and_the_record_says_so() {
    if !is_installed("perl") {
        return;
    }
    let home = Home::new();
    let run = home.seatrial(&format!("run mem.bandwidth {SMALL} -o json"));
    let case = under(run, &forbidding(&[libc::SYS_mbind, libc::SYS_move_pages])).run().exits(0).case();
    let denied = case.evidence["place"]["denied"].to_string();
    assert!(denied.contains("mbind") || denied.contains("move_pages"), "{denied}");
    assert!(denied.contains("Operation not permitted"), "{denied}");
    assert!(
        case.findings.iter().any(|finding| finding.kind == "placement-unverified"),
        "{:#?}",
        case.findings
    );
}
