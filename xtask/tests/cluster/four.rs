//! Four nodes: which of them take part, in which pairs, and what is found over all of them.

use std::collections::BTreeSet;
use std::fs;

use libtest_mimic::Trial;
use serde_json::{Value, json};

use crate::judged::{PROFILE, shape};
use crate::rig::{CHASE, REQUESTS, Rig, wide};
use crate::started::Ended;
use crate::trial;

pub fn trials() -> Vec<Trial> {
    vec![
        trial("a_check_has_the_same_shape_over_ssh_and_slurm", a_check_has_the_same_shape),
        trial(
            "the_check_of_the_host_plans_the_same_over_ssh_and_slurm",
            the_check_of_the_host_plans_the_same,
        ),
        trial("a_node_that_is_left_out_is_not_touched", a_node_that_is_left_out),
        trial("patterns_pair_the_nodes_as_they_say", patterns_pair_the_nodes),
        trial("a_node_with_another_machine_s_inventory_is_named", another_machine_s_inventory),
        trial("a_node_that_falls_behind_is_named", a_node_that_falls_behind),
    ]
}

const JSON: &[&str] = &["-o", "json"];

/// All four over ssh.
const FOUR: &[&str] = &["-w", "n[1-4]"];

/// The same in an allocation.
const ALLOCATED: &[&str] = &["salloc", "--quiet", "-N4"];

/// Runs `words` with all four nodes over ssh and inside an allocation; both have to end with `code`.
#[track_caller]
fn both_ways(rig: &Rig, words: &[&[&str]], code: i32) -> [Value; 2] {
    let ssh = rig.run(&[words, &[FOUR]].concat());
    let slurm = rig.start_as(ALLOCATED, &rig.program, words).end();
    [ssh, slurm].map(|ended| ended.document(code))
}

fn a_check_has_the_same_shape() {
    wide(|rig| {
        let folder = tempfile::tempdir_in("/tmp").unwrap();
        let profile = folder.path().join("small.toml");
        fs::write(&profile, PROFILE).unwrap();
        let check = ["check", profile.to_str().unwrap(), "--role", "measured=n[1-4]"];
        let [ssh, slurm] = both_ways(rig, &[&check, JSON], 0);
        let [cases, verdicts] = shape(&ssh);
        // A chase on every node and two pairs; a verdict for each.
        assert_eq!((cases.len(), verdicts.len()), (6, 6), "{cases:#?} {verdicts:#?}");
        assert_eq!([cases, verdicts], shape(&slurm));
        assert_eq!((&ssh["verdict"], &ssh["run"]["nodes"]), (&slurm["verdict"], &slurm["run"]["nodes"]));
        let keys = |document: &Value| document.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
        assert_eq!(keys(&ssh), keys(&slurm));
    });
}

/// To measure all of it on four nodes of one machine takes minutes; what would be measured is known without.
fn the_check_of_the_host_plans_the_same() {
    wide(|rig| {
        let planned = both_ways(rig, &[&["check", "host", "--plan"], JSON], 0).map(|plan| {
            let cases = plan["cases"].as_array().unwrap().iter();
            cases.map(|case| case["id"].as_str().unwrap().to_owned()).collect::<BTreeSet<_>>()
        });
        for node in ["n1", "n2", "n3", "n4"] {
            assert!(planned[0].iter().any(|id| id.contains(&format!("@{node}/"))), "{planned:#?}");
        }
        assert_eq!(planned[0], planned[1]);
    });
}

fn nodes(document: &Value) -> &Value {
    &document["run"]["nodes"]
}

fn a_node_that_is_left_out() {
    wide(|rig| {
        let all: &[&str] = &["inventory", "-x", "n3"];
        let named = |document: &Value| -> Vec<String> {
            let nodes = document["nodes"].as_array().unwrap().iter();
            nodes.map(|node| node["name"].as_str().unwrap().to_owned()).collect()
        };
        for document in both_ways(rig, &[all, JSON], 0) {
            assert_eq!(named(&document), ["n1", "n2", "n4"]);
        }
        // Outside an allocation Slurm chooses, and is told.
        let document = rig.run(&[&["inventory", "-N2", "-x", "n[1-2]"], JSON]).document(0);
        assert_eq!(named(&document), ["n3", "n4"]);
    });
}

/// The pairs that were measured, each as its two nodes.
fn pairs(ended: &Ended) -> Vec<String> {
    let document = ended.document(0);
    assert_eq!(*nodes(&document), json!(["n1", "n2", "n3", "n4"]));
    let results = document["results"].as_array().unwrap().iter();
    let mut pairs: Vec<String> = results
        .map(|record| {
            assert_eq!(record["outcome"], "measured", "{record:#}");
            record["subject"].as_str().unwrap().to_owned()
        })
        .collect();
    pairs.sort();
    pairs
}

