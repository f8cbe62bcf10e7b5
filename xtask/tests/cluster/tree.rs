//! Nodes that are reached through others, as over ssh many are.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt;

use libtest_mimic::Trial;

use crate::judged::{PROFILE, shape};
use crate::rig::{BOTH, CHASE, ENDLESS, Rig, long_chase, shared, wide, with_more_time};
use crate::started::{outcome, reason, record, wait_until};
use crate::trial;

pub fn trials() -> Vec<Trial> {
    vec![
        trial("through_gateways_a_check_says_the_same_as_directly", says_the_same),
        trial("a_gateway_killed_between_cases_leaves_its_share_unmeasured", gateway_killed_between_cases),
        trial("a_gateway_killed_inside_a_case_fails_it_and_the_rest_goes_on", gateway_killed_inside_a_case),
        trial("a_node_that_no_gateway_reaches_is_tried_directly_and_that_is_told", no_gateway_reaches),
        trial("a_controller_that_is_killed_takes_gateways_and_agents_along", killed_controller),
        trial("a_copy_whose_content_is_another_is_sent_anew", another_content),
    ]
}

const JSON: &[&str] = &["-o", "json"];

/// Two shares of two nodes: n1 leads to n2, and n3 to n4.
const TREE: &[&str] = &["-w", "n[1-4]", "--ssh-fanout", "2"];

/// The clocks of the lab's nodes are this far apart and more.
const APART_NS: u64 = 4_321_000_000_000;

