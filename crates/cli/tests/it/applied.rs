//! `seatrial settings apply` and `restore`, by a real agent in a tree of files.

use std::fs::{self, File};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::rig::{Ended, Home, Script, kill, of_home};

const SWAPPINESS: &str = "proc/sys/vm/swappiness";
const TCP_RMEM: &str = "proc/sys/net/ipv4/tcp_rmem";
const RMEM_MAX: &str = "proc/sys/net/core/rmem_max";

const FILES: &[(&str, &str)] = &[
    (SWAPPINESS, "60\n"),
    (TCP_RMEM, "4096\t131072\t6291456\n"),
    (RMEM_MAX, "212992\n"),
    ("proc/sys/net/core/rmem_default", "425984\n"),
    ("proc/sys/kernel/hostname", "n1\n"),
];

const PROFILE: &str = r#"
title = "a test"

[[setting]]
id = "net.core.rmem_max"
at_least = "16 MiB"

[[setting]]
id = "net.rmem_consistent"
equals = true

[[setting]]
id = "memory.swappiness"
at_most = 10

[[setting]]
id = "memory.zone_reclaim"
equals = 0
"#;

struct Host {
    home: Home,
    root: PathBuf,
}

impl Host {
    fn new() -> Self {
        let home = Home::new();
        let root = home.folder().join("root");
        fs::create_dir_all(root.join("sys/devices/system/cpu")).expect("made");
        for (path, text) in FILES {
            let path = root.join(path);
            fs::create_dir_all(path.parent().expect("a folder")).expect("made");
            fs::write(path, text).expect("written");
        }
        Self { home, root }
    }

    fn run(&self, line: &str) -> Ended {
        self.home.seatrial(&format!("settings {line} --sysroot")).word(&self.root).run()
    }

    fn text(&self, path: &str) -> String {
        fs::read_to_string(self.root.join(path)).expect("a file")
    }

    #[track_caller]
    fn is_as_before(&self) {
        for (path, text) in FILES {
            assert_eq!(self.text(path), *text, "{path}");
        }
    }

    fn journals(&self) -> Vec<String> {
        let folder = self.root.join("var/lib/seatrial/settings/n1");
        let entries = fs::read_dir(folder).into_iter().flatten();
        entries.map(|entry| entry.expect("read").file_name().to_string_lossy().into_owned()).collect()
    }
}

const APPLY: &str = "apply memory.swappiness=10 net.ipv4.tcp_rmem=4KiB,64KiB,16MiB --yes";

#[test]
fn values_are_set_restored_and_restored_only_once() {
    let host = Host::new();
    let ended = host.run(APPLY).exits(0);
    let ended = ended
        .shows("memory.swappiness: 60 -> 10")
        .shows("writes '10' to /proc/sys/vm/swappiness; needs root");
    let ended = ended.shows("net.ipv4.tcp_rmem: 4 KiB, 128 KiB, 6 MiB -> 4 KiB, 64 KiB, 16 MiB");
    assert_eq!(
        (host.text(SWAPPINESS), host.text(TCP_RMEM)),
        ("10\n".to_owned(), "4096 65536 16777216\n".to_owned())
    );
    let journals = host.journals();
    let id = journals[0].strip_suffix(".jsonl").expect("a journal");
    ended.shows(&format!("restore n1 with `seatrial settings restore {id}`"));
    let ended = host.run(&format!("restore {id}")).exits(0);
    ended
        .shows("memory.swappiness of /proc/sys/vm/swappiness: 10 -> 60")
        .shows("2 restored, 0 unchanged, 0 left");
    host.is_as_before();
    host.run("restore").exits(0).shows("there is nothing to restore on n1");
    host.run(&format!("restore {id}")).exits(0).shows(&format!("there is nothing of {id} to restore on n1"));
    assert_eq!(host.journals(), [""; 0]);
}

#[test]
fn nothing_is_changed_unless_somebody_says_yes() {
    let host = Host::new();
    let ended = host.run("apply memory.swappiness=10 --dry-run").exits(1);
    ended.shows("memory.swappiness: 60 -> 10").shows("nothing was changed (--dry-run)");
    // Standard input is no terminal.
    let ended = host.run("apply memory.swappiness=10").exits(2);
    ended.shows("memory.swappiness: 60 -> 10").says("nobody can be asked").says("add --yes");
    host.run("apply memory.swappiness=60").exits(0).shows("no setting has to be changed");
    host.is_as_before();
    assert_eq!(host.journals(), [""; 0]);
    for (typed, says) in [
        ("apply", "required"),
        ("apply memory.swapiness=10 --yes", "did you mean 'memory.swappiness'?"),
        ("apply memory.swappiness --yes", "write its value too"),
        ("apply memory.swappiness=1000 --yes", "0 to 200"),
        ("apply dragnet memory.swappiness=10 --yes", "and not both"),
        ("apply memory.swappiness=10 --yes --for 1", "has no unit"),
        ("restore nothing", "is no id of an `apply`"),
    ] {
        host.run(typed).exits(2).says(says);
    }
    host.is_as_before();
}

