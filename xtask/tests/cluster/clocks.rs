//! Clocks of nodes that are wrong.

use std::fs;
use std::process::Command;

use libtest_mimic::Trial;
use seatrial_model::Nanos;
use serde_json::Value;

use crate::rig::{BOTH, REQUESTS, Rig, shared};
use crate::started::record;
use crate::trial;

pub fn trials() -> Vec<Trial> {
    vec![
        trial("a_node_whose_time_of_day_is_wrong_starts_with_the_others_all_the_same", time_of_day_is_wrong),
        trial("a_node_whose_time_of_day_is_wrong_is_named", offset_is_told),
    ]
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

/// A line for a shell after which the time of day of its programs is 5 s ahead.
fn preload(rig: &Rig) -> String {
    let (source, library) = (rig.lab.folder().join("ahead.c"), rig.lab.folder().join("ahead.so"));
    fs::write(&source, AHEAD).unwrap();
    let mut cc = Command::new("cc");
    let built = cc.args(["-shared", "-fPIC", "-o"]).args([&library, &source]).output().unwrap();
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    format!("export LD_PRELOAD={}", library.display())
}

/// A client of ssh with which that is so of n2.
fn ahead_client(rig: &Rig, preload: &str) -> String {
    let change = format!("case \"$word\" in *\"--node n2\"*) word=\"{preload}; $word\";; esac");
    rig.client_that("client-ahead", &change)
}

/// A profile that wants the clocks of the nodes to be one.
const PROFILE: &str = "[[setting]]\nid = \"state.clock_offset\"\nat_most = \"128 ms\"\n";

fn offset_is_told() {
    shared(|rig| {
        let client = ahead_client(rig, &preload(rig));
        let profile = rig.lab.folder().join("clocks.toml");
        fs::write(&profile, PROFILE).unwrap();
        let profile = profile.to_string_lossy().into_owned();
        let seconds = |value: &Value| {
            let text = value["present"]["value"].as_str().unwrap();
            text.parse::<Nanos>().unwrap().as_secs()
        };
        let ended = rig.run(&[&["settings", &profile, "-o", "json"], BOTH, &[&client]]);
        assert_eq!(ended.code, Some(1), "{}{}", ended.out, ended.complaint);
        let document: Value = serde_json::from_str(&ended.out).unwrap();
        let settings = document["settings"].as_array().unwrap();
        let offsets: Vec<f64> =
            settings.iter().filter(|one| one["setting"] == "state.clock_offset").map(seconds).collect();
        // Both nodes have the clock of the machine. The value is what a slow answer cannot explain.
        assert!(matches!(offsets[..], [0.0, off] if off > 1.0 && off <= 5.0), "{offsets:?}");
        let document = rig.run(&[REQUESTS, BOTH, &[&client, "-o", "json"]]).document(0);
        let findings = document["findings"].as_array().unwrap().iter();
        let told: Vec<&Value> = findings.filter(|finding| finding["kind"] == "clock-offset").collect();
        assert!(matches!(told[..], [one] if one["node"] == "n2"), "{told:#?}");
    });
}

/// The lab's monotonic clocks are 4321 s apart from node to node as well; see `over_ssh`.
fn time_of_day_is_wrong() {
    shared(|rig| {
        let preload = preload(rig);
        let seconds = |line: &str| rig.lab.node("n2", line).trim().parse::<i64>().unwrap();
        // The fault is what it says: the second look is the later one by 5 s and what lies between the looks.
        let apart = seconds("date +%s") - seconds(&format!("{preload}; date +%s"));
        assert!(apart <= -5, "{apart}");

        let client = ahead_client(rig, &preload);
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
