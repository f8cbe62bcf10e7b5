//! A fault of those that `cargo xtask faults` plants, by lot: whose it is and why is told, and no sound node is blamed.

use std::time::{SystemTime, UNIX_EPOCH};

use libtest_mimic::Trial;
use xtask::faults::{Judged, Planted, Strength, all, certain, of_hardware};

use crate::rig::{Rig, built, wide};
use crate::trial;

pub fn trials() -> Vec<Trial> {
    vec![
        trial("a_fault_by_lot_is_told_with_its_node_and_its_cause", by_lot),
        trial("every_fault_of_hardware_is_told_with_its_node_and_its_cause", of_simulated_nodes),
        // Minutes.
        trial("every_certain_fault_is_told_with_its_node_and_its_cause", every).with_ignored_flag(true),
    ]
}

/// One fault, by the second of the clock.
fn by_lot() {
    let seed = SystemTime::now().duration_since(UNIX_EPOCH).expect("after 1970").as_secs();
    eprintln!("seed {seed}");
    let faults = certain();
    wide(|rig| told(rig, &faults[seed as usize % faults.len()]));
}

fn every() {
    wide(|rig| certain().iter().for_each(|fault| told(rig, fault)));
}

/// Simulated nodes have the same numbers on every machine. What is just above what matters may be missed.
fn of_simulated_nodes() {
    let faults = all();
    let told = of_hardware(&built(), &faults).expect("documents");
    assert!(told.len() > 20);
    for judged in told {
        let what = format!("{}: {:#?}", judged.fault.what, judged.said);
        assert!(judged.blamed().is_empty(), "blamed are {:?}: {what}", judged.blamed());
        let is_clear = judged.fault.strength != Strength::Just;
        assert!(!is_clear || judged.is_right() && (judged.has_cause || judged.fault.is_sound()), "{what}");
    }
}

/// The shortest that tells of a fault which does not depend on rates.
fn short(word: &&'static str) -> &'static str {
    match *word {
        "NODES" => "n[1-4]",
        "time=500ms" => "time=200ms",
        "trials=2" | "trials=3" => "trials=1",
        "max_trials=2" | "max_trials=3" => "max_trials=1",
        other => other,
    }
}

fn told(rig: &Rig, fault: &Planted) {
    let lines = |lines: &[(&'static str, String)]| {
        for (node, line) in lines {
            rig.lab.node(node, line);
        }
    };
    lines(&fault.plant);
    if !fault.of_lab.is_empty() {
        let of_lab = fault.of_lab.iter().map(String::as_str);
        rig.lab.lab(&["fault", "n3"].into_iter().chain(of_lab).collect::<Vec<_>>());
    }
    let words: Vec<&str> = fault.run.iter().map(short).collect();
    let ended = rig.run(&[&words, &["--share-hosts", "-o", "json"]]);
    lines(&fault.heal);
    rig.lab.lab(&["heal"]);
    let document = ended.document(ended.code.expect("an exit code"));
    let judged = Judged::of(fault, &document, ended.seconds());
    eprintln!("{}: {} s: {:#?}", fault.what, judged.seconds, judged.said);
    assert!(judged.is_right(), "{}: named are {:?}", fault.what, judged.named);
    assert!(judged.blamed().is_empty(), "{}: blamed are {:?}", fault.what, judged.blamed());
    assert!(judged.has_cause, "{}: none of {:?} in {:#?}", fault.what, fault.cause, judged.said);
}