#[test]
fn what_only_a_command_sets_is_shown_and_never_tried() {
    let host = Host::new();
    let profile = host.home.file("p.toml", PROFILE);
    let apply = |line: &str| {
        let line = format!("settings apply {line} --sysroot");
        host.home.seatrial(&line).word(&host.root).word(&profile).run()
    };
    let ended = apply("--yes").exits(1);
    let ended = ended.shows("Seatrial does not set; a person has to type it:");
    let ended = ended.shows("sysctl -w net.core.rmem_max=$(sysctl -n net.core.rmem_default)");
    ended
        .shows("cannot be judged, and is left:")
        .shows("memory.zone_reclaim: this setting does not exist here");
    assert_eq!((host.text(RMEM_MAX), host.text(SWAPPINESS)), ("16777216\n".to_owned(), "10\n".to_owned()));
    // A larger maximum was what both wanted.
    let document: Value = serde_json::from_str(&apply("--yes -o json").exits(1).out).expect("JSON");
    assert_eq!(document["changes"], serde_json::json!([]));
    host.run("restore").exits(0);
    host.is_as_before();
}

#[test]
fn a_value_of_somebody_else_is_left_unless_forced() {
    let host = Host::new();
    host.run(APPLY).exits(0);
    fs::write(host.root.join(SWAPPINESS), "30\n").expect("written");
    let ended = host.run("restore").exits(1);
    let ended =
        ended.shows("it was set to '30' since, by somebody else or a later change; --force restores '60'");
    ended.shows("1 restored, 0 unchanged, 1 left, 0 failed").shows("is not restored in full on n1");
    assert_eq!(host.text(SWAPPINESS), "30\n");
    let ended = host.run("restore all --force -o json").exits(0);
    let document: Value = serde_json::from_str(&ended.out).expect("JSON");
    assert_eq!(document["nodes"][0]["answer"]["outcomes"][0]["state"], "done");
    host.is_as_before();
}

#[test]
fn a_thousand_nodes_that_agree_are_one_line_of_the_plan() {
    let home = Home::new();
    let script = Script::measuring(60.0).nodes(1000);
    let script = script.settings(&[("memory.swappiness", serde_json::json!({ "value": 60 }))]);
    let ended = home.seatrial("settings apply memory.swappiness=10 --dry-run").script(&script).run().exits(1);
    ended.shows("n[0001-1000] memory.swappiness: 60 -> 10");
    // Simulated nodes have nothing that could be changed, and so do not answer.
    let ended = home.seatrial("settings apply memory.swappiness=10 --yes").script(&script).run().exits(3);
    ended.shows("n[0001-1000] it is unknown what was changed: it did not answer within 120 s");
}

/// Kills both processes, after a time since the journal was begun.
fn kill_at(host: &Host, delay: Duration) {
    let started = host.home.seatrial(&format!("settings {APPLY} --sysroot")).word(&host.root).start();
    let pid = started.pid().as_raw_nonzero();
    let is_over =
        || !fs::read_to_string(format!("/proc/{pid}/stat")).is_ok_and(|stat| !stat.contains(") Z "));
    while host.journals().is_empty() && !is_over() {
        thread::yield_now();
    }
    thread::sleep(delay);
    of_home(host.home.path()).into_iter().for_each(|process| kill(process.pid));
    started.ended();
}

#[test]
fn whatever_a_kill_left_is_taken_back() {
    for delay in 0..8 {
        let host = Host::new();
        kill_at(&host, Duration::from_micros(1000 * delay));
        let deadline = Instant::now() + Duration::from_secs(120);
        // The agent may still be dying, with the journal in its hand.
        while host.run("restore all").code != Some(0) {
            assert!(Instant::now() < deadline, "{:?}", host.journals());
        }
        host.is_as_before();
        assert_eq!(host.journals(), [""; 0], "{delay}");
    }
}

#[test]
fn values_that_are_set_for_a_time_are_restored_by_the_node_itself() {
    let host = Host::new();
    let ended = host.run(&format!("{APPLY} --for 2s")).exits(0);
    ended.shows("restores by itself: process");
    let deadline = Instant::now() + Duration::from_secs(120);
    let is_over = || host.text(SWAPPINESS) == "60\n" && host.journals().is_empty();
    while !is_over() {
        assert!(Instant::now() < deadline, "{:?}", host.journals());
        thread::sleep(Duration::from_millis(50));
    }
    host.is_as_before();
}

