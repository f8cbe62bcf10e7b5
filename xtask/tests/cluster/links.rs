//! Links that are cut.

use std::thread::sleep;
use std::time::{Duration, Instant};

use libtest_mimic::Trial;

use crate::rig::{BOTH, long_chase, shared, with_more_time};
use crate::started::{outcome, too_late, wait_until};
use crate::trial;

pub fn trials() -> Vec<Trial> {
    vec![
        trial("a_link_that_is_cut_for_two_seconds_loses_nothing", cut_for_two_seconds),
        trial("a_link_that_is_cut_for_good_ends_the_case_and_not_the_run", cut_for_good),
    ]
}

const JSON: &[&str] = &["-o", "json"];

/// How long the short cut takes. TCP sends again at 0.2, 0.6, 1.4 and 3.0 s (RFC 6298, with Linux's smallest timeout),
/// so a measurement of four seconds goes on before its end.
const CUT: Duration = Duration::from_secs(2);

/// A cut that a busy machine made longer than this says nothing: TCP sends again too late for who waits for an answer.
const TOO_LONG: Duration = Duration::from_millis(2900);

/// Tries to cut the link for no longer than that.
const TRIES: usize = 10;

fn cut_for_two_seconds() {
    shared(|rig| {
        with_more_time(rig, |time| {
            // Long enough for what comes behind the cut.
            let time = if time == "time=800ms" { "time=4s" } else { time };
            let requests = ["run", "net.rr", "-p", time, "-p", "trials=1", "-p", "max_trials=1"];
            for _ in 0..TRIES {
                let mut runs = [BOTH, &["-N2"]].map(|nodes| rig.start(&[&requests, nodes, JSON]));
                runs.iter_mut().for_each(|run| run.wait_for_measuring("net.rr"));
                let began = Instant::now();
                rig.lab.lab(&["fault", "n2", "down"]);
                sleep(CUT);
                let was_meanwhile = runs.iter().all(|run| !run.has("case_ended", "net.rr"));
                rig.lab.lab(&["heal", "n2"]);
                let is_short = began.elapsed() < TOO_LONG;
                let ended = runs.map(crate::started::Started::end);
                if is_short {
                    if !was_meanwhile {
                        too_late("a case ended while the link was cut");
                    }
                    for run in ended {
                        assert_eq!(outcome(&run.document(0), "net.rr"), ("measured", ""));
                    }
                    return;
                }
            }
            eprintln!("no cut of {TRIES} was short enough: nothing was tested");
        });
    });
}

fn cut_for_good() {
    shared(|rig| {
        // Seatrial itself lets a connection be silent for 30 s, which nobody here wants to wait for.
        let client = rig.client("-o ServerAliveInterval=1 -o ServerAliveCountMax=6");
        with_more_time(rig, |time| {
            let mut run = rig.start(&[&long_chase(time), &["-w", "n2,n1"], &[&client], JSON]);
            run.wait_for_measuring("mem.latency@n2");
            rig.lab.lab(&["fault", "n2", "down"]);
            run.still_measures("mem.latency@n2");
            let document = run.end().document(1);
            assert_eq!(outcome(&document, "mem.latency@n2"), ("failed", "vanished"));
            assert_eq!(outcome(&document, "mem.latency@n1"), ("measured", ""));
            rig.lab.lab(&["heal", "n2"]);
            wait_until("the agent behind the cut to leave", || rig.left().is_empty());
        });
    });
}
