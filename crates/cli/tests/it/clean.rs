//! `seatrial clean` after an agent that was killed with SIGKILL.

use std::fs;

use rustix::process::Signal;
use serde_json::{Value, json};

use crate::rig::{Home, Role, assert_nothing_runs, of_home};

/// Names in a folder that Seatrial created.
fn ours(folder: &std::path::Path) -> Vec<String> {
    let entries = fs::read_dir(folder).expect("listed").flatten();
    let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
    names.filter(|name| name.starts_with(".seatrial-")).collect()
}

#[test]
fn files_that_lost_their_names_over_nfs_are_told_and_left() {
    let (home, place) = (Home::new(), tempfile::tempdir().expect("a folder"));
    let nameless = place.path().join(".nfs000000000badc0de00000001");
    fs::write(&nameless, [0; 2048]).expect("written");
    fs::write(place.path().join(".nfsmount.conf"), "mine").expect("written");
    let line = format!("clean {}", place.path().display());
    home.seatrial(&line).run().exits(0).shows("1 files .nfs... of 2 KiB");
    assert!(nameless.exists());
}

#[test]
fn what_a_kill_left_is_shown_then_removed_and_what_still_runs_is_not_touched() {
    for (bench, rest) in [
        ("storage.metadata", "-p directory=PLACE -p threads=2 -p files=200 -p size=100B -p time=3600s"),
        ("storage.peer_read", "-p directory=PLACE --pattern alone -p size=4MiB -p block=64KiB -p time=3600s"),
        ("transfer.move", "-p source=PLACE -p target=PLACE/target -p files=20 -p size=64KiB -p time=3600s"),
        ("transfer.dataset", "-p directory=PLACE -p files=20 -p size=64KiB -p names=hard -p time=3600s"),
    ] {
        let (home, place) = (Home::new(), tempfile::tempdir().expect("a folder"));
        let at = place.path().display().to_string();
        fs::write(place.path().join("precious"), "mine").expect("written");
        fs::create_dir(place.path().join("target")).expect("made");
        let mut run = home.seatrial(&format!("run {bench} {}", rest.replace("PLACE", &at))).start();
        run.wait_for_event("measuring", |event| event["phase"] == "measure");
        assert_eq!(ours(place.path()).len(), 1, "{bench}");
        // While the run goes on.
        let line = format!("clean {at}");
        home.seatrial(&line).run().exits(0).shows("left ").shows("still uses it");
        assert_eq!(ours(place.path()).len(), 1, "{bench}");
        // Only an agent and workers that are killed together leave a folder: whoever lives a moment longer removes it.
        let mut processes = of_home(home.path());
        processes.retain(|process| process.role != Role::Main);
        assert!(processes.iter().any(|process| process.role == Role::Agent));
        for signal in [Signal::STOP, Signal::KILL] {
            processes.iter().for_each(|process| {
                let _ = rustix::process::kill_process(process.pid, signal);
            });
        }
        drop(run.ended());
        assert_nothing_runs(home.path());
        assert_eq!(ours(place.path()).len(), 1, "{bench}");
        let shown = home.seatrial(&format!("{line} --dry-run -o json")).run().exits(0).out;
        let shown: Value = serde_json::from_str(&shown).expect("JSON");
        assert_eq!(
            (&shown["dry_run"], &shown["folders"][0]["outcome"]),
            (&json!(true), &json!("would_remove"))
        );
        assert_eq!(ours(place.path()).len(), 1, "{bench}");
        home.seatrial(&line).run().exits(0).shows("removed ").shows(bench);
        assert_eq!(ours(place.path()), [""; 0], "{bench}");
        assert_eq!(fs::read_to_string(place.path().join("precious")).expect("read"), "mine");
        home.seatrial(&line).run().exits(0).shows("there are no files of interrupted runs in");
    }
}

#[test]
fn a_folder_with_a_foreign_file_in_it_stays_and_says_so() {
    let (home, place) = (Home::new(), tempfile::tempdir().expect("a folder"));
    let folder = place.path().join(".seatrial-metadata-0123456789abcdef");
    fs::create_dir(&folder).expect("made");
    let host = fs::read_to_string("/proc/sys/kernel/hostname").expect("read");
    let manifest = json!({ "made_by": "seatrial", "benchmark": "storage.metadata", "host": host.trim(),
                           "process": 999_999_999, "remove": "" });
    fs::write(folder.join("seatrial.json"), manifest.to_string()).expect("written");
    fs::write(folder.join("thesis.tex"), "mine").expect("written");
    let line = format!("clean {}", place.path().display());
    home.seatrial(&line).run().exits(3).shows("refused ").shows("thesis.tex, which no test makes");
    assert_eq!(fs::read_to_string(folder.join("thesis.tex")).expect("read"), "mine");
    fs::remove_file(folder.join("thesis.tex")).expect("removed");
    // By name, too.
    let line = format!("clean {}", folder.display());
    home.seatrial(&line).run().exits(0).shows("removed ");
    home.seatrial(&line).run().exits(2).says("os error 2");
}

#[test]
fn a_folder_of_another_host_is_left_until_a_person_says_that_it_may_go() {
    let (home, place) = (Home::new(), tempfile::tempdir().expect("a folder"));
    let folder = place.path().join(".seatrial-peer_read-0123456789abcdef");
    fs::create_dir(&folder).expect("made");
    let manifest = json!({ "made_by": "seatrial", "benchmark": "storage.peer_read", "host": "elsewhere.example",
                           "process": 1, "remove": "" });
    fs::write(folder.join("seatrial.json"), manifest.to_string()).expect("written");
    let line = format!("clean {}", place.path().display());
    home.seatrial(&line).run().exits(0).shows("left ").shows("--other-hosts");
    assert!(folder.exists());
    home.seatrial(&format!("{line} --other-hosts")).run().exits(0).shows("removed ");
    assert!(!folder.exists());
}
