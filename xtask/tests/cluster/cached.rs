//! The copy of the binary that a start under Slurm leaves on each node for the next one.

use std::fs;

use libtest_mimic::Trial;
use rustix::process::Signal;

use crate::rig::{Rig, wide};
use crate::started::{Ended, names, wait_until};
use crate::trial;

pub fn trials() -> Vec<Trial> {
    vec![
        trial("under_slurm_the_first_start_copies_and_the_second_does_not", second_start),
        trial("under_slurm_the_copy_that_ssh_left_is_used", left_by_ssh),
        trial("under_slurm_only_the_node_that_lacks_the_binary_gets_it", one_lacks),
        trial("under_slurm_two_runs_that_start_at_one_moment_both_get_it", two_at_once),
        trial("under_slurm_a_damaged_copy_is_replaced", damaged),
        trial("under_slurm_what_another_user_owns_is_not_executed", foreign),
        trial("under_slurm_a_folder_that_executes_nothing_or_is_full_is_passed_over", passed_over),
        trial("under_slurm_a_node_that_cannot_keep_its_copy_is_named_and_the_others_start", cannot_keep),
        trial("under_slurm_a_copy_that_was_cut_off_is_not_executed", cut_off),
    ]
}

const NODES: [&str; 4] = ["n1", "n2", "n3", "n4"];

const INVENTORY: &[&str] = &["inventory", "-N4", "-o", "json"];

/// The folder of the copies: root's.
const PLACE: &str = "/tmp/seatrial-0";

fn remove(rig: &Rig) {
    for node in NODES {
        rig.lab.node(node, &format!("rm -rf {PLACE} /dev/shm/seatrial-0 /tmp/cache"));
    }
}

/// Name, inode, size and mode of the copies of each node.
fn copies(rig: &Rig) -> [String; 4] {
    NODES.map(|node| rig.lab.node(node, &format!("cd {PLACE} && stat --format='%n %i %s %a' * || true")))
}

#[track_caller]
fn assert_all(ended: &Ended) {
    let document = ended.document(0);
    assert_eq!((names(&document), &document["missing"]), (NODES.to_vec(), &serde_json::json!([])));
}

/// Starts once with no copy anywhere, and returns the copies, one a node.
fn first(rig: &Rig) -> [String; 4] {
    remove(rig);
    assert_all(&rig.run(&[INVENTORY]));
    let copies = copies(rig);
    let bytes = fs::metadata(&rig.program).unwrap().len();
    for copy in &copies {
        assert_eq!(copy.lines().count(), 1, "{copy}");
        assert!(copy.ends_with(&format!(" {bytes} 700\n")), "{copy}");
    }
    copies
}

fn second_start() {
    wide(|rig| {
        let copied = first(rig);
        assert_eq!(rig.left(), Vec::<String>::new(), "the agents are gone when the command is");
        assert_all(&rig.run(&[INVENTORY]));
        assert_all(
            &rig.start_as(&["salloc", "--quiet", "-N4"], &rig.program, &[&["inventory", "-o", "json"]]).end(),
        );
        assert_eq!(copies(rig), copied, "the same files, not written anew");
    });
}

fn left_by_ssh() {
    wide(|rig| {
        remove(rig);
        assert_all(&rig.run(&[&["inventory", "-w", "n[1-4]", "-o", "json"]]));
        assert_all(&rig.run(&[INVENTORY]));
        for node in NODES {
            assert_eq!(rig.lab.node(node, "ls -d /tmp/seatrial-* || true"), "", "{node}");
        }
    });
}

fn one_lacks() {
    wide(|rig| {
        let mut copied = first(rig);
        rig.lab.node("n3", &format!("rm -r {PLACE}"));
        assert_all(&rig.run(&[INVENTORY]));
        let mut now = copies(rig);
        // Its inode may be another.
        for copies in [&mut copied, &mut now] {
            let words: Vec<String> = copies[2].split(' ').map(str::to_owned).collect();
            copies[2] = [&words[0][..], &words[2], &words[3]].join(" ");
        }
        assert_eq!(now, copied);
    });
}

fn two_at_once() {
    wide(|rig| {
        remove(rig);
        let runs = [rig.start(&[INVENTORY]), rig.start(&[INVENTORY])];
        for run in runs {
            let ended = run.end();
            assert_all(&ended);
            // What one of them has just put there can be executed at once.
            assert!(!ended.complaint.contains("damaged"), "{}", ended.complaint);
        }
        assert!(copies(rig).iter().all(|copies| copies.lines().count() == 1), "{:?}", copies(rig));
    });
}

