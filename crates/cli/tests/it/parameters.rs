//! Negative, absurd or contradictory parameters are errors before anything is allocated; sweeps are planned.

use seatrial_model::{Cause, Outcome};

use crate::rig::{Home, Script};

/// Runs with `params` on this machine; it must be refused with `complaint` before there is a run.
#[track_caller]
fn refused(params: &[&str], complaint: &str) {
    let home = Home::new();
    let run = params.iter().fold(home.seatrial("run mem.bandwidth"), |run, param| run.word("-p").word(param));
    let ended = run.run().exits(2).says(complaint);
    assert_eq!(ended.out, "", "{params:?}");
    assert!(!home.path().exists(), "{params:?}: a home was made for nothing");
}

#[test]
fn negative_values_are_refused() {
    refused(&["array=-64MiB"], "cannot be negative");
    refused(&["trials=-1"], "'-1' is not a whole number");
    refused(&["threads=-2"], "'-2' is not a whole number");
    refused(&["time=-5ms"], "'-5ms' is out of range");
    refused(&["precision=-1"], "-1 is outside 0.01 to 100");
}

#[test]
fn zero_is_refused() {
    refused(&["array=0"], "0 B is outside 1 MiB to 16 TiB");
    refused(&["trials=0"], "0 is outside 1 to 1000");
    refused(&["threads=0"], "0 is outside 1 to 4096");
    refused(&["time=0s"], "outside 50 ms to 3600 s");
    refused(&["precision=0"], "0 is outside 0.01 to 100");
}

#[test]
fn absurd_values_are_refused() {
    refused(&["array=1PiB"], "1 PiB is outside 1 MiB to 16 TiB");
    refused(&["array=99999999999999999999999GiB"], "array");
    refused(&["trials=18446744073709551616"], "trials");
    refused(&["precision=NaN"], "NaN is outside 0.01 to 100");
    refused(&["precision=inf"], "inf is outside 0.01 to 100");
    refused(&["time=1e300s"], "time");
}

#[test]
fn contradictory_values_are_refused() {
    refused(&["trials=5", "max_trials=2"], "max_trials=2 contradicts trials=5");
}

#[test]
fn values_that_are_none_are_refused() {
    refused(&["kernel="], "-p kernel=: the name or a value is empty");
    refused(&["kernel=copy,,triad"], "a value is empty");
    refused(&["=copy"], "the name or a value is empty");
    refused(&["kernel"], "a parameter is given as NAME=VALUE");
    refused(&[""], "a parameter is given as NAME=VALUE");
    refused(&["array=64QiB"], "unknown unit 'QiB'");
}

#[test]
fn typos_suggest_the_nearest_name() {
    refused(&["kernal=copy"], "sched); did you mean 'kernel'?");
    refused(&["kernel=traid"], "did you mean 'triad'?");
    let home = Home::new();
    home.seatrial("run mem.bandwith").run().exits(2).says("did you mean 'mem.bandwidth'?");
    home.seatrial("run quantum.flux")
        .run()
        .exits(2)
        .says("there is no benchmark 'quantum.flux'")
        .says("seatrial list");
    home.seatrial("run cpu.noise").run().exits(2).says("cpu.noise");
    home.seatrial("run memory")
        .run()
        .exits(2)
        .says("memory: mem.bandwidth, mem.latency, mem.loaded_latency, mem.pipeline; try 'mem.bandwidth'");
    home.seatrial("check memory").run().exits(2).says("measure with `seatrial run mem.bandwidth`");
    home.seatrial("check net.rr").run().exits(2).says("benchmarks: net.rr; measure");
    home.seatrial("run host").run().exits(2).says("host is a profile: `seatrial check host`");
    home.seatrial("run network").run().exits(2).says("net.tcp_stream");
    home.seatrial("list fs").run().exits(2).says("fs: storage.");
    home.seatrial("run mem.bandwidth --pattern ring")
        .run()
        .exits(2)
        .says("leave out --pattern: it is for benchmarks between nodes, and mem.bandwidth");
    home.seatrial("run net.rr storage.raw --pattern ring")
        .run()
        .exits(2)
        .says("storage.raw measures each node by itself, or run storage.raw without the others");
    home.seatrial("run storage.file --pattern ring")
        .run()
        .exits(2)
        .says("pattern ring pairs nodes, and storage.file measures each node by itself, or all of a group");
    home.seatrial("run net.tcp_stream --pattern allpairs").run().exits(2).says("did you mean 'all-pairs'?");
    home.seatrial("list mem.bandwith").run().exits(2).says("did you mean 'mem.bandwidth'?");
}

