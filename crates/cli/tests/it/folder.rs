//! Homes that are full, read-only, of another user, damaged or shared: clear errors, and nothing lost.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;

use rustix::mount::{MountFlags, mount_remount};

use crate::rig::{
    Home, SMALL, Script, Started, assert_nothing_runs, with_private_mounts, without_privilege_over_files,
};

fn measures(home: &Home) {
    home.seatrial("run mem.bandwidth").script(&Script::measuring(60.0)).run().exits(0);
}

#[test]
fn a_full_file_system_is_told_before_anything_is_measured() {
    with_private_mounts("16k", |folder| {
        fs::write(folder.join("ballast"), [0; 16384]).expect("it fits exactly");
        let home = Home::at(folder.join("home"));
        let run = home.seatrial(&format!("run mem.bandwidth {SMALL}")).run().exits(2);
        let run = run.says("No space left on device (os error 28)").says("set SEATRIAL_HOME");
        assert!(run.err.contains(home.path().to_str().expect("text")), "{}", run.err);
        assert_eq!(run.out, "");
        assert_nothing_runs(home.path());
    });
}

#[test]
fn space_that_runs_out_stops_the_run_and_what_was_measured_before_stands() {
    with_private_mounts("256k", |folder| {
        let home = Home::at(folder);
        let script = Script::measuring(60.0);
        let kernels = "-p kernel=read,write,copy,scale,add,triad -p store=auto,regular,nt";
        let run =
            home.seatrial(&format!("run mem.bandwidth {kernels} -o json")).script(&script).run().exits(3);
        let run = run.says("No space left on device (os error 28)").says("set SEATRIAL_HOME");
        run.says(&format!("results so far are in {}", home.run().display()));
        let kept = home.results();
        assert!(!kept.is_empty());
        let shown = home.seatrial("report -o json").run().exits(0).document();
        assert_eq!(shown.results.len(), kept.len());

        // With space again, the run resumes to its end.
        mount_remount(folder, MountFlags::empty(), "size=16m").expect("remounted");
        let document = home.seatrial("run -o json --resume").script(&script).run().exits(0).document();
        assert_eq!(home.results()[..kept.len()], kept);
        assert!(document.results.len() > kept.len());
    });
}

#[test]
fn space_that_runs_out_leaves_no_worker_behind() {
    // Space for the inventory, which grows with the machine, and for a part of the results.
    let inventory = Home::new().seatrial("inventory -o json").run().exits(0).out.len();
    with_private_mounts(&format!("{}k", 32 + 2 * inventory / 1024), |folder| {
        let home = Home::at(folder);
        let line = format!("run mem.bandwidth -p kernel=read,write,copy,scale,add,triad {SMALL}");
        home.seatrial(&line).run().exits(3).says("No space left on device (os error 28)");
        assert_nothing_runs(home.path());
    });
}

#[test]
fn a_read_only_home_shows_its_runs_and_takes_no_new_one() {
    with_private_mounts("4m", |folder| {
        let home = Home::at(folder);
        measures(&home);
        mount_remount(folder, MountFlags::RDONLY, "").expect("remounted");
        let script = Script::measuring(60.0);
        let refused = "Read-only file system (os error 30)";
        let run = home.seatrial("run mem.bandwidth").script(&script).run().exits(2);
        run.says(refused).says("set SEATRIAL_HOME to a folder that can be written");
        home.seatrial("run --resume").script(&script).run().exits(2).says(refused);
        home.seatrial("check").script(&script).run().exits(2).says(refused);
        home.seatrial("report").run().exits(0).shows("1 case measured");
        home.seatrial("history").run().exits(0).shows("1/1 measured");
        home.seatrial("list").run().exits(0);
    });
}

#[test]
fn a_home_of_somebody_else_is_denied() {
    without_privilege_over_files(|| {
        let home = Home::new();
        fs::create_dir(home.path()).expect("made");
        fs::set_permissions(home.path(), Permissions::from_mode(0o555)).expect("set");
        let run = home.seatrial("run mem.bandwidth").script(&Script::measuring(60.0)).run().exits(2);
        run.says("Permission denied (os error 13)").says("change its owner or mode");
        home.seatrial("history").run().exits(0).shows("no runs yet");
        fs::set_permissions(home.path(), Permissions::from_mode(0o000)).expect("set");
        home.seatrial("history").run().exits(2).says("Permission denied (os error 13)");
        fs::set_permissions(home.path(), Permissions::from_mode(0o755)).expect("set");
    });
}

