//! A test beside a load over one narrow link, whose share of the link is known from the shaper.

use std::fs;

use libtest_mimic::Trial;
use serde_json::Value;

use crate::rig::sixteen;
use crate::trial;

pub fn trials() -> Vec<Trial> {
    vec![trial("a_load_over_the_same_link_takes_its_share_and_one_over_another_link_takes_none", shares)]
}

/// n9 to n16 behind a link of 200 Mbit/s. Each node that sends over it has a class of its own, and the classes that have
/// something to send get equal parts: in turn a chain of segments each (tc-htb(8), quantum). The classes are told by the port
/// that a packet came from.
const NARROW: &str = "\
set -e
mtu=$(cat /sys/class/net/br0/mtu)
ip link add br9 mtu $mtu type bridge && ip link set br9 up
ip link add up0 mtu $mtu type veth peer name up9 mtu $mtu
ip link set up0 master br0 && ip link set up9 master br9
for node in n9 n10 n11 n12 n13 n14 n15 n16; do ip link set $node master br9; done
tc qdisc add dev up0 root handle 1: htb default 9
tc class add dev up0 parent 1: classid 1:a htb rate 200mbit burst 256kb
for class in 1 4 5 6 7 8 9; do
    tc class add dev up0 parent 1:a classid 1:$class htb rate 20mbit ceil 200mbit burst 70kb cburst 70kb quantum 70000
    tc qdisc add dev up0 parent 1:$class bfifo limit 400kb
done
nft add table netdev shares
for class in 1 4 5 6 7 8; do
    nft \"add chain netdev shares from$class { type filter hook ingress device n$class priority 0; }\"
    nft add rule netdev shares from$class meta priority set 1:$class
done
ip link set up0 up && ip link set up9 up";

const WIDE: &str = "\
nft delete table netdev shares
for node in n9 n10 n11 n12 n13 n14 n15 n16; do ip link set $node master br0; done
ip link delete up0 && ip link delete br9";

/// The link of n2 has a rate of its own, so that no other work on the machine sets it.
const OWN_LINK: &str = "tc qdisc replace dev eth0 root tbf rate 100mbit burst 128kb latency 20ms";

const PROFILE: &str = r#"
title = "streams beside streams over one narrow link"

[roles.victim]
nodes = "n1"
[roles.far]
nodes = "n9"
[roles.apart]
nodes = "n2"
[roles.near]
nodes = "n3"
[roles.load]
nodes = "n[4-8]"
[roles.sink]
nodes = "n[12-16]"

[[test]]
id = "shared"
use = "net.tcp_stream"
roles = ["victim"]
partner = "far"
beside = "bulk"
params = { trials = 1, max_trials = 1, time = "2 s", send = "write", receive = "read" }

[[test]]
id = "apart"
use = "net.tcp_stream"
roles = ["apart"]
partner = "near"
beside = "bulk"
params = { trials = 1, max_trials = 1, time = "2 s", send = "write", receive = "read" }

[[test]]
id = "bulk"
use = "net.tcp_stream"
roles = ["load"]
partner = "sink"
params = { trials = 1, max_trials = 1, time = "2 s", send = "write", receive = "read" }
"#;

/// Of five streams so many are a quarter, a half and all.
const LOADS: [(u64, f64); 3] = [(25, 2.0), (50, 3.0), (100, 5.0)];

/// The classes take turns by chains of up to 64 KiB, of which a stream sends 127 in two seconds beside the whole load, so that
/// the ends of the measuring time are uncertain by 1 %. The rest is for a busy machine, on which a stream leaves its class
/// without data for a moment.
const TOLERANCE: f64 = 0.05;

/// Runs, of which one is to be within it: an error of the method would show in all of them.
const TRIES: usize = 3;

/// How much slower a test is beside so many percent of the load than alone.
fn slowdown(document: &Value, test: &str, percent: u64) -> f64 {
    let rate = |percent: u64| {
        let results = document["results"].as_array().expect("results").iter();
        let mut own =
            results.filter(|case| case["group"] == test && case["origin"]["beside"]["percent"] == percent);
        let case = own.next().unwrap_or_else(|| panic!("{test} beside {percent} %: {document}"));
        assert!(own.next().is_none(), "{test} beside {percent} %: {document}");
        case["metrics"]["throughput"]["mean"].as_f64().unwrap_or_else(|| panic!("{case}"))
    };
    rate(0) / rate(percent)
}

fn shares() {
    sixteen(|rig| {
        let folder = tempfile::tempdir_in("/tmp").unwrap();
        let profile = folder.path().join("beside.toml");
        fs::write(&profile, PROFILE).unwrap();
        let check = ["check", profile.to_str().unwrap(), "-w", "n[1-16]", "-o", "json"];
        // The copy of the binary is not to take the narrow link.
        rig.run(&[&["inventory", "--share-hosts", "-w", "n[1-16]"]]);
        rig.lab.head(NARROW);
        rig.lab.node("n2", OWN_LINK);
        let wanted =
            LOADS.map(|(percent, streams)| [("shared", percent, streams + 1.0), ("apart", percent, 1.0)]);
        let mut seen = Vec::new();
        let is_met = (0..TRIES).any(|_| {
            // 3: the profile judges nothing.
            let document = rig.run(&[&check]).document(3);
            let told = wanted.concat().into_iter().map(|(test, percent, times)| {
                let told = slowdown(&document, test, percent);
                seen.push(format!("{test} beside {percent} %: {told:.3}, by the shaper {times}"));
                told / times - 1.0
            });
            let off: Vec<f64> = told.collect();
            off.iter().all(|off| off.abs() < TOLERANCE) && is_told(&document)
        });
        rig.lab.node("n2", "tc qdisc delete dev eth0 root");
        rig.lab.head(WIDE);
        #[expect(clippy::print_stdout, reason = "shown when the test fails or is asked to")]
        {
            println!("{}", seen.join("\n"));
        }
        assert!(is_met, "{}", seen.join("\n"));
    });
}

/// Whether the findings say the same: what the whole load does to each of the two.
fn is_told(document: &Value) -> bool {
    let findings = document["findings"].as_array().expect("findings").iter();
    let impacts: Vec<&Value> = findings.filter(|finding| finding["kind"] == "congestion-impact").collect();
    [("shared", 6.0), ("apart", 1.0)].into_iter().all(|(test, wanted)| {
        let own = impacts.iter().find(|finding| finding["evidence"][0] == test);
        let own = own.unwrap_or_else(|| panic!("{test}: {document}"));
        let told = own["value"].as_str().and_then(|value| value.strip_suffix(" ratio")?.parse::<f64>().ok());
        told.is_some_and(|told| (told / wanted - 1.0).abs() < TOLERANCE)
    })
}
