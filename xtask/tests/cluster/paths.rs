//! The way that packets take: whether it was the one that was chosen, what shapes it, and what it does not let through.

use std::fs;

use libtest_mimic::Trial;
use serde_json::Value;

use crate::rig::{BOTH, Rig, shared};
use crate::started::outcome;
use crate::trial;

pub fn trials() -> Vec<Trial> {
    vec![
        trial("two_nodes_that_are_one_host_do_not_use_their_interface_and_it_shows", a_short_cut),
        trial("a_shaper_on_the_way_out_is_the_limit_and_its_counters_are_told", a_shaper),
        trial("a_class_that_takes_what_nobody_sorts_is_the_limit_and_is_kept_to", a_class_of_a_shaper),
        trial("a_jumbo_frame_that_does_not_get_through_is_a_failure_either_way", jumbo_frames),
    ]
}

/// Long enough for far more than the buffers of both ends, which counters need not show, on a busy machine too.
const STREAM: &[&str] = &[
    "run",
    "net.tcp_stream",
    "-p",
    "time=2s",
    "-p",
    "trials=1",
    "-p",
    "max_trials=1",
    "-p",
    "send=write",
    "-p",
    "receive=read",
];

const JSON: &[&str] = &["-o", "json"];

/// The texts of all findings of a kind: those of the run, and those of its cases by themselves.
fn told(document: &Value, kind: &str) -> Vec<String> {
    let of = |place: &Value| place["findings"].as_array().cloned().unwrap_or_default();
    let results = document["results"].as_array().into_iter().flatten();
    let findings = of(document).into_iter().chain(results.flat_map(of));
    let own = findings.filter(|finding| finding["kind"] == kind);
    own.map(|finding| finding["text"].as_str().unwrap_or_default().to_owned()).collect()
}

/// What a probe counted on a node in the only case of a run.
fn counted(document: &Value, node: &str, probe: &str, name: &str) -> Option<u64> {
    document["results"][0]["evidence"]["probes"][node][probe]["counts"][name].as_u64()
}

fn a_short_cut() {
    shared(|rig| {
        let document = rig.run(&[STREAM, BOTH, JSON]).document(0);
        assert_eq!(outcome(&document, "net.tcp_stream"), ("measured", ""));
        assert_eq!(told(&document, "path-unconfirmed"), [""; 0]);
        let moved = document["results"][0]["evidence"]["moved"][0]["bytes"].as_u64().expect("bytes");
        assert!(moved > 0 && counted(&document, "n2", "nic", "rx_bytes eth0").is_some_and(|count| count > 0));

        // The second name of the first node is its address, which only --share-hosts takes as a node of its own.
        let twice: &[&str] = &["-w", "n1,10.77.0.1", "--share-hosts"];
        let document = rig.run(&[STREAM, twice, JSON]).document(0);
        assert_eq!(outcome(&document, "net.tcp_stream"), ("measured", ""));
        let found = told(&document, "path-unconfirmed");
        let [text] = found.as_slice() else { panic!("{found:?}") };
        assert!(text.contains("eth0 of n1 sent only") && text.contains("; lo ("), "{text}");
        assert!(text.contains("both addresses belong to one host"), "{text}");

        // What went another way is no verdict on this one, however fast it was.
        let folder = tempfile::tempdir_in("/tmp").unwrap();
        let profile = folder.path().join("stream.toml");
        let text = "[[test]]\nid = \"stream\"\nuse = \"net.tcp_stream\"\n\
                    params = { time = \"400 ms\", trials = 1, max_trials = 1, send = \"write\", receive = \"read\" }\n\
                    [[criterion]]\ntest = \"stream\"\nmetric = \"throughput\"\nat_least = \"1 kbit/s\"\n";
        fs::write(&profile, text).unwrap();
        let check = |nodes: &[&str], code: i32| {
            let document = rig.run(&[&["check", profile.to_str().unwrap()], nodes, JSON]).document(code);
            let verdict = document["verdicts"][0].clone();
            (verdict["verdict"].clone(), verdict["reason"].as_str().unwrap_or_default().to_owned())
        };
        // On a busy machine a moment without a byte is a warning.
        let (verdict, reason) = check(BOTH, 0);
        assert!((verdict == "pass" || verdict == "warn") && !reason.contains("path"), "{verdict}: {reason}");
        let (verdict, reason) = check(twice, 3);
        assert_eq!(verdict, "unknown", "{reason}");
        assert!(reason.starts_with("path unconfirmed: ") && reason.contains("; lo ("), "{reason}");
    });
}