#[test]
fn a_sweep_without_bounds_is_refused() {
    let many: Vec<String> = (1..=400).map(|count| count.to_string()).collect();
    let many = many.join(",");
    refused(&[&format!("trials={many}"), &format!("threads={many}")], "the sweep has 160000 combinations");
}

#[test]
fn an_array_that_no_memory_holds_is_told_without_taking_any() {
    let home = Home::new();
    let case = home.seatrial("run mem.bandwidth -p array=16TiB -o json").run().exits(3).case();
    assert_eq!((case.outcome, case.cause), (Outcome::Unmeasured, Some(Cause::NoSpace)));
    let reason = case.reason.expect("a reason");
    assert!(reason.contains("array=16 TiB") && reason.contains("available memory; at most"), "{reason}");
    assert_eq!(case.seconds, 0.0, "no worker was started");
}

/// Cases of `params` on a simulated node, by their non-default parameters.
fn cases(params: &str) -> Vec<String> {
    let run = Home::new().seatrial(&format!("run mem.bandwidth {params} -o json"));
    let document = run.script(&Script::measuring(60.0)).run().document();
    document.results.iter().map(|record| record.case.to_string()).collect()
}

#[test]
fn several_values_are_a_sweep_over_their_product() {
    assert_eq!(cases(""), ["mem.bandwidth@n1/node"]);
    assert_eq!(
        cases("-p kernel=copy,triad -p store=regular,nt"),
        [
            "mem.bandwidth@n1/node[kernel=copy,store=regular]",
            "mem.bandwidth@n1/node[kernel=copy,store=nt]",
            "mem.bandwidth@n1/node[store=regular]",
            "mem.bandwidth@n1/node[store=nt]"
        ]
    );
}

#[test]
fn a_parameter_given_twice_adds_values_and_the_same_value_counts_once() {
    let two = ["mem.bandwidth@n1/node[kernel=copy]", "mem.bandwidth@n1/node[kernel=add]"];
    assert_eq!(cases("-p kernel=copy -p kernel=add"), two);
    assert_eq!(cases("-p kernel=copy -p kernel=copy,add"), two);
    assert_eq!(cases("-p array=64MiB,65536KiB").len(), 1);
}

#[test]
fn stores_of_a_loop_that_stores_nothing_are_skipped_with_the_reason() {
    let run = Home::new().seatrial("run mem.bandwidth -p kernel=read,copy -p store=nt -o json");
    let document = run.script(&Script::measuring(60.0)).run().exits(0).document();
    let [skipped, measured] = document.results.as_slice() else { panic!("{:#?}", document.results) };
    assert_eq!((skipped.outcome, skipped.cause), (Outcome::Skipped, Some(Cause::Inapplicable)));
    assert_eq!(skipped.reason.as_deref(), Some("store= does not apply to kernel read: it stores nothing"));
    assert_eq!(measured.outcome, Outcome::Measured);
}

#[test]
fn nodes_and_parameters_in_the_wrong_place_are_told_where_they_go() {
    let home = Home::new();
    home.seatrial("inventory n1 n2").run().exits(2).says("nodes go to -w n1,n2");
    home.seatrial("run net.tcp_stream n1 n2").run().exits(2).says("nodes go to -w n1,n2");
    home.seatrial("run net.tcp_stream --nodes n1,n2").run().exits(2).says("node names go to -w n1,n2");
    home.seatrial("run net.tcp_stream -w n1..n4").run().exits(2).says("ranges are n[1-4]");
    home.seatrial("run mem.latency time=1s").run().exits(2).says("parameters go to -p time=1s");
    let check = home.seatrial("check host -p time=1s").run().exits(2).says("-p sets parameters of");
    assert!(!check.err.contains("as a value"), "{}", check.err);
    home.seatrial("version").run().exits(2).says("seatrial --version");
    home.seatrial("bench").run().exits(2).says("seatrial run BENCH");
}
