//! A healthy cluster: every launcher measures, and they agree.

use std::fs;

use libtest_mimic::Trial;

use crate::rig::{BOTH, CHASE, REQUESTS, Rig, shared};
use crate::started::{Ended, names, record};
use crate::trial;

pub fn trials() -> Vec<Trial> {
    vec![
        trial("over_ssh_the_binary_travels_once_and_two_nodes_start_at_one_moment", over_ssh),
        trial("slurm_is_asked_for_nodes_and_nothing_of_the_run_is_left", slurm_is_asked),
        trial("inside_an_allocation_its_nodes_are_taken", inside_an_allocation),
        trial("mpirun_starts_agents_as_well", mpirun_starts_agents),
        trial("nodes_of_one_kernel_take_turns_unless_told_otherwise", nodes_of_one_kernel_take_turns),
        trial("started_once_a_task_it_names_the_right_command", started_once_a_task),
    ]
}

const JSON: &[&str] = &["-o", "json"];

/// The clocks of the lab's nodes are this far apart and more.
const APART_NS: u64 = 4_321_000_000_000;

/// Holds a record of `net.rr` between the two nodes against what the lab is.
#[track_caller]
fn assert_measured(ended: &Ended) {
    let document = ended.document(0);
    assert_eq!(document["run"]["nodes"], serde_json::json!(["n1", "n2"]));
    let record = record(&document, "net.rr@n1+n2/n1->n2");
    assert_eq!(record["outcome"], "measured", "{record:#}");
    let connection = &record["evidence"]["connection"];
    assert_eq!(connection["interface"], "eth0");
    let ends = connection["ends"].as_array().unwrap().iter().map(|end| end.as_str().unwrap());
    let addresses: Vec<_> = ends.map(|end| end.split_once(':').unwrap().0).collect();
    assert_eq!(addresses, ["10.77.0.1", "10.77.0.2"]);
    // Without the offset of each clock, the parts would seem to start more than an hour apart.
    let start = &record["evidence"]["start"];
    let (skew, bound) = (start["skew_ns"].as_u64(), start["known_within_ns"].as_u64());
    assert!(skew.is_some_and(|skew| skew < APART_NS / 100), "{start}");
    assert!(bound.is_some_and(|bound| bound > 0 && bound < APART_NS / 100), "{start}");
}

fn over_ssh() {
    shared(|rig| {
        for node in ["n1", "n2"] {
            rig.lab.node(node, "rm -rf /tmp/cache");
        }
        assert_measured(&rig.run(&[REQUESTS, BOTH, JSON]));
        let cached = |node: &str| rig.lab.node(node, "cd /tmp/cache/seatrial; stat --format='%n %i %s %a' *");
        let first = ["n1", "n2"].map(cached);
        let bytes = fs::metadata(&rig.program).unwrap().len();
        for copies in &first {
            // One file, whole, and only for its owner.
            assert_eq!(copies.lines().count(), 1, "{copies}");
            assert!(copies.ends_with(&format!(" {bytes} 700\n")), "{copies}");
        }
        assert_eq!(rig.left(), Vec::<String>::new(), "the agents are gone when the command is");
        assert_measured(&rig.run(&[REQUESTS, BOTH, JSON]));
        assert_eq!(["n1", "n2"].map(cached), first, "the same files, not written anew");
    });
}

fn slurm_is_asked() {
    shared(|rig| {
        assert_measured(&rig.run(&[REQUESTS, &["-N2"], JSON]));
        assert_eq!(rig.left(), Vec::<String>::new(), "the agents are gone when the command is");
        let document = rig.run(&[&["inventory", "-N2"], JSON]).document(0);
        assert_eq!(names(&document), ["n1", "n2"]);
        assert_eq!(document["missing"], serde_json::json!([]));
    });
}

fn inside_an_allocation() {
    shared(|rig| {
        let by = ["salloc", "--quiet", "-N2"];
        assert_measured(&rig.start_as(&by, &rig.program, &[REQUESTS, JSON]).end());
    });
}

fn mpirun_starts_agents() {
    shared(|rig| {
        let words: [&[&str]; 3] =
            [&["inventory", "--launcher", "mpirun", "--mpirun", "mpirun --allow-run-as-root"], BOTH, JSON];
        let document = rig.start_as(&[], &rig.everywhere, &words).end().document(0);
        assert_eq!(names(&document), ["n1", "n2"]);
        assert_eq!(document["missing"], serde_json::json!([]));
    });
}

/// Whether two cases ran at one time.
fn overlapped(rig: &Rig, options: &[&str]) -> bool {
    let ended = rig.run(&[CHASE, BOTH, options, JSON]);
    ended.document(0);
    let order = ended.order();
    assert_eq!(order.len(), 4, "{order:?}");
    assert_eq!(order[0].0, "case_started", "{order:?}");
    order[1].0 == "case_started"
}

fn nodes_of_one_kernel_take_turns() {
    shared(|rig| {
        assert!(!overlapped(rig, &[]));
        assert!(overlapped(rig, &["--share-hosts"]));
    });
}

fn started_once_a_task() {
    shared(|rig| {
        let ended = rig.start_as(&["srun", "-N2", "-n2"], &rig.everywhere, &[REQUESTS]).end();
        assert_eq!(ended.code, Some(2), "{}", ended.complaint);
        let told = "run it once, without srun: seatrial run net.rr -p time=100ms -p trials=1 -p max_trials=1 \
                    --launcher slurm";
        assert_eq!(ended.complaint.matches(told).count(), 2, "{}", ended.complaint);
    });
}
