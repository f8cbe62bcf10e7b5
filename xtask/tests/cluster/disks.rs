//! File systems of a node that are full.

use libtest_mimic::Trial;

use crate::rig::{BOTH, CHASE, Rig, shared};
use crate::started::{outcome, reason};
use crate::trial;

pub fn trials() -> Vec<Trial> {
    vec![
        trial("a_node_that_has_no_room_for_the_binary_is_named_and_the_other_is_measured", no_room_over_ssh),
        trial("a_node_that_has_no_room_for_slurm_s_copy_is_named", no_room_for_slurm),
    ]
}

const JSON: &[&str] = &["-o", "json"];

/// Makes room again, also after a trial that failed.
struct Full<'a>(&'a Rig);

impl Drop for Full<'_> {
    fn drop(&mut self) {
        let line = "umount -R -l /tmp; umount -R -l /run/full; rm -f /tmp/seatrial-*";
        let _ = self.0.lab.command(&["run", "--node", "n2", "--", "sh", "-c", line]).output();
    }
}

/// Does `test` while /tmp of n2 has room for one MiB only, which is less than the binary.
fn with_a_full_disk(test: impl FnOnce(&Rig)) {
    shared(|rig| {
        let lab = rig.lab.folder();
        let lab = lab.display();
        // The folder of the lab may lie below /tmp, and then has to stay visible there.
        let line = format!(
            "set -e; rm -rf /tmp/cache; mkdir -p /run/full; mount -t tmpfs -o size=1m,mode=1777 full /run/full; \
             case {lab} in /tmp/*) inner=/run/full/$(echo {lab} | cut -d/ -f3-); \
             mkdir -p $inner; mount --bind {lab} $inner;; esac; mount --rbind /run/full /tmp"
        );
        let _full = Full(rig);
        rig.lab.node("n2", &line);
        test(rig);
    });
}

fn no_room_over_ssh() {
    with_a_full_disk(|rig| {
        let document = rig.run(&[CHASE, BOTH, JSON]).document(3);
        assert_eq!(outcome(&document, "mem.latency@n1"), ("measured", ""));
        assert_eq!(outcome(&document, "mem.latency@n2"), ("unmeasured", "never_reached"));
        let why = reason(&document, "mem.latency@n2");
        for part in ["n2", "/tmp/cache/seatrial", "No space left on device"] {
            assert!(why.contains(part), "{part} is not in: {why}");
        }
        assert_eq!(rig.lab.node("n2", "find /tmp/cache -type f"), "", "no half of a copy is left");
    });
}

/// srun copies to all nodes or to none, so the run does not come about; that it names the node is srun's doing.
fn no_room_for_slurm() {
    with_a_full_disk(|rig| {
        let ended = rig.run(&[CHASE, &["-N2"], JSON]);
        assert_eq!(ended.code, Some(3), "{}", ended.complaint);
        for part in ["n2", "roadcast", "srun"] {
            assert!(ended.complaint.contains(part), "{part} is not in: {}", ended.complaint);
        }
        // The other node has its copy: no agent came to remove it.
        rig.lab.node("n1", "rm -f /tmp/seatrial-*");
    });
}
