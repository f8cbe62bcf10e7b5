//! File systems of a node that are full, and one that two nodes share.

use libtest_mimic::Trial;

use crate::rig::{BOTH, CHASE, Rig, shared, wide, with_more_time};
use crate::started::{outcome, reason, record, soon};
use crate::trial;

pub fn trials() -> Vec<Trial> {
    vec![
        trial("a_node_that_has_no_room_for_the_binary_is_named_and_the_other_is_measured", no_room_over_ssh),
        trial("a_node_that_has_no_room_for_slurm_s_copy_is_named", no_room_for_slurm),
        trial("four_nodes_write_at_one_moment_and_their_sum_is_one_case", all_at_once),
        trial("four_nodes_write_one_file_in_turns_of_blocks", all_in_one_file),
        trial(
            "four_nodes_make_and_remove_files_at_one_moment_in_folders_of_their_own_and_in_one",
            names_at_once,
        ),
        trial("a_node_killed_while_all_write_is_the_culprit_and_the_others_are_measured", killed_client),
        trial("what_one_node_wrote_the_other_reads_and_nothing_of_it_stays", read_from_the_other),
    ]
}

const JSON: &[&str] = &["-o", "json"];

/// Makes room again, also after a trial that failed.
struct Full<'a>(&'a Rig);

impl Drop for Full<'_> {
    fn drop(&mut self) {
        let line = "umount -R -l /tmp; umount -R -l /run/full; umount -l /dev/shm/seatrial-0";
        let _ = self.0.lab.command(&["run", "--node", "n2", "--", "sh", "-c", line]).output();
    }
}

