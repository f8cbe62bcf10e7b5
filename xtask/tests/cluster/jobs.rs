//! What Slurm decides: how long a job may run, and which nodes there are.

use libtest_mimic::Trial;
use rustix::process::Signal;

use crate::rig::{CHASE, Rig, shared};
use crate::started::{outcome, reason, wait_until};
use crate::trial;

pub fn trials() -> Vec<Trial> {
    vec![
        trial("a_job_whose_time_is_up_says_so_and_what_it_did_not_come_to_is_gone_on_with", time_is_up),
        trial("a_node_that_is_drained_is_waited_for_in_slurm_s_words", a_node_that_is_drained),
        trial("an_allocation_that_lost_a_node_is_told_in_slurm_s_words", an_allocation_that_lost_a_node),
    ]
}

const JSON: &[&str] = &["-o", "json"];

/// Slurm counts its time in minutes and looks every half minute; a job's end can be moved to the next look.
fn time_is_up() {
    shared(|rig| {
        let long = ["run", "mem.latency", "-p", "size=64KiB", "-p", "time=50s", "-p", "trials=1"];
        let mut run = rig.start(&[&long, &["-p", "max_trials=1", "-N2", "--time", "1"], JSON]);
        run.wait_for_measuring("mem.latency@n1");
        let job = rig.lab.head("squeue --noheader --format=%i --name=seatrial");
        let limit = rig.lab.head(&format!("squeue --noheader --format=%l --job={}", job.trim()));
        assert_eq!(limit.trim(), "1:00", "the time that was asked for");
        rig.lab.head(&format!("scontrol update jobid={} endtime=now+1", job.trim()));
        let ended = run.end();
        // The job's time says nothing about its nodes.
        let document = ended.document(3);
        assert_eq!(outcome(&document, "mem.latency@n1"), ("unmeasured", "interrupted"));
        // Its agent goes at the same time, before its case begins or just after.
        let second = outcome(&document, "mem.latency@n2");
        assert!(
            [("unmeasured", "never_reached"), ("unmeasured", "interrupted")].contains(&second),
            "{second:?}"
        );
        for case in ["mem.latency@n1", "mem.latency@n2"] {
            let why = reason(&document, case);
            assert!(why.contains("DUE TO TIME LIMIT"), "{why}");
        }
        let id = document["run"]["id"].as_str().unwrap().to_owned();
        let report = ended.then(rig.command(&[], &rig.program, &[&["report", &id], JSON])).end();
        assert_eq!(report.document(0)["results"], document["results"]);
        let mut resumed = report.then(rig.command(&[], &rig.program, &[&["run", "--resume"], JSON]));
        resumed.wait_for("case_started", "mem.latency@n1");
        resumed.signal(Signal::INT);
        assert_eq!(resumed.end().code, Some(130));
    });
}

fn a_node_that_is_drained() {
    shared(|rig| {
        // Not down: a slurmd that registers anew brings its node back from that.
        rig.lab.head("scontrol update nodename=n2 state=drain reason=test");
        let run = rig.start(&[CHASE, &["--launcher", "slurm", "-w", "n[1-2]"], JSON]);
        wait_until("word of the wait", || run.complaint().contains("Required node not available"));
        assert!(run.complaint().contains("waiting for srun to start agents"), "{}", run.complaint());
        // No interrupt, which whoever started all of us in the background may have had ignored: nobody listens yet.
        run.signal(Signal::TERM);
        let ended = run.end();
        assert_ne!(ended.code, Some(0), "{}", ended.complaint);
        bring_back(rig);
        wait_until("jobs to end", || rig.jobs().is_empty());
    });
}

/// Slurm refuses to resume a node that its slurmd has brought back by registering anew, and such a one is as good.
fn bring_back(rig: &Rig) {
    wait_until("both nodes", || {
        let resume = "scontrol update nodename=n2 state=resume 2>/dev/null; sinfo --noheader --format=%T";
        rig.lab.head(resume) == "idle\n"
    });
}

fn an_allocation_that_lost_a_node() {
    shared(|rig| {
        let down = "scontrol update nodename=n2 state=down reason=test && exec \"$@\"";
        let by = ["salloc", "--quiet", "--no-kill", "-N2", "sh", "-c", down, "sh"];
        let ended = rig.start_as(&by, &rig.program, &[CHASE, JSON]).end();
        assert_eq!(ended.code, Some(3), "{}", ended.complaint);
        assert!(ended.complaint.contains("srun started no agents"), "{}", ended.complaint);
        assert!(ended.complaint.contains("allocated node count"), "{}", ended.complaint);
        bring_back(rig);
    });
}