fn patterns_pair_the_nodes() {
    wide(|rig| {
        let of = |pattern: &[&str]| pairs(&rig.run(&[REQUESTS, FOUR, pattern, JSON]));
        assert_eq!(of(&[]), ["n1->n2", "n3->n4"]);
        assert_eq!(of(&["--pattern", "ring"]), ["n1->n2", "n2->n3", "n3->n4", "n4->n1"]);
        let all = ["n1->n2", "n1->n3", "n1->n4", "n2->n3", "n2->n4", "n3->n4"];
        assert_eq!(of(&["--pattern", "all-pairs"]), all);
    });
}

/// Texts of the findings of that kind, each behind the node it names.
fn findings(document: &Value, kind: &str) -> Vec<String> {
    let all = document["findings"].as_array().unwrap().iter().filter(|finding| finding["kind"] == kind);
    all.map(|one| format!("{} {}", one["node"].as_str().unwrap_or("-"), one["text"].as_str().unwrap()))
        .collect()
}

/// The agent of n4 reads its machine below a folder, which shows another kernel and half of the memory.
fn another_machine_s_inventory() {
    wide(|rig| {
        // What is changed lies below /tmp: /run is on a file system that the lab lets nobody bind.
        let tree = "set -e; t=/run/tree; o=/tmp/other; mkdir -p $o; for d in proc sys etc; do mkdir -p $t/$d; \
            mount --rbind /$d $t/$d; done; echo 5.99.0-other > $o/osrelease; \
            sed 's/^MemTotal:.*/MemTotal: 1048576 kB/' /proc/meminfo > $o/meminfo; \
            cat /proc/sys/kernel/random/uuid > $o/boot_id; \
            mount --bind $o/osrelease $t/proc/sys/kernel/osrelease; mount --bind $o/meminfo $t/proc/meminfo; \
            mount --bind $o/boot_id $t/proc/sys/kernel/random/boot_id";
        rig.lab.node("n4", tree);
        let change = r#"word=$(printf %s "$word" | sed 's|agent --node n4|& --sysroot /run/tree|g')"#;
        let client = rig.client_that("client-sysroot", change);
        let document = rig.run(&[CHASE, FOUR, &[&client], JSON]).document(0);
        rig.lab.node("n4", "umount -R -l /run/tree/*");
        let found = findings(&document, "uniformity");
        let [one] = &found[..] else { panic!("{found:#?}") };
        assert!(one.starts_with("n4 n4: ") && one.contains("kernel is 5.99.0-other, on 3 others "), "{one}");
        assert!(one.contains("memory is 1 GiB, on 3 others "), "{one}");
    });
}

/// Six nodes, more than the lab has, with exact numbers: of the last one a loop over memory takes a fifth longer.
fn script() -> Value {
    let (gib, free) = (64_u64 << 30, json!({ "known": 60_000_000_000_u64 }));
    let thread =
        |id: u32| json!({ "id": id, "core": id, "node": 0, "l3": 0, "online": true, "allowed": true });
    let machine = json!({
        "cpu": { "isa": { "known": ["sse2", "avx2"] }, "threads": [thread(0), thread(1)] },
        "caches": { "instances": [{ "level": 3, "size_bytes": 32 << 20, "cpus": [0, 1] }] },
        "numa": [{ "id": 0, "cpus": [0, 1], "total_bytes": { "known": gib }, "available_bytes": free }],
        "memory": { "effective_available_bytes": free },
    });
    let slices = |rate: f64| {
        let of = |threads: u32, start: &str| {
            json!({ "channel": "slice", "at": { "threads": threads }, "unit": "GB", "span": "100 ms", "start": start,
                    "amounts": [rate / 10.0], "repeat": 6, "noise_percent": 0.2 })
        };
        json!([of(1, "0 ms"), of(2, "600 ms")])
    };
    let rules = json!([{ "when": { "node": "n6" }, "samples": slices(50.0) }, { "samples": slices(60.0) }]);
    json!({ "schema": 1, "nodes": [{ "name": "n", "count": 6, "machine": machine }], "rules": rules })
}

fn a_node_that_falls_behind() {
    wide(|rig| {
        let folder = tempfile::tempdir_in("/tmp").unwrap();
        let file = folder.path().join("six.json");
        fs::write(&file, script().to_string()).unwrap();
        let bench = ["run", "mem.bandwidth", "-p", "kernel=read", "--script", file.to_str().unwrap()];
        let ended = rig.run(&[&bench, JSON]);
        let found = findings(&ended.document(0), "outlier");
        assert!(!found.is_empty(), "{}", ended.out);
        for one in &found {
            assert!(
                one.starts_with("n6 ")
                    && one.contains("has 83 % of its peers' ")
                    && one.contains("like it is 60"),
                "{found:#?}"
            );
        }
        assert!(found.iter().any(|one| one.contains("its peers' bandwidth: 50")), "{found:#?}");
    });
}
