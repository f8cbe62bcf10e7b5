//! Agents, daemons and controllers that end before their time.

use libtest_mimic::Trial;
use rustix::process::Signal;

use crate::rig::{BOTH, ENDLESS, Rig, long_chase, shared, with_more_time};
use crate::started::{outcome, reason, record, too_late, wait_until};
use crate::trial;

pub fn trials() -> Vec<Trial> {
    vec![
        trial(
            "an_agent_killed_between_cases_leaves_them_unmeasured_until_the_run_is_resumed",
            killed_between_cases,
        ),
        trial("an_agent_killed_inside_a_case_fails_it", killed_inside_a_case),
        trial("a_dead_slurmd_disturbs_nothing", a_dead_slurmd_disturbs_nothing),
        trial("a_job_that_is_cancelled_ends_the_run_and_not_the_controller", a_cancelled_job),
        trial("ctrl_c_takes_the_agents_along_and_the_run_can_be_gone_on_with", ctrl_c),
        trial("a_controller_that_was_killed_takes_its_agents_along", a_killed_controller),
    ]
}

const JSON: &[&str] = &["-o", "json"];

/// Both ways to have agents, and what to kill of them.
const WAYS: [(&[&str], &str); 2] = [
    (BOTH, "pkill -KILL -x seatrial-agent"),
    (&["-N2"], "pkill -KILL -x slurmstepd; pkill -KILL -x seatrial-agent"),
];

/// The nodes of the lab take turns, n1 first.
fn killed_between_cases() {
    shared(|rig| {
        for (nodes, kill) in WAYS {
            with_more_time(rig, |time| {
                let mut run = rig.start(&[&long_chase(time), nodes, JSON]);
                run.wait_for("case_started", "mem.latency@n1");
                rig.lab.node("n2", kill);
                run.still_measures("mem.latency@n1");
                let ended = run.end();
                let document = ended.document(3);
                assert_eq!(outcome(&document, "mem.latency@n1"), ("measured", ""), "{nodes:?}");
                assert_eq!(
                    outcome(&document, "mem.latency@n2"),
                    ("unmeasured", "never_reached"),
                    "{nodes:?}"
                );
                let why = reason(&document, "mem.latency@n2");
                assert!(why.contains("the agent of n2 was lost before this case"), "{why}");
                // What was never come to is gone on with, what was measured is kept. Once is enough: it is the same for
                // both.
                if nodes != BOTH {
                    return;
                }
                let resumed = ended.then(rig.command(&[], &rig.program, &[&["run", "--resume"], JSON])).end();
                let after = resumed.document(0);
                assert_eq!(outcome(&after, "mem.latency@n2"), ("measured", ""), "{nodes:?}");
                assert_eq!(record(&after, "mem.latency@n1"), record(&document, "mem.latency@n1"));
            });
        }
    });
}

fn killed_inside_a_case() {
    shared(|rig| {
        for (nodes, kill) in WAYS {
            with_more_time(rig, |time| {
                let mut run = rig.start(&[&long_chase(time), nodes, JSON]);
                run.wait_for_measuring("mem.latency@n1");
                rig.lab.node("n1", kill);
                run.still_measures("mem.latency@n1");
                let document = run.end().document(1);
                assert_eq!(outcome(&document, "mem.latency@n1"), ("failed", "vanished"), "{nodes:?}");
                assert_eq!(outcome(&document, "mem.latency@n2"), ("measured", ""), "{nodes:?}");
            });
        }
    });
}

fn a_dead_slurmd_disturbs_nothing() {
    shared(|rig| {
        with_more_time(rig, |time| {
            let mut run = rig.start(&[&long_chase(time), &["-N2"], JSON]);
            run.wait_for("case_started", "mem.latency@n1");
            rig.lab.node("n2", "pkill -KILL -x slurmd");
            run.still_measures("mem.latency@n1");
            let document = run.end().document(0);
            for case in ["mem.latency@n1", "mem.latency@n2"] {
                assert_eq!(outcome(&document, case), ("measured", ""), "{:#}", record(&document, case));
            }
        });
    });
}

fn a_cancelled_job() {
    shared(|rig| {
        let mut run = rig.start(&[&long_chase(ENDLESS), &["-N2"], JSON]);
        run.wait_for_measuring("mem.latency@n1");
        rig.lab.head("scancel $(squeue --noheader --format=%i --name=seatrial)");
        // A person's decision says nothing about the nodes.
        let document = run.end().document(3);
        assert_eq!(outcome(&document, "mem.latency@n1"), ("unmeasured", "interrupted"));
        // Its agent goes at the same time, before its case begins or just after.
        let second = outcome(&document, "mem.latency@n2");
        assert!(
            [("unmeasured", "never_reached"), ("unmeasured", "interrupted")].contains(&second),
            "{second:?}"
        );
    });
}

fn ctrl_c() {
    shared(|rig| {
        for (nodes, _) in WAYS {
            with_more_time(rig, |time| {
                let mut run = rig.start(&[&long_chase(time), nodes, JSON]);
                run.wait_for_measuring("mem.latency@n1");
                run.signal(Signal::INT);
                let ended = run.end();
                if ended.code == Some(0) {
                    too_late("all of it was done");
                }
                assert_eq!(ended.code, Some(130), "{}", ended.complaint);
                assert!(ended.complaint.contains("stopped by SIGINT"), "{}", ended.complaint);
                assert_eq!(rig.left(), Vec::<String>::new(), "the agents are gone when the command is");
                // It says by itself which nodes it was on, and how they were reached.
                let command = rig.command(&[], &rig.program, &[&["run", "--resume"], JSON]);
                let document = ended.then(command).end().document(0);
                for case in ["mem.latency@n1", "mem.latency@n2"] {
                    assert_eq!(outcome(&document, case), ("measured", ""), "{:#}", record(&document, case));
                }
            });
        }
    });
}

/// Waits until neither agents nor their launchers run.
#[track_caller]
fn wait_until_gone(rig: &Rig) {
    wait_until("the agents to leave", || rig.left().is_empty());
}

fn a_killed_controller() {
    shared(|rig| {
        for (nodes, _) in WAYS {
            let mut run = rig.start(&[&long_chase(ENDLESS), nodes, JSON]);
            run.wait_for_measuring("mem.latency@n1");
            assert!(rig.left().iter().any(|line| line.starts_with("n2: ")), "{:?}", rig.left());
            run.signal(Signal::KILL);
            let ended = run.end();
            assert_eq!(ended.code, None);
            wait_until_gone(rig);
            let history = ended.then(rig.command(&[], &rig.program, &[&["history"]])).end();
            assert_eq!(history.code, Some(0), "{}", history.complaint);
            assert!(history.out.contains("mem.latency"), "{}", history.out);
        }
    });
}