fn damaged() {
    wide(|rig| {
        first(rig);
        let bytes = fs::metadata(&rig.program).unwrap().len();
        let sum = || rig.lab.node("n2", &format!("cd {PLACE}; cksum *"));
        let good = sum();
        // A byte of a table that running it does not need, all of it, and its end.
        let last = bytes - 1;
        for line in [
            format!("printf x | dd of=$f bs=1 seek={last} conv=notrunc status=none"),
            format!("head -c {bytes} /dev/zero >$f"),
            format!("truncate -s {last} $f"),
        ] {
            rig.lab.node("n2", &format!("f=$(echo {PLACE}/*); {line}"));
            assert_ne!(sum(), good);
            let ended = rig.run(&[INVENTORY]);
            assert_all(&ended);
            let told = ended.complaint.contains("copying the binary to n2 again: the copy there is damaged");
            assert_eq!(told, !line.starts_with("truncate"), "{}", ended.complaint);
            assert_eq!(sum(), good);
        }
    });
}

/// A file of another user in place of the folder, of the copy in a folder of the user's own, and of both.
fn foreign() {
    wide(|rig| {
        let copies = first(rig);
        let name = copies[0].split(' ').next().unwrap();
        let bytes = fs::metadata(&rig.program).unwrap().len();
        let plant = format!(
            "f={PLACE}/{name}; printf '#!/bin/sh\\ntouch /tmp/executed\\nexit 0\\n' >$f; truncate -s {bytes} $f; chmod 755 $f"
        );
        rig.lab.node("n2", &format!("{plant}; chown -R nobody {PLACE}"));
        rig.lab.node("n3", &format!("{plant}; chown nobody $f"));
        rig.lab.node(
            "n4",
            &format!("mv {PLACE} /tmp/elsewhere; ln -s /tmp/elsewhere {PLACE}; chown -h nobody {PLACE}"),
        );
        assert_all(&rig.run(&[INVENTORY]));
        for node in NODES {
            assert_eq!(rig.lab.node(node, "ls /tmp/executed 2>/dev/null || true"), "", "{node}");
        }
        let owners = |node: &str, folder: &str| rig.lab.node(node, &format!("stat --format=%U {folder}/*"));
        assert_eq!(owners("n2", PLACE), "nobody\n", "it is left as it is");
        assert_eq!(owners("n3", PLACE), "root\n");
        for node in ["n2", "n4"] {
            assert_eq!(owners(node, "/dev/shm/seatrial-0"), "root\n");
            rig.lab.node(node, &format!("rm -rf {PLACE} /tmp/elsewhere"));
        }
        remove(rig);
    });
}

/// Makes the folder of n2 what it was, also after a trial that failed.
struct Mounted<'a>(&'a Rig);

impl Drop for Mounted<'_> {
    fn drop(&mut self) {
        let line = format!("umount -l {PLACE}");
        let _ = self.0.lab.command(&["run", "--node", "n2", "--", "sh", "-c", &line]).output();
    }
}

fn passed_over() {
    wide(|rig| {
        for options in ["noexec,size=1g,mode=700", "size=1m,mode=700"] {
            first(rig);
            let mounted = Mounted(rig);
            rig.lab.node("n2", &format!("mount -t tmpfs -o {options} none {PLACE}"));
            let starts = [(); 2].map(|()| {
                assert_all(&rig.run(&[INVENTORY]));
                rig.lab.node("n2", "cd /dev/shm/seatrial-0; stat --format='%n %i %a' *")
            });
            assert_eq!(starts[0], starts[1], "{options}: another copy");
            assert_eq!(starts[0].lines().count(), 1, "{options}");
            drop(mounted);
        }
        remove(rig);
    });
}

/// A folder has the name of the copy. srun fails for all nodes, and those that it does not name get another step.
fn cannot_keep() {
    wide(|rig| {
        let name = first(rig)[0].split(' ').next().unwrap().to_owned();
        remove(rig);
        rig.lab.node("n2", &format!("mkdir -p -m 700 {PLACE}/{name}"));
        let document = rig.run(&[INVENTORY]).document(3);
        assert_eq!(names(&document), ["n1", "n3", "n4"]);
        let missing = document["missing"].to_string();
        for part in ["n2", PLACE, "Is a directory"] {
            assert!(missing.contains(part), "{part} is not in {missing}");
        }
        remove(rig);
    });
}

fn cut_off() {
    wide(|rig| {
        let whole = first(rig);
        remove(rig);
        let run = rig.start(&[INVENTORY]);
        // Below its temporary name.
        wait_until("a copy to begin", || {
            rig.lab.node("n1", &format!("ls {PLACE} 2>/dev/null || true")).contains(".head.")
        });
        run.signal(Signal::KILL);
        assert_eq!(run.end().code, None);
        wait_until("agents and their launchers to leave", || rig.left().is_empty());
        wait_until("the job to end", || rig.jobs().is_empty());
        // It may have come to its end before.
        assert_all(&rig.run(&[INVENTORY]));
        let size = |copies: &str, name: &str| {
            let line = copies.lines().find(|line| line.starts_with(&format!("{name} ")));
            line.and_then(|line| line.split(' ').nth(2)).map(str::to_owned)
        };
        let name = whole[0].split(' ').next().unwrap();
        for (now, whole) in copies(rig).iter().zip(&whole) {
            assert_eq!(size(now, name), size(whole, name), "{now}");
        }
        remove(rig);
    });
}
