//! `seatrial copy`: between two processes with a stand-in for ssh, killed at any moment, and onto full targets.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use crate::rig::{Call, Home, with_private_mounts, without_privilege_over_files};

/// Stand-in for ssh: runs the last argument in a shell of this machine, reached by the loopback.
const SSH: &str = "#!/bin/sh\nfor word; do last=$word; done\n\
                   SSH_CONNECTION='127.0.0.1 1 127.0.0.1 22' HOME=FOLDER exec sh -c \"$last\"\n";

struct Rig {
    home: Home,
    folder: tempfile::TempDir,
}

impl Rig {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let ssh = folder.path().join("ssh");
        let text = SSH.replace("FOLDER", folder.path().to_str().expect("text"));
        fs::write(&ssh, text).expect("written");
        fs::set_permissions(&ssh, PermissionsExt::from_mode(0o755)).expect("set");
        Self { home: Home::new(), folder }
    }

    fn at(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// `seatrial copy` of `tree/` to `HOST:target`.
    fn copy(&self, words: &str, target: &Path) -> Call {
        let call = self.home.seatrial(&format!("copy {words} --ssh")).word(self.at("ssh"));
        call.word(self.at("tree/")).word(format!("n1:{}", target.display()))
    }

    /// A tree of small files and one of several blocks.
    fn make_tree(&self, small: u32, large: usize) {
        for number in 0..small {
            let folder = self.at("tree").join(format!("{}", number % 5));
            fs::create_dir_all(&folder).expect("made");
            fs::write(folder.join(format!("file{number}")), content(number, 3000)).expect("written");
        }
        fs::write(self.at("tree/large"), content(7, large)).expect("written");
    }
}

fn content(seed: u32, length: usize) -> Vec<u8> {
    let mut state = u64::from(seed) * 2 + 1;
    (0..length)
        .map(|_| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 56) as u8
        })
        .collect()
}

/// Paths of files with their content, below `at`.
fn files(at: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let (mut all, mut open) = (Vec::new(), vec![at.to_owned()]);
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten() {
            let path = entry.expect("read").path();
            if path.is_dir() {
                open.push(path);
            } else {
                let content = fs::read(&path).expect("read");
                all.push((path.strip_prefix(at).expect("below").to_owned(), content));
            }
        }
    }
    all.sort();
    all
}

fn is_partial(path: &Path) -> bool {
    path.to_string_lossy().contains(".seatrial-copy-")
}

#[test]
fn a_tree_is_copied_to_a_host_and_nothing_is_left_running() {
    let rig = Rig::new();
    rig.make_tree(60, 3 << 20);
    let target = rig.at("target");
    let out = rig.copy("--streams 3", &target).run().exits(0).out;
    assert!(out.starts_with("copied 61 files, ") && out.contains("; 0 unchanged, 0 failed"), "{out}");
    assert!(files(&target) == files(&rig.at("tree")));
    let sealed = rig.at("sealed");
    rig.copy("--encrypt", &sealed).run().exits(0);
    assert!(files(&sealed) == files(&rig.at("tree")));
    let again = rig.copy("", &target).run().exits(0).out;
    assert!(again.starts_with("copied 0 files, 0 B") && again.contains("; 61 unchanged"), "{again}");
    let dry = rig.copy("--dry-run", &rig.at("other")).run().exits(0).out;
    assert!(dry.contains("would copy 61 files") && dry.lines().any(|line| line == "large"), "{dry}");
    assert!(!rig.at("other").exists());
}

#[test]
fn what_is_wrong_with_the_command_is_told() {
    let rig = Rig::new();
    rig.make_tree(1, 10);
    let none = rig.home.seatrial("copy").word(rig.at("none")).word(rig.at("target")).run().exits(2);
    assert!(none.err.contains("none: cannot be read"), "{}", none.err);
    let file = rig.at("tree/large");
    let onto = rig.copy("", &file).run().exits(2);
    assert!(onto.err.contains("is no directory; choose another target"), "{}", onto.err);
    let lost = rig.home.seatrial("copy --ssh false").word(rig.at("tree")).word("n1:/x").run().exits(3);
    assert!(lost.err.contains("n1: the connection ended before an agent was started"), "{}", lost.err);
}

