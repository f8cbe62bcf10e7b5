//! A node of a group that is killed, frozen or cut off, in each phase of the case.

use std::time::{SystemTime, UNIX_EPOCH};

use libtest_mimic::Trial;
use serde_json::json;

use crate::disks::in_a_folder;
use crate::rig::{Rig, wide};
use crate::started::{outcome, record};
use crate::trial;

pub fn trials() -> Vec<Trial> {
    vec![
        trial("a_node_frozen_in_a_phase_of_a_group_is_named_and_the_others_are_measured", || by_lot(freeze)),
        trial("a_node_cut_off_in_a_phase_of_a_group_is_named_and_the_others_are_measured", || by_lot(cut)),
        trial("a_node_killed_in_a_phase_of_a_group_is_named_and_the_others_are_measured", || by_lot(kill)),
        // Minutes each.
        trial("a_node_frozen_in_each_phase_of_a_group", || in_each(freeze)).with_ignored_flag(true),
        trial("a_node_cut_off_in_each_phase_of_a_group", || in_each(cut)).with_ignored_flag(true),
        trial("a_node_killed_in_each_phase_of_a_group", || in_each(kill)).with_ignored_flag(true),
    ]
}

/// Files that are written to or read through the page cache: not every file system below a lab can do without.
const FILES: &[&str] = &["storage.file", "-p", "access=buffered", "-p", "size=64MiB", "-p", "block=64KiB"];

/// A phase, a benchmark, and its parameters.
type Disturbed = (&'static str, &'static [&'static str], &'static [&'static str]);

/// Phases, each of a case in which that phase is long enough to be disturbed in.
const LONG: [Disturbed; 5] = [
    // Files are filled: those of a node by itself, and one of all.
    ("prepare", FILES, &["-p", "operation=read"]),
    ("connect", FILES, &["-p", "operation=read", "-p", "files=interleaved"]),
    ("warm_up", &["net.all_to_all"], &["-p", "warm_up=4s"]),
    ("measure", FILES, &["-p", "operation=write", "-p", "time=4s"]),
    ("verify", FILES, &["-p", "operation=write", "-p", "time=500ms"]),
];

/// Tries to come in time into a phase.
const TRIES: usize = 10;

fn freeze(rig: &Rig) {
    rig.lab.node("n3", "pkill -STOP seatrial");
}

fn kill(rig: &Rig) {
    rig.lab.node("n3", "pkill -KILL -x seatrial-agent");
}

fn cut(rig: &Rig) {
    rig.lab.lab(&["fault", "n3", "down"]);
}

/// In one phase, by the second of the clock.
fn by_lot(disturb: fn(&Rig)) {
    let seconds = SystemTime::now().duration_since(UNIX_EPOCH).expect("after 1970").as_secs();
    disturbed(&LONG[seconds as usize % LONG.len()], disturb);
}

fn in_each(disturb: fn(&Rig)) {
    for phase in &LONG {
        disturbed(phase, disturb);
    }
}

fn disturbed((phase, bench, words): &Disturbed, disturb: fn(&Rig)) {
    wide(|rig| {
        let is_done = (0..TRIES).any(|_| is_named(rig, phase, [bench, words], disturb));
        assert!(is_done, "{TRIES} times {phase} was over before the node was disturbed");
    });
}

/// False where the case was over before n3 was disturbed.
fn is_named(rig: &Rig, phase: &str, [bench, words]: [&[&str]; 2], disturb: fn(&Rig)) -> bool {
    let all = format!("{}@n[1-4]", bench[0]);
    let mut is_in_time = true;
    in_a_folder(rig, |directory| {
        let client = rig.client("-o ServerAliveInterval=1 -o ServerAliveCountMax=6");
        let place: &[&str] = if bench == FILES { &["-p", directory] } else { &[] };
        let nodes = ["--pattern", "all", "--share-hosts", "-w", "n[1-4]", &client];
        let once = ["-p", "trials=1", "-p", "max_trials=1", "-o", "json"];
        let mut run = rig.start(&[&["run"], bench, words, place, &nodes, &once]);
        run.wait_for_phase(&all, phase);
        disturb(rig);
        is_in_time = !run.has("case_ended", &all);
        let ended = run.end();
        eprintln!("{phase}: {} s", ended.seconds());
        rig.lab.node("n3", "pkill -CONT seatrial; true");
        rig.lab.lab(&["heal", "n3"]);
        if is_in_time {
            let document = ended.document(1);
            let (how, cause) = outcome(&document, &all);
            assert!(how == "failed" && ["hang", "vanished"].contains(&cause), "{phase}: {document:#}");
            assert_eq!(record(&document, &all)["lost"], json!(["n3"]), "{phase}: {document:#}");
            let rest = format!("{}@n[1-2,4]", bench[0]);
            assert_eq!(outcome(&document, &rest), ("measured", ""), "{phase}: {document:#}");
        }
        rig.wait_until_empty();
    });
    is_in_time
}