#[test]
fn a_home_that_is_a_file_is_refused_and_left_as_it_is() {
    let folder = Home::new();
    let file = folder.file("precious", "data");
    let home = Home::at(&file);
    let run = home.seatrial("run mem.bandwidth").script(&Script::measuring(60.0)).run().exits(2);
    run.says(&file.display().to_string()).says("os error 20");
    home.seatrial("history").run().exits(2).says("os error 20");
    assert_eq!(fs::read_to_string(&file).expect("still there"), "data");
}

#[test]
fn without_any_home_the_message_names_the_variable() {
    let home = Home::new();
    let script = Script::measuring(60.0);
    let run = home.seatrial("run mem.bandwidth").script(&script).env("SEATRIAL_HOME", None).env("HOME", None);
    run.run().exits(2).says("set SEATRIAL_HOME to a folder");
    let folder = home.folder().to_str().expect("text");
    let run = home.seatrial("run mem.bandwidth").script(&script).env("SEATRIAL_HOME", None);
    run.env("HOME", Some(folder)).run().exits(0);
    assert!(home.folder().join(".local/share/seatrial/runs").is_dir());
}

#[test]
fn what_another_program_keeps_in_the_home_stays_as_it_is() {
    let home = Home::new();
    measures(&home);
    let foreign = home.path().join("index.sqlite");
    fs::write(&foreign, "the database of another program").expect("written");
    home.seatrial("history").run().exits(0).shows("1/1 measured");
    measures(&home);
    assert_eq!(home.seatrial("history").run().exits(0).out.matches("1/1").count(), 2);
    assert_eq!(fs::read_to_string(&foreign).expect("read"), "the database of another program");
}

#[test]
fn files_of_a_run_that_are_damaged_cost_only_what_they_held() {
    let home = Home::new();
    home.seatrial("run mem.bandwidth -p kernel=copy,triad").script(&Script::measuring(60.0)).run().exits(0);
    let results = home.run().join("results.jsonl");
    let text = fs::read_to_string(&results).expect("read");
    fs::write(&results, &text[..text.len() - 40]).expect("written");
    home.seatrial("report").run().exits(0).shows("1 case measured").says("results.jsonl line 2: incomplete");
    home.seatrial("run --resume").script(&Script::measuring(50.0)).run().exits(0).shows("2 cases measured");
    let medians: Vec<_> =
        home.results().iter().map(|case| case["metrics"]["bandwidth"]["median"].as_f64()).collect();
    assert_eq!(medians, [Some(60.0), Some(50.0)]);
    fs::write(home.run().join("run.json"), "{").expect("written");
    home.seatrial("report").run().exits(2).says("run.json");
    home.seatrial("history").run().exits(0).shows(&home.id());
}

#[test]
fn a_folder_that_a_kill_left_empty_is_named_and_keeps_nobody_from_working() {
    let home = Home::new();
    let empty = home.path().join("runs/20380101-000000-bcdf");
    fs::create_dir_all(&empty).expect("made");
    home.seatrial("report").run().exits(2).says("run.json is missing");
    home.seatrial("run --resume").run().exits(2).says("run.json is missing");
    measures(&home);
    home.seatrial("report").run().exits(0).shows("1 case measured");
    home.seatrial("history").run().exits(0).shows("1/1 measured").shows("20380101-000000-bcdf");
}

#[test]
fn many_runs_at_once_share_a_home() {
    let home = Home::new();
    let script = Script::measuring(60.0);
    let start = |_| home.seatrial("run mem.bandwidth -p kernel=copy,triad").script(&script).start();
    let runs: Vec<Started> = (0..6).map(start).collect();
    for run in runs {
        run.ended().exits(0);
    }
    assert_eq!(home.runs().len(), 6, "each has a folder of its own");
    assert_eq!(home.seatrial("history").run().exits(0).out.matches("2/2").count(), 6);
}

#[test]
fn two_runs_of_this_machine_at_once_both_come_to_their_end() {
    let home = Home::new();
    let start =
        |kernel| home.seatrial(&format!("run mem.bandwidth {SMALL} -p kernel={kernel} -o json")).start();
    for (kernel, run) in [("copy", start("copy")), ("triad", start("triad"))] {
        let case = run.ended().exits(0).case();
        assert_eq!(case.params.text("kernel"), Ok(kernel));
    }
    assert_eq!(home.runs().len(), 2);
    assert_nothing_runs(home.path());
}