#[test]
fn a_receiver_that_is_killed_at_any_moment_leaves_whole_files_and_the_next_copy_continues() {
    let rig = Rig::new();
    rig.make_tree(150, 24 << 20);
    let (tree, target) = (files(&rig.at("tree")), rig.at("target"));
    // The binary is copied once, so that the rounds end in the copy itself.
    rig.copy("", &rig.at("first")).run().exits(0);
    let mut killed = 0;
    for round in 0..20_u64 {
        if round % 5 == 4 {
            fs::remove_dir_all(&target).expect("removed");
        }
        let copy = rig.copy("", &target).start();
        // From the start of the receiver on, which a short copy may leave unseen.
        let started = (0..5000).find_map(|_| {
            thread::sleep(Duration::from_millis(1));
            receivers(rig.folder.path()).pop()
        });
        if let Some(receiver) = started {
            thread::sleep(Duration::from_millis((round * 37) % 150));
            // It may just have ended.
            killed +=
                u32::from(rustix::process::kill_process(receiver, rustix::process::Signal::KILL).is_ok());
        }
        let ended = copy.ended();
        assert!(matches!(ended.code, Some(0 | 3)), "{:?}: {}", ended.code, ended.err);
        for file in files(&target).into_iter().filter(|(path, _)| !is_partial(path)) {
            assert!(tree.contains(&file), "{} is not whole", file.0.display());
        }
    }
    assert!(killed > 0, "no receiver was met");
    rig.copy("", &target).run().exits(0);
    assert!(files(&target) == tree, "nothing is lost, and no partial file is left");
}

/// Receivers whose binary lies below `folder`.
fn receivers(folder: &Path) -> Vec<rustix::process::Pid> {
    let processes = fs::read_dir("/proc").expect("procfs").flatten();
    let numbers = processes.filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
    let ours = numbers.filter(|number| {
        let line = fs::read(format!("/proc/{number}/cmdline")).unwrap_or_default();
        fs::read_link(format!("/proc/{number}/exe")).is_ok_and(|path| path.starts_with(folder))
            && line.ends_with(b"copy-receiver\0")
    });
    ours.filter_map(rustix::process::Pid::from_raw).collect()
}

#[test]
fn a_full_target_fails_file_by_file_and_the_next_copy_continues() {
    with_private_mounts("3m", |disk| {
        let rig = Rig::new();
        rig.make_tree(40, 8 << 20);
        let ended = rig.copy("", disk).run().exits(1);
        assert!(
            ended.err.contains("large: ") && ended.err.contains("free space in the target"),
            "{}",
            ended.err
        );
        let whole = files(&rig.at("tree"));
        let there: Vec<_> = files(disk).into_iter().filter(|(path, _)| !is_partial(path)).collect();
        assert!(there.iter().all(|file| whole.contains(file)), "nothing half-written has its name");
        let options = rustix::mount::MountFlags::empty();
        rustix::mount::mount_remount(disk, options, c"size=64m").expect("made larger");
        rig.copy("", disk).run().exits(0);
        assert!(files(disk) == whole);
        rustix::mount::mount_remount(disk, rustix::mount::MountFlags::RDONLY, c"").expect("read-only");
        fs::write(rig.at("tree/new"), "new").expect("written");
        let ended = rig.copy("", disk).run().exits(1);
        assert!(
            ended.err.contains("new: ") && ended.err.contains("mount the target for writing"),
            "{}",
            ended.err
        );
    });
}

#[test]
fn one_file_without_permission_is_named_and_the_others_are_copied() {
    let rig = Rig::new();
    rig.make_tree(30, 10);
    fs::set_permissions(rig.at("tree/2/file7"), PermissionsExt::from_mode(0o000)).expect("set");
    without_privilege_over_files(move || {
        for target in ["n1:", ""] {
            let call = rig.home.seatrial("copy --ssh").word(rig.at("ssh")).word(rig.at("tree/"));
            let there = rig.at(&format!("target{}", target.len()));
            let ended = call.word(format!("{target}{}", there.display())).run().exits(1);
            assert!(ended.err.contains("2/file7: opening: Permission denied"), "{}", ended.err);
            assert_eq!(files(&there).len(), 30);
        }
    });
}
