//! How a lab ends: wholly, whatever state it is in, and without touching another.

use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use libtest_mimic::Trial;
use xtask::lab::Lab;
use xtask::lab::process::Process;
use xtask::workspace;

use crate::cluster::{Cluster, shared, sorted, wait_until};
use crate::faults::wait_for_writer;
use crate::trial;

pub fn trials() -> Vec<Trial> {
    vec![
        trial("a_dead_daemon_is_named_and_heal_starts_it_again", a_dead_daemon_is_named_and_started_again),
        trial("two_labs_live_side_by_side_and_down_ends_one_of_them", two_labs_live_side_by_side),
        trial("nothing_is_left_of_a_lab_in_which_much_has_died", nothing_is_left_of_a_half_dead_lab),
        trial("nothing_is_left_of_a_lab_whose_making_was_killed", nothing_is_left_of_a_killed_up),
        trial("a_host_that_nobody_wrote_down_leaves_at_once", a_host_that_nobody_wrote_down_leaves),
        trial("a_folder_that_is_no_lab_is_left_alone", a_folder_that_is_no_lab_is_left_alone),
    ]
}

/// What the machine has of interfaces, network namespaces with a name, and mounts and loop devices below `path`.
fn machine(path: &str) -> [Vec<String>; 2] {
    let ask = |program: &str, words: &[&str]| {
        let output = Command::new(program).args(words).output().unwrap();
        assert!(output.status.success(), "{program}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    };
    let links = ask("ip", &["-oneline", "link"]) + &ask("ip", &["netns", "list"]);
    let names = links.lines().filter_map(|line| line.split(": ").nth(1)).map(str::to_owned).collect();
    let devices = ask("losetup", &["--list", "--noheadings", "--output", "NAME,BACK-FILE"]);
    let mounts = fs::read_to_string("/proc/mounts").unwrap();
    let ours = devices.lines().chain(mounts.lines()).filter(|line| line.contains(path));
    [names, ours.map(str::to_owned).collect()]
}

/// Processes that were started with `path` in their command line.
fn started_with(path: &str) -> Vec<String> {
    let entries = fs::read_dir("/proc").unwrap().flatten();
    let lines = entries.filter_map(|entry| {
        let pid: u32 = entry.file_name().to_str()?.parse().ok()?;
        Process::of(pid)?;
        let line = fs::read_to_string(entry.path().join("cmdline")).ok()?.replace('\0', " ");
        line.contains(path).then(|| format!("{pid} {line}"))
    });
    lines.collect()
}

/// Ends a lab and looks whether anything of it stayed: `before` is [`machine`] before it was made.
fn down_and_look(lab: &Cluster, before: &[Vec<String>; 2]) {
    let folder = lab.folder();
    let path = folder.to_str().unwrap();
    let processes = if folder.join("lab.json").exists() { lab.processes() } else { Vec::new() };
    lab.lab(&["down"]);
    let left: Vec<Process> = processes.into_iter().filter(|process| process.is_alive()).collect();
    assert!(left.is_empty(), "{:?}", left.into_iter().map(Process::describe).collect::<Vec<_>>());
    // One that waits for what is gone leaves a moment later.
    wait_until("processes to go", || started_with(path).is_empty());
    assert!(!folder.exists(), "{path} is still there");
    assert_eq!(&machine(path), before);
}

fn a_dead_daemon_is_named_and_started_again() {
    shared(|lab| {
        lab.node("n2", "pkill -KILL -x slurmd");
        let complaint = lab.refused(&["status"]);
        assert!(complaint.contains("the lab is not whole: slurmd of n2 is gone"), "{complaint}");
        let complaint = lab.refused(&["up", "--nodes", "2"]);
        assert!(complaint.contains("is not whole; add --fresh: slurmd of n2 is gone"), "{complaint}");
        assert_eq!(lab.lab(&["heal"]), "n2: slurmd started\n");
        lab.lab(&["status"]);
        assert_eq!(sorted(&lab.head("srun -N2 -n2 hostname")), ["n1", "n2"]);
    });
}

fn two_labs_live_side_by_side() {
    shared(|first| {
        let before = machine(Cluster { name: "second" }.folder().to_str().unwrap());
        let second = Cluster::up("second", 1);
        // The same names and addresses, and yet another network, another Slurm and other keys.
        assert_eq!(second.head("srun hostname; ssh n1 hostname"), "n1\nn1\n");
        let [one, other] =
            [first, &second].map(|lab| lab.node("n1", "cat /proc/uptime; readlink /proc/self/ns/net"));
        assert_ne!(one.lines().nth(1), other.lines().nth(1));
        second.refused(&["run", "--", "ping", "-c", "1", "-W", "1", "10.77.0.2"]);
        assert_eq!(second.head("sinfo --noheader --format=%D"), "1\n");
        down_and_look(&second, &before);
        first.lab(&["status"]);
        assert_eq!(first.head("ssh n2 hostname"), "n2\n");
        assert_eq!(second.lab(&["down"]), format!("there is no lab in {}\n", second.folder().display()));
    });
}

fn nothing_is_left_of_a_half_dead_lab() {
    let folder = Cluster { name: "dying" }.folder();
    let before = machine(folder.to_str().unwrap());
    let lab = Cluster::up("dying", 2);
    lab.lab(&["fault", "n1", "freeze-fs", "cpu-hog", "rate=1mbit", "drop=1%"]);
    let mut writer = lab.spawn("n1", "exec dd if=/dev/zero of=/scratch/new bs=4096 count=1");
    wait_for_writer(&lab, 0);
    // A command that a test left on the head, and one that runs under Slurm.
    let mut stray = lab.command(&["run", "--", "setsid", "sleep", "1000"]).spawn().unwrap();
    let mut step = lab
        .command(&["run", "--", "srun", "-w", "n2", "sleep", "1000"])
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let record = lab.record();
    wait_until("the job", || lab.head("squeue --noheader --states=RUNNING --format=%N") == "n2\n");

    // Of n1 all processes at once, as with its power; it cannot go because of the writer. Of the others, daemons.
    record.nodes[0].init.unwrap().kill().unwrap();
    for daemon in record.head.daemons.iter().chain(&record.nodes[1].daemons) {
        daemon.process.kill().unwrap();
    }
    wait_until("the death of the daemons", || {
        !record.nodes[1].daemons.iter().any(|daemon| daemon.process.is_alive())
    });
    let complaint = lab.refused(&["status"]);
    assert!(
        complaint.contains("munged of head is gone") && complaint.contains("sshd of n2 is gone"),
        "{complaint}"
    );
    down_and_look(&lab, &before);
    assert!(!writer.wait().unwrap().success());
    assert_eq!(stray.wait().unwrap().signal(), Some(9));
    step.wait().unwrap();
}

fn nothing_is_left_of_a_killed_up() {
    /// Whether the making has come to a point.
    type Point = fn(&Lab) -> bool;
    let points: [(&str, Point); 3] = [
        ("the head", |lab| lab.head.init.is_some()),
        ("the second node", |lab| lab.nodes[1].init.is_some()),
        ("the first daemon of a node", |lab| !lab.nodes[0].daemons.is_empty()),
    ];
    let lab = Cluster { name: "halted" };
    lab.lab(&["down"]);
    let before = machine(lab.folder().to_str().unwrap());
    let begun = |name: &str, point: Point| {
        let up = lab.command(&["up", "--nodes", "2"]).stdout(Stdio::null()).spawn().unwrap();
        wait_until(name, || Lab::load(&lab.folder()).ok().flatten().is_some_and(|lab| point(&lab)));
        up
    };
    let kill = |mut up: Child| {
        up.kill().unwrap();
        up.wait().unwrap();
    };
    for (name, point) in points {
        kill(begun(name, point));
        // A machine that is busy may give us no CPU until it is complete.
        for tries in 1.. {
            if !lab.record().is_complete {
                break;
            }
            assert!(tries < 20, "{name}: it was not killed in time");
            down_and_look(&lab, &before);
            kill(begun(name, point));
        }
        let complaint = lab.refused(&["up"]);
        assert!(complaint.contains("is not whole; add --fresh: it was never complete"), "{complaint}");
        down_and_look(&lab, &before);
    }
    // And wherever it happens to be. What must not be is a process that nobody wrote down.
    for delay_ms in (0..240).step_by(20) {
        let up = begun("the record", |_| true);
        std::thread::sleep(Duration::from_millis(delay_ms));
        kill(up);
        down_and_look(&lab, &before);
    }
}

fn a_host_that_nobody_wrote_down_leaves() {
    let folder = tempfile::tempdir().unwrap();
    let mut host = Command::new("timeout");
    // In namespaces of its own, should it go on.
    host.args(["10", "unshare", "--mount", "--uts", "--ipc", "--net", "sh"]);
    host.arg(workspace::root().join("lab/host.sh"))
        .arg(folder.path())
        .args(["head", "head"])
        .stdin(Stdio::null());
    let output = host.output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(String::from_utf8(output.stdout).unwrap().trim().parse::<u32>().is_ok(), "it says its PID first");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}

fn a_folder_that_is_no_lab_is_left_alone() {
    let lab = Cluster { name: "foreign" };
    fs::create_dir_all(lab.folder()).unwrap();
    fs::write(lab.folder().join("thesis.txt"), "years").unwrap();
    for words in [&["up"][..], &["up", "--fresh"]] {
        assert!(lab.refused(words).contains("holds something that is no lab"), "{words:?}");
    }
    assert!(lab.refused(&["down"]).contains("is no lab"));
    assert!(lab.refused(&["status"]).contains("there is no lab in"));
    assert_eq!(fs::read_to_string(lab.folder().join("thesis.txt")).unwrap(), "years");
    fs::remove_dir_all(lab.folder()).unwrap();
}