fn a_shaper() {
    shared(|rig| {
        rig.lab.lab(&["fault", "n1", "rate=200mbit"]);
        let limit = |direction: &str| {
            let direction = format!("direction={direction}");
            let document = rig.run(&[STREAM, &["-p", &direction], BOTH, JSON]).document(0);
            assert_eq!(outcome(&document, "net.tcp_stream"), ("measured", ""));
            let limit = document["results"][0]["metrics"]["throughput"]["limit"].clone();
            (document, limit)
        };
        let (document, forward) = limit("forward");
        assert_eq!(forward["provenance"], "qdisc tbf", "{forward}");
        // Frames of 9014 bytes with 8948 of payload each.
        let value = forward["value"].as_f64().expect("a limit");
        assert!((value - 0.2 * 8948.0 / 9014.0).abs() < 1e-9, "{forward}");
        assert!(
            counted(&document, "n1", "qdisc", "overlimits eth0").is_some_and(|count| count > 0),
            "{document}"
        );
        assert_eq!(told(&document, "path-unconfirmed"), [""; 0]);
        // The other way packets pass the shaper at the bridge, which no node sees.
        let (_, reverse) = limit("reverse");
        assert!(reverse["value"].is_null(), "{reverse}");
    });
}

fn a_class_of_a_shaper() {
    shared(|rig| {
        let tc = |lines: &[&str]| {
            let lines: Vec<String> = lines.iter().map(|line| format!("tc {line}")).collect();
            rig.lab.node("n1", &lines.join(" && "));
        };
        // Mbit/s of frames that the limit says, and whether it was kept to. A receiver that had no CPU before the clock
        // started reads what has come meanwhile as well; of a longer time that is a smaller part.
        let limit = || {
            let mut seen = Vec::new();
            for time in ["time=2s", "time=10s", "time=30s"] {
                let longer: Vec<&str> =
                    STREAM.iter().map(|word| if word.starts_with("time=") { time } else { word }).collect();
                let document = rig.run(&[&longer, BOTH, JSON]).document(0);
                assert_eq!(outcome(&document, "net.tcp_stream"), ("measured", ""));
                let throughput = &document["results"][0]["metrics"]["throughput"];
                assert_eq!(throughput["limit"]["provenance"], "qdisc htb", "{throughput}");
                let value = throughput["limit"]["value"].as_f64().expect("a limit");
                let mean = throughput["mean"].as_f64().expect("a rate");
                if mean > 0.0 && mean <= value * 1.01 {
                    return value * 1000.0 * 9014.0 / 8948.0;
                }
                seen.push((mean, value));
            }
            panic!("rates and limits: {seen:?}");
        };
        tc(&[
            "qdisc replace dev eth0 root handle 1: htb default 10",
            "class add dev eth0 parent 1: classid 1:1 htb rate 300mbit",
            "class add dev eth0 parent 1:1 classid 1:10 htb rate 50mbit ceil 150mbit",
        ]);
        let by_default = std::panic::catch_unwind(std::panic::AssertUnwindSafe(limit));
        tc(&[
            "class add dev eth0 parent 1:1 classid 1:20 htb rate 50mbit ceil 100mbit",
            "filter add dev eth0 parent 1: protocol ip u32 match ip dst 10.77.0.2/32 flowid 1:20",
        ]);
        let sorted = std::panic::catch_unwind(std::panic::AssertUnwindSafe(limit));
        tc(&["qdisc delete dev eth0 root"]);
        // The class that takes what nobody sorts; and both leaves together, where somebody does.
        let (by_default, sorted) = (by_default.unwrap(), sorted.unwrap());
        assert!((by_default - 150.0).abs() < 1e-6 && (sorted - 250.0).abs() < 1e-6, "{by_default} {sorted}");
    });
}

fn jumbo_frames() {
    shared(|rig| {
        let folder = tempfile::tempdir_in("/tmp").unwrap();
        let profile = folder.path().join("jumbo.toml");
        let text = "[[test]]\nid = \"mtu\"\nuse = \"net.mtu\"\nparams = { trials = 1, max_trials = 1 }\n\
                    [[criterion]]\ntest = \"mtu\"\nmetric = \"path\"\nat_least = \"9000 B\"\n";
        fs::write(&profile, text).unwrap();
        let check = |rig: &Rig, code: i32| {
            let words = ["check", profile.to_str().unwrap()];
            let document = rig.run(&[&words, BOTH, JSON]).document(code);
            assert_eq!(outcome(&document, "net.mtu"), ("measured", ""));
            document
        };
        let sound = check(rig, 0);
        assert_eq!((sound["verdict"].as_str(), told(&sound, "mtu-mismatch").len()), (Some("pass"), 0));

        // The node takes no large frames: it sends none, and those of others are lost.
        rig.lab.lab(&["fault", "n1", "mtu=1500"]);
        let small = check(rig, 1);
        assert_eq!(small["verdict"], "fail");
        let found = told(&small, "mtu-mismatch");
        let [text] = found.as_slice() else { panic!("{found:?}") };
        assert!(text.starts_with("from n2 to n1 packets above 150"), "{text}");
        assert!(text.contains("(the sender's interface has an MTU of 9000 B)"), "{text}");
        rig.lab.lab(&["heal", "n1"]);

        // A black hole: both ends take large frames, and a port of the bridge between them does not.
        rig.lab.head("ip link set dev n1 mtu 1500");
        let hole = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| check(rig, 1)));
        rig.lab.head("ip link set dev n1 mtu 9000");
        let found = told(&hole.unwrap(), "mtu-mismatch");
        assert_eq!(found.len(), 2, "both ways: {found:?}");
        assert!(found.iter().all(|text| text.contains("receives no ICMP message")), "{found:?}");
    });
}
