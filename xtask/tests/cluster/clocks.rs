//! Clocks of nodes that are wrong.

use std::fs;
use std::process::Command;

use libtest_mimic::Trial;
use serde_json::Value;

use crate::rig::{BOTH, REQUESTS, shared};
use crate::started::record;
use crate::trial;

pub fn trials() -> Vec<Trial> {
    vec![trial("a_node_whose_time_of_day_is_wrong_starts_with_the_others_all_the_same", time_of_day_is_wrong)]
}

/// The time of day has no namespace, so the one that a program is told is changed between it and the kernel.
const AHEAD: &str = "
#define _GNU_SOURCE
#include <time.h>
#include <unistd.h>
#include <sys/syscall.h>
int clock_gettime(clockid_t clock, struct timespec *time) {
    long answer = syscall(SYS_clock_gettime, clock, time);
    if (answer == 0 && clock == CLOCK_REALTIME) time->tv_sec += 5;
    return (int)answer;
}
";

/// The lab's monotonic clocks are 4321 s apart from node to node as well; see `over_ssh`.
fn time_of_day_is_wrong() {
    shared(|rig| {
        let (source, library) = (rig.lab.folder().join("ahead.c"), rig.lab.folder().join("ahead.so"));
        fs::write(&source, AHEAD).unwrap();
        let mut cc = Command::new("cc");
        let built = cc.args(["-shared", "-fPIC", "-o"]).args([&library, &source]).output().unwrap();
        assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
        let preload = format!("export LD_PRELOAD={}", library.display());
        let seconds = |line: &str| rig.lab.node("n2", line).trim().parse::<i64>().unwrap();
        // The fault is what it says: the second look is the later one by 5 s and what lies between the looks.
        let apart = seconds("date +%s") - seconds(&format!("{preload}; date +%s"));
        assert!(apart <= -5, "{apart}");

        let change = format!("case \"$word\" in *\"--node n2\"*) word=\"{preload}; $word\";; esac");
        let client = rig.client_that("client-ahead", &change);
        let mut seen = Vec::new();
        // Microseconds on a quiet machine. A busy one may wake a part late, or leave it without a CPU; if the time of day were
        // in it, that would be 5 s in every run.
        for _ in 0..10 {
            let ended = rig.run(&[REQUESTS, BOTH, &[&client, "-o", "json"]]);
            let document = ended.document(0);
            let case = record(&document, "net.rr");
            assert_eq!(case["outcome"], "measured", "{case:#}");
            // Times of the record are the controller's, whatever a node takes the time to be.
            let seconds = case["seconds"].as_f64().unwrap();
            assert!(seconds > 0.1 && seconds < ended.seconds(), "{seconds} of {}", ended.seconds());
            let nanos =
                |time: &Value| time.as_str().unwrap().strip_suffix(" ns").unwrap().parse::<u64>().unwrap();
            let parts = ended.parts("net.rr");
            let samples = parts.iter().flat_map(|part| part["samples"].as_array().unwrap());
            let longest = samples.map(|sample| nanos(&sample["end"]) - nanos(&sample["start"])).max();
            let start = &case["evidence"]["start"];
            let is_near = start["skew_ns"].as_u64().is_some_and(|skew| skew < 1_000_000_000);
            if is_near && longest.is_some_and(|longest| longest < 5_000_000_000) {
                return;
            }
            seen.push((start.clone(), longest));
        }
        panic!("{seen:#?}");
    });
}
