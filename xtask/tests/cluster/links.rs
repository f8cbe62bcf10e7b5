//! Links that are cut.

use std::thread::sleep;
use std::time::Duration;

use libtest_mimic::Trial;

use crate::rig::{BOTH, LONG_CHASE, shared};
use crate::started::{outcome, wait_until};
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

fn cut_for_two_seconds() {
    shared(|rig| {
        let requests = ["run", "net.rr", "-p", "time=4s", "-p", "trials=1", "-p", "max_trials=1"];
        let mut runs = [BOTH, &["-N2"]].map(|nodes| rig.start(&[&requests, nodes, JSON]));
        runs.iter_mut().for_each(|run| run.wait_for_measuring("net.rr"));
        rig.lab.lab(&["fault", "n2", "down"]);
        sleep(CUT);
        assert!(
            runs.iter().all(|run| !run.has("case_ended", "net.rr")),
            "a case ended while the link was cut"
        );
        rig.lab.lab(&["heal", "n2"]);
        for run in runs {
            let document = run.end().document(0);
            assert_eq!(outcome(&document, "net.rr"), ("measured", ""));
        }
    });
}

fn cut_for_good() {
    shared(|rig| {
        // Seatrial itself lets a connection be silent for 30 s, which nobody here wants to wait for.
        let client = rig.client("-o ServerAliveInterval=1 -o ServerAliveCountMax=2");
        let mut run = rig.start(&[LONG_CHASE, &["-w", "n2,n1"], &[&client], JSON]);
        run.wait_for_measuring("mem.latency@n2");
        rig.lab.lab(&["fault", "n2", "down"]);
        let document = run.end().document(1);
        assert_eq!(outcome(&document, "mem.latency@n2"), ("failed", "vanished"));
        assert_eq!(outcome(&document, "mem.latency@n1"), ("measured", ""));
        rig.lab.lab(&["heal", "n2"]);
        wait_until("the agent behind the cut to leave", || rig.left().is_empty());
    });
}