/// A client as a site may have one, at a path that all hosts share. It notes who calls whom, gives every node a cache of
/// its own, and refuses the call WALL.
const CLIENT: &str = "\
#!/bin/sh
for word; do node=$line; line=$word; done
call=\"$(uname -n) $node\"
echo \"$call\" >>CALLS
if [ \"$call\" = \"WALL\" ]; then echo 'ssh: administratively prohibited' >&2; exit 255; fi
count=$# at=0
for word; do
    at=$((at + 1))
    shift
    [ $at -lt $count ] || word=\"export XDG_CACHE_HOME=/tmp/cache; $word\"
    set -- \"$@\" \"$word\"
done
exec ssh \"$@\"
";

/// Makes the client, and returns the option that takes it.
fn client(rig: &Rig, wall: &str) -> String {
    let (path, calls) = (rig.lab.folder().join("tree-client"), rig.lab.folder().join("tree-calls"));
    fs::write(&path, CLIENT.replace("CALLS", calls.to_str().unwrap()).replace("WALL", wall)).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    fs::write(calls, "").unwrap();
    format!("--ssh={}", path.display())
}

fn calls(rig: &Rig) -> BTreeSet<String> {
    let text = fs::read_to_string(rig.lab.folder().join("tree-calls")).unwrap();
    text.lines().map(str::to_owned).collect()
}

#[track_caller]
fn assert_calls(rig: &Rig, wanted: &[&str]) {
    assert_eq!(calls(rig), wanted.iter().map(|call| (*call).to_owned()).collect());
}

fn says_the_same() {
    wide(|rig| {
        let folder = tempfile::tempdir_in("/tmp").unwrap();
        let profile = folder.path().join("small.toml");
        fs::write(&profile, PROFILE).unwrap();
        let check = ["check", profile.to_str().unwrap(), "--role", "measured=n[1-4]"];
        let client = client(rig, "");
        let tree = rig.run(&[&check, TREE, &[&client], JSON]).document(0);
        assert_calls(rig, &["head n1", "head n3", "n1 n2", "n3 n4"]);
        let direct = rig.run(&[&check, &["-w", "n[1-4]"], &[&client], JSON]).document(0);
        assert_eq!(shape(&tree), shape(&direct));
        assert_eq!((&tree["verdict"], &tree["run"]["nodes"]), (&direct["verdict"], &direct["run"]["nodes"]));
        // The clocks are compared end to end. Without that, parts would seem to start more than an hour apart.
        for case in tree["results"].as_array().unwrap().iter().filter(|case| case["bench"] == "net.rr") {
            let start = &case["evidence"]["start"];
            for key in ["skew_ns", "known_within_ns"] {
                assert!(start[key].as_u64().is_some_and(|nanos| nanos < APART_NS / 100), "{start}");
            }
        }
    });
}

fn gateway_killed_between_cases() {
    wide(|rig| {
        with_more_time(rig, |time| {
            let mut run = rig.start(&[&long_chase(time), TREE, &[&client(rig, "")], JSON]);
            // The nodes of the lab take turns, n1 first.
            run.wait_for_measuring("mem.latency@n1");
            rig.lab.node("n3", "pkill -KILL -x seatrial-relay");
            run.still_measures("mem.latency@n1");
            let document = run.end().document(3);
            for case in ["mem.latency@n1", "mem.latency@n2"] {
                assert_eq!(outcome(&document, case), ("measured", ""), "{:#}", record(&document, case));
            }
            for case in ["mem.latency@n3", "mem.latency@n4"] {
                assert_eq!(outcome(&document, case), ("unmeasured", "never_reached"), "{case}");
                let why = reason(&document, case);
                assert!(why.contains("its gateway n3 was lost"), "{why}");
            }
        });
    });
}

fn gateway_killed_inside_a_case() {
    wide(|rig| {
        with_more_time(rig, |time| {
            let mut run = rig.start(&[&long_chase(time), TREE, &[&client(rig, "")], JSON]);
            run.wait_for_measuring("mem.latency@n1");
            rig.lab.node("n1", "pkill -KILL -x seatrial-relay");
            run.still_measures("mem.latency@n1");
            let document = run.end().document(1);
            assert_eq!(outcome(&document, "mem.latency@n1"), ("failed", "vanished"));
            assert_eq!(outcome(&document, "mem.latency@n2"), ("unmeasured", "never_reached"));
            for case in ["mem.latency@n3", "mem.latency@n4"] {
                assert_eq!(outcome(&document, case), ("measured", ""), "{:#}", record(&document, case));
            }
        });
    });
}

fn no_gateway_reaches() {
    wide(|rig| {
        let ended = rig.run(&[CHASE, TREE, &[&client(rig, "n1 n2")], JSON]);
        let document = ended.document(0);
        assert_eq!(document["run"]["nodes"], serde_json::json!(["n1", "n2", "n3", "n4"]));
        for node in ["n1", "n2", "n3", "n4"] {
            assert_eq!(outcome(&document, &format!("mem.latency@{node}")), ("measured", ""));
        }
        assert_calls(rig, &["head n1", "head n2", "head n3", "n1 n2", "n3 n4"]);
        let told = "1 of 4 nodes cannot be reached through other nodes and are tried directly; the first: the agent on \
                    n2 did not start up: ";
        assert_eq!(ended.complaint.matches(told).count(), 1, "{}", ended.complaint);
        assert!(ended.complaint.contains("administratively prohibited"), "{}", ended.complaint);
    });
}

fn killed_controller() {
    wide(|rig| {
        let mut run = rig.start(&[&long_chase(ENDLESS), TREE, &[&client(rig, "")], JSON]);
        run.wait_for_measuring("mem.latency@n1");
        // One agent each, and on two of them a relay and its client.
        assert!(rig.left().iter().any(|line| line.starts_with("n1: ") && line.ends_with("/ssh")));
        assert!(rig.left().iter().any(|line| line.starts_with("n4: ")), "{:?}", rig.left());
        run.signal(rustix::process::Signal::KILL);
        assert_eq!(run.end().code, None);
        wait_until("relays and agents to leave", || rig.left().is_empty());
    });
}

fn another_content() {
    shared(|rig| {
        rig.lab.node("n2", "rm -rf /tmp/cache");
        rig.run(&[&["inventory"], BOTH, JSON]).document(0);
        // The last byte of the file belongs to a table that running it does not need.
        let last = fs::metadata(&rig.program).unwrap().len() - 1;
        let spoil = format!("printf x | dd of=$f bs=1 seek={last} conv=notrunc status=none");
        let look = "cd /tmp/cache/seatrial; f=$(echo *)";
        let good = rig.lab.node("n2", &format!("{look}; cksum $f; {spoil}"));
        let ended = rig.run(&[CHASE, BOTH, JSON]);
        assert_eq!(outcome(&ended.document(0), "mem.latency@n2"), ("measured", ""));
        let told = "copying the binary to n2 again: it is build ";
        assert!(ended.complaint.contains(told), "{}", ended.complaint);
        assert_eq!(rig.lab.node("n2", &format!("{look}; cksum $f")), good);
    });
}