/// A host where systemd runs, by a program that stands for systemd-run(1): it notes how it was called, and the command for the
/// time when the timer is due.
struct WithSystemd {
    host: Host,
    path: String,
}

impl WithSystemd {
    fn new() -> Self {
        let host = Host::new();
        fs::create_dir_all(host.root.join("run/systemd/system")).expect("made");
        let bin = host.home.folder().join("bin");
        fs::create_dir_all(&bin).expect("made");
        let program = bin.join("systemd-run");
        let file = |name: &str| host.home.folder().join(name).display().to_string();
        let script = format!(
            "#!/bin/sh\necho \"$1 $2 $3 $4 $5\" > '{}'\nprintf %s \"$6\" > '{}'\n",
            file("called"),
            file("due")
        );
        fs::write(&program, script).expect("written");
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).expect("set");
        let path = format!("{}:{}", bin.display(), std::env::var("PATH").expect("a path"));
        Self { host, path }
    }

    /// Applies for 2 s; the id.
    fn applied(&self) -> String {
        let apply = format!("settings {APPLY} --for 2s --sysroot");
        let seatrial = self.host.home.seatrial(&apply).word(&self.host.root);
        let ended = seatrial.env("PATH", Some(&self.path)).run().exits(0);
        let id = self.host.journals().iter().find_map(|name| name.strip_suffix(".jsonl").map(str::to_owned));
        let id = id.expect("a journal");
        ended.shows(&format!("restores by itself: the timer seatrial-restore-{id}.timer of systemd, in 2 s"));
        assert_eq!(self.host.text(SWAPPINESS), "10\n");
        id
    }

    /// The timer is due.
    fn due(&self) -> Child {
        let line = self.host.home.folder().join("due");
        Command::new("/bin/sh").arg(line).spawn().expect("started")
    }
}

#[test]
fn where_systemd_runs_its_timer_restores() {
    let with = WithSystemd::new();
    let id = with.applied();
    let called = fs::read_to_string(with.host.home.folder().join("called")).expect("called");
    let timer = "--on-active=2s --timer-property=AccuracySec=1s";
    assert_eq!(called, format!("--unit=seatrial-restore-{id} {timer} /bin/sh -c\n"));
    let status = with.due().wait().expect("ended");
    assert!(status.success(), "{status}");
    with.host.is_as_before();
    assert_eq!(with.host.journals(), [""; 0]);
}

#[test]
fn a_timer_has_nothing_to_do_after_a_restore_by_hand() {
    let with = WithSystemd::new();
    with.applied();
    with.host.run("restore").exits(0);
    // With the journal its program is gone.
    assert_eq!(with.host.journals(), [""; 0]);
    fs::write(with.host.root.join(SWAPPINESS), "30\n").expect("written");
    let status = with.due().wait().expect("ended");
    assert!(status.success(), "{status}");
    assert_eq!(with.host.text(SWAPPINESS), "30\n");
}

#[test]
fn a_timer_that_is_due_while_another_command_changes_the_node_restores_afterwards() {
    let with = WithSystemd::new();
    with.applied();
    let folder = File::open(with.host.root.join("var/lib/seatrial/settings/n1")).expect("opened");
    folder.lock().expect("locked");
    let mut due = with.due();
    with.host.run("restore").exits(3).shows("another `seatrial settings` changes this node now");
    assert_eq!(with.host.text(SWAPPINESS), "10\n");
    folder.unlock().expect("unlocked");
    let status = due.wait().expect("ended");
    assert!(status.success(), "{status}");
    with.host.is_as_before();
}

#[test]
fn a_timer_that_systemd_refuses_leaves_the_node_unchanged() {
    let host = Host::new();
    fs::create_dir_all(host.root.join("run/systemd/system")).expect("made");
    let bin = host.home.folder().join("bin");
    fs::create_dir_all(&bin).expect("made");
    let program = bin.join("systemd-run");
    fs::write(&program, "#!/bin/sh\necho Access denied >&2\nexit 1\n").expect("written");
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).expect("set");
    let path = format!("{}:{}", bin.display(), std::env::var("PATH").expect("a path"));
    let apply = format!("settings {APPLY} --for 2s --sysroot");
    let ended = host.home.seatrial(&apply).word(&host.root).env("PATH", Some(&path)).run().exits(3);
    ended.shows("systemd-run made no timer: Access denied");
    host.is_as_before();
    assert_eq!(host.journals(), [""; 0]);
}

#[test]
fn a_node_where_no_journal_can_be_written_is_not_changed() {
    let host = Host::new();
    let place = host.root.join("var/lib");
    fs::create_dir_all(&place).expect("made");
    fs::write(place.join("seatrial"), "a file in the place of a folder").expect("written");
    host.run(APPLY).exits(3).shows("nothing more was changed: creating");
    host.is_as_before();
    assert!(Path::new(&place.join("seatrial")).is_file());
}