/// Does `test` while /tmp of n2, and its other folder for the binary, have room for one MiB only, which is less than the
/// binary.
fn with_a_full_disk(test: impl FnOnce(&Rig)) {
    shared(|rig| {
        let lab = rig.lab.folder();
        let lab = lab.display();
        // The folder of the lab may lie below /tmp, and then has to stay visible there.
        let line = format!(
            "set -e; rm -rf /tmp/cache; mkdir -p /run/full /dev/shm/seatrial-0; \
             mount -t tmpfs -o size=1m,mode=700 full /dev/shm/seatrial-0; mount -t tmpfs -o size=1m,mode=1777 full /run/full; \
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
        for part in ["n2", "/tmp/cache/seatrial", " free in none of "] {
            assert!(why.contains(part), "{part} is not in: {why}");
        }
        assert_eq!(rig.lab.node("n2", "find /tmp/cache -type f"), "", "no half of a copy is left");
    });
}

fn no_room_for_slurm() {
    with_a_full_disk(|rig| {
        rig.lab.node("n1", "rm -rf /tmp/cache /tmp/seatrial-*");
        let document = rig.run(&[CHASE, &["-N2"], JSON]).document(3);
        assert_eq!(outcome(&document, "mem.latency@n1"), ("measured", ""));
        assert_eq!(outcome(&document, "mem.latency@n2"), ("unmeasured", "never_reached"));
        let why = reason(&document, "mem.latency@n2");
        for part in ["n2", "/tmp/seatrial-0", " free in none of "] {
            assert!(why.contains(part), "{part} is not in: {why}");
        }
        assert_eq!(rig.lab.node("n2", "find /tmp/seatrial-0 -type f"), "", "no half of a copy is left");
    });
}

/// A folder of the lab, which is the same on all of its hosts.
pub fn in_a_folder(rig: &Rig, test: impl FnOnce(&str)) {
    let folder = rig.lab.folder().join("clients");
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir(&folder).unwrap();
    test(&format!("directory={}", folder.display()));
    let left = || std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect::<Vec<_>>();
    assert!(soon(|| left().is_empty()), "nobody removed {:?}", left());
    std::fs::remove_dir_all(&folder).unwrap();
}

/// Buffered, as not every file system below a lab can do otherwise.
const WRITES: &[&str] = &[
    "run",
    "storage.file",
    "--pattern",
    "all",
    "--share-hosts",
    "-w",
    "n[1-4]",
    "-p",
    "operation=write",
    "-p",
    "access=buffered",
    "-p",
    "size=8MiB",
    "-p",
    "block=64KiB",
    "-p",
    "trials=1",
    "-p",
    "max_trials=1",
];

fn all_at_once() {
    all_write(&["-p", "files=own"], 8 << 20);
}

fn all_in_one_file() {
    all_write(&["-p", "files=interleaved", "-p", "threads=2"], 32 << 20);
}

/// All write files of so many bytes.
fn all_write(files: &[&str], bytes: u64) {
    wide(|rig| {
        in_a_folder(rig, |directory| {
            let time = ["-p", directory, "-p", "time=500ms"];
            let document = rig.run(&[WRITES, &time, files, JSON]).document(0);
            let case = "storage.file@n[1-4]";
            assert_eq!(outcome(&document, case), ("measured", ""), "{document}");
            let record = record(&document, case);
            let rows = record["series"]["by_node"]["rows"].as_array().expect("rows");
            let rates: Vec<f64> =
                rows.iter().map(|row| row["summary"]["median"].as_f64().expect("a rate")).collect();
            assert_eq!(rates.len(), 4, "{rows:?}");
            let of = |metric: &str| record["metrics"][metric]["median"].as_f64().expect(metric);
            let least = rates.iter().copied().fold(f64::INFINITY, f64::min);
            assert!((of("slowest_node") - least).abs() <= 1e-6 * least, "{record}");
            assert_eq!(record["evidence"]["files"]["bytes_each"], bytes, "{record}");
            assert!(of("durable") > 0.0 && of("fairness") <= 1.0, "{record}");
            let integrity = &record["evidence"]["integrity"];
            assert!(integrity.to_string().contains("verified"), "{integrity}");
        });
    });
}

fn names_at_once() {
    wide(|rig| {
        in_a_folder(rig, |directory| {
            for folder in ["folder=own", "folder=shared"] {
                let names = ["run", "storage.metadata", "--pattern", "all", "--share-hosts", "-w", "n[1-4]"];
                let few = ["-p", directory, "-p", folder, "-p", "trials=1", "-p", "max_trials=1"];
                let run = |time| rig.run(&[&names, &few, &["-p", time], JSON]);
                // A busy machine may leave a node out of a short share of seven operations.
                let ended = Some(run("time=4s")).filter(|ended| ended.code == Some(0));
                let document = ended.unwrap_or_else(|| run("time=20s")).document(0);
                let case = "storage.metadata@n[1-4]";
                assert_eq!(outcome(&document, case), ("measured", ""), "{document}");
                let record = record(&document, case);
                let rows = |series: &str| record["series"][series]["rows"].as_array().expect(series).len();
                assert_eq!((rows("by_operation"), rows("by_node")), (7, 4), "{record}");
                let integrity = &record["evidence"]["integrity"];
                assert!(integrity.to_string().contains("verified"), "{integrity}");
                let findings = record["findings"].to_string();
                assert!(!findings.contains("own-file-systems"), "one folder is seen by all: {findings}");
            }
        });
    });
}

fn killed_client() {
    wide(|rig| {
        in_a_folder(rig, |directory| {
            with_more_time(rig, |time| {
                let all = "storage.file@n[1-4]";
                let mut run = rig.start(&[WRITES, &["-p", directory, "-p", time], JSON]);
                run.wait_for_measuring(all);
                rig.lab.node("n3", "pkill -KILL -x seatrial-agent");
                run.still_measures(all);
                let document = run.end().document(1);
                assert_eq!(outcome(&document, all), ("failed", "vanished"));
                assert_eq!(record(&document, all)["lost"], serde_json::json!(["n3"]));
                assert_eq!(outcome(&document, "storage.file@n[1-2,4]"), ("measured", ""));
            });
        });
    });
}

/// The folder of the lab is the same on all of its hosts.
fn read_from_the_other() {
    shared(|rig| {
        let folder = rig.lab.folder().join("shared");
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir(&folder).unwrap();
        let directory = format!("directory={}", folder.display());
        let read = [
            "run",
            "storage.peer_read",
            "--pattern",
            "ring",
            "-p",
            &directory,
            "-p",
            "access=buffered",
            "-p",
            "size=4MiB",
            "-p",
            "block=64KiB",
            "-p",
            "threads=2",
            "-p",
            "time=200ms",
            "-p",
            "trials=1",
            "-p",
            "max_trials=1",
        ];
        let document = rig.run(&[&read, BOTH, JSON]).document(0);
        let case = "storage.peer_read@n1+n2";
        assert_eq!(outcome(&document, case), ("measured", ""), "{document}");
        let record = record(&document, case);
        assert_eq!(record["layout"]["written_on"], "n2");
        let integrity = &record["evidence"]["integrity"];
        assert!(integrity.to_string().contains("verified"), "{integrity}");
        assert_eq!(record["evidence"]["files"]["hidden"], "named");
        // The nodes of the lab run on one kernel, and that is told.
        assert!(record["findings"].to_string().contains("same-client"), "{}", record["findings"]);
        let left = std::fs::read_dir(&folder).unwrap().count();
        std::fs::remove_dir_all(&folder).unwrap();
        assert_eq!(left, 0, "something of the files stays");
    });
}
