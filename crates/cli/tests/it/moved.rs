//! `transfer.move` with the real binary, within this machine.

use std::fs;

use seatrial_model::Outcome;

use crate::rig::{Home, assert_nothing_runs};

#[test]
fn a_data_set_is_copied_within_this_machine_without_ssh_and_nothing_is_left() {
    let (home, folder) = (Home::new(), tempfile::tempdir().expect("a folder"));
    let line = format!(
        "run transfer.move -o json -p source={0} -p target={0} -p files=30 -p size=50KiB -p time=50ms -p trials=1 \
         -p max_trials=1 -p tool=native,cp,scp",
        folder.path().display()
    );
    let document = home.seatrial(&line).run().exits(0).document();
    let told = |tool: &str| {
        let mut cases = document.results.iter().filter(|case| case.params.text("tool") == Ok(tool));
        cases.next().expect("a case")
    };
    for tool in ["native", "cp"] {
        let case = told(tool);
        assert_eq!(case.outcome, Outcome::Measured, "{tool}: {:?}", case.reason);
        assert_eq!(case.headline.as_deref(), Some("goodput"));
        assert!(case.metrics["goodput"].median > 0.0 && case.metrics["files"].median > 0.0, "{tool}");
    }
    assert_eq!(told("scp").outcome, Outcome::Skipped);
    assert_eq!(fs::read_dir(folder.path()).expect("listed").count(), 0);
    assert_nothing_runs(home.path());
}
