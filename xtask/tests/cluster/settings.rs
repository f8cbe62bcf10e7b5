//! Settings that are applied on real nodes and restored: values of each network namespace, and no other.

use libtest_mimic::Trial;
use seatrial_model::Finding;

use crate::rig::{BOTH, Rig, shared, wide};
use crate::started::wait_until;
use crate::trial;

pub fn trials() -> Vec<Trial> {
    vec![
        trial("settings_are_applied_on_both_nodes_and_restored", applied),
        trial("a_profile_is_applied_on_four_nodes_and_restored", of_a_profile),
        trial("a_node_that_is_away_is_restored_when_it_is_back", away),
        trial("a_planted_gain_of_a_shaped_link_is_found_and_none_of_a_sham", planted_gain),
        trial("settings_that_are_applied_for_a_time_are_restored_without_us", for_a_time),
    ]
}

const VALUES: &[&str] = &[
    "net.ipv4.tcp_sack=false",
    "net.ipv4.tcp_timestamps=0",
    "net.ipv4.tcp_rmem=4KiB,64KiB,16MiB",
    "nic.mtu@eth0=1500",
];

const APPLY: &[&str] = &["settings", "apply", "--yes"];
const RESTORE: &[&str] = &["settings", "restore"];

/// What the node has of the values.
fn values(rig: &Rig, node: &str) -> Vec<String> {
    let line = "sysctl -n net.ipv4.tcp_sack net.ipv4.tcp_timestamps net.ipv4.tcp_rmem; ip -o link show eth0";
    let text = rig.lab.node(node, line);
    let mtu =
        |line: &str| line.split_once(" mtu ").map(|(_, rest)| rest.split(' ').next().unwrap().to_owned());
    text.lines().map(|line| mtu(line).unwrap_or_else(|| line.replace('\t', " "))).collect()
}

/// What Seatrial prints on both nodes with `words`, when it ends with `code`.
#[track_caller]
fn printed(rig: &Rig, words: &[&[&str]], code: i32) -> String {
    let ended = rig.run(&[words, &[BOTH]].concat());
    assert_eq!(ended.code, Some(code), "{}{}", ended.out, ended.complaint);
    ended.out
}

/// The nodes share the folder of the machine's.
fn leave_no_folder(rig: &Rig, nodes: &[&str]) {
    for node in nodes {
        rig.lab.node(node, "rmdir /var/lib/seatrial/settings/$(hostname)");
    }
    rig.lab.head("cd /var/lib && rmdir -p seatrial/settings 2>/dev/null; true");
}

fn applied() {
    shared(|rig| {
        let before = ["n1", "n2"].map(|node| values(rig, node));
        let applied = printed(rig, &[APPLY, VALUES], 0);
        assert!(applied.contains("n[1-2] nic.mtu of nic:eth0: 9000 -> 1500"), "{applied}");
        for node in ["n1", "n2"] {
            assert_eq!(values(rig, node), ["0", "0", "4096 65536 16777216", "1500"], "{node}");
        }
        // Somebody else changes one of them.
        rig.lab.node("n2", "sysctl -q -w net.ipv4.tcp_timestamps=2");
        let restored = printed(rig, &[RESTORE], 1);
        assert!(restored.contains("it was set to '2' since"), "{restored}");
        assert_eq!(values(rig, "n1"), before[0]);
        assert_eq!(values(rig, "n2")[1], "2");
        printed(rig, &[RESTORE, &["last", "--force"]], 0);
        assert_eq!(values(rig, "n2"), before[1]);
        let again = printed(rig, &[RESTORE, &["all"]], 0);
        assert!(again.contains("there is nothing to restore on n[1-2]"), "{again}");
        leave_no_folder(rig, &["n1", "n2"]);
    });
}

fn away() {
    shared(|rig| {
        let before = ["n1", "n2"].map(|node| values(rig, node));
        let applied = printed(rig, &[APPLY, VALUES], 0);
        let (_, id) = applied.rsplit_once("seatrial settings restore ").unwrap();
        let id = id.split(' ').next().unwrap();
        rig.lab.lab(&["fault", "n2", "down"]);
        let client = rig.client("-o ConnectTimeout=2");
        let ended = rig.run(&[RESTORE, &["last"], BOTH, &[&client]]);
        assert_eq!(ended.code, Some(3), "{}{}", ended.out, ended.complaint);
        assert!(ended.complaint.contains("nothing is restored on n2: "), "{}", ended.complaint);
        assert!(ended.out.contains("4 restored, 0 unchanged, 0 left, 0 failed"), "{}", ended.out);
        let later =
            format!("n2 was not reached and keeps what was set: type `seatrial settings restore {id} -w n2");
        assert!(ended.out.contains(&later), "{}", ended.out);
        assert_eq!(values(rig, "n1"), before[0]);
        rig.lab.lab(&["heal"]);
        assert_eq!(values(rig, "n2")[0], "0");
        // n1 has nothing left of it.
        let back = printed(rig, &[RESTORE, &[id]], 0);
        assert!(back.contains("4 restored, 0 unchanged, 0 left, 0 failed"), "{back}");
        assert_eq!(["n1", "n2"].map(|node| values(rig, node)), before);
        leave_no_folder(rig, &["n1", "n2"]);
    });
}

/// The payload of a TCP packet over its bytes at layer 2, for which a shaper pays: without headers of IP (20), TCP (20), its
/// time stamps (12, RFC 7323) and Ethernet (14).
fn payload(mtu: f64) -> f64 {
    (mtu - 52.0) / (mtu + 14.0)
}

/// A gain may be as far from what is planted: a machine that others use may keep a stream from its link.
const NEAR: f64 = 0.01;

/// Tries of a study: on a busy machine a block may stand still.
const TRIES: usize = 3;

const STUDY: &[&str] = &[
    "run",
    "net.tcp_stream",
    "--factors=nic.mtu@eth0=9000,nic.txqueuelen@eth0=2000",
    "--repeats=4",
    "--yes",
    "-p",
    "time=400ms",
    "-p",
    "trials=1",
    "-p",
    "max_trials=1",
    "-p",
    "congestion=cubic",
    "-p",
    "send=write",
    "-p",
    "receive=read",
    "-o",
    "json",
];

/// Of a shaped link a larger MTU has the gain of its headers; the queue of the interface does nothing, since the shaper has its
/// own.
fn planted_gain() {
    shared(|rig| {
        for node in ["n1", "n2"] {
            rig.lab.node(node, "ip link set dev eth0 mtu 1200");
        }
        rig.lab.lab(&["fault", "n1", "rate=200mbit"]);
        let planted = payload(9000.0) / payload(1200.0);
        assert!((planted - 1.05).abs() < 0.001, "{planted}");
        let mut told = Vec::new();
        let is_found = (0..TRIES).any(|_| {
            let document = rig.run(&[STUDY, BOTH]).document(0);
            let found: Vec<Finding> = document["findings"]
                .as_array()
                .into_iter()
                .flatten()
                .map(|finding| serde_json::from_value(finding.clone()).unwrap())
                .filter(|finding: &Finding| {
                    finding.kind == "setting-gain" && !finding.text.starts_with("side effect")
                })
                .collect();
            assert!(found.len() >= 2, "{found:#?}");
            told = found.iter().map(|finding| finding.text.clone()).collect();
            found.iter().all(|finding| {
                let is_mtu = finding.text.starts_with("nic.mtu");
                let (truth, word) = if is_mtu { (planted, ": pays") } else { (1.0, ": no difference") };
                let is_near = finding.value.is_some_and(|value| (value.value() - truth).abs() < NEAR);
                is_near && finding.ci95.is_some() && finding.text.ends_with(word)
            })
        });
        for node in ["n1", "n2"] {
            rig.lab.node(node, "ip link set dev eth0 mtu 9000");
        }
        assert!(is_found, "{told:#?}");
    });
}

/// What the profile dragnet wants of a card, for the links of the lab.
const PROFILE: &str = "\
extends = [\"dragnet\"]

[roles.dragnet]
nodes = \"n[1-4]\"

[[setting]]
id = \"nic.mtu\"
at_least = 9000
on = { kind = \"nic\", name = \"eth0\" }
roles = [\"dragnet\"]
";

const NODES: [&str; 4] = ["n1", "n2", "n3", "n4"];

/// What the kernel of each node holds: MTU, discipline and CPUs of the queue of received packets.
fn link(rig: &Rig) -> [String; 4] {
    NODES.map(|node| {
        let line =
            "cat /sys/class/net/eth0/mtu /sys/class/net/eth0/queues/rx-0/rps_cpus; tc qdisc show dev eth0";
        rig.lab
            .node(node, line)
            .split_whitespace()
            .filter(|word| !word.ends_with(':'))
            .collect::<Vec<_>>()
            .join(" ")
    })
}

fn of_a_profile() {
    wide(|rig| {
        for node in NODES {
            rig.lab.node(node, "ip link set dev eth0 mtu 1500");
        }
        let before = link(rig);
        let profile = rig.lab.folder().join("settings.toml");
        std::fs::write(&profile, PROFILE).unwrap();
        let profile = profile.to_string_lossy().into_owned();
        let all: &[&str] = &["-w", "n[1-4]"];
        let run = |words: &[&[&str]], code| {
            let ended = rig.run(&[words, &[all]].concat());
            assert_eq!(ended.code, Some(code), "{}{}", ended.out, ended.complaint);
            ended.out
        };
        // As it is shipped it wants nothing of virtual links, and nodes of the lab have no governor: told, and left.
        let shipped = run(&[APPLY, &["dragnet", "--role", "dragnet=n[1-4]"]], 1);
        assert!(shipped.contains("no setting has to be changed"), "{shipped}");
        let applied = run(&[APPLY, &[&profile]], 1);
        assert!(applied.contains("n[1-4] nic.mtu of nic:eth0: 1500 -> 9000"), "{applied}");
        let values = run(&[APPLY, &["nic.qdisc@eth0=pfifo", "nic.rps@eth0=0"]], 0);
        assert!(values.contains("n[1-4] nic.qdisc of nic:eth0: noqueue -> pfifo"), "{values}");
        let now = link(rig);
        assert!(now.iter().all(|now| now.starts_with("9000 1 qdisc pfifo ")), "{now:?}");
        let restored = run(&[RESTORE, &["all"]], 0);
        assert!(restored.contains("n[1-4] nic.mtu of /sys/class/net/eth0/mtu: 9000 -> 1500"), "{restored}");
        assert_eq!(link(rig), before);
        let again = run(&[RESTORE, &["all"]], 0);
        assert!(again.contains("there is nothing to restore on n[1-4]"), "{again}");
        for node in NODES {
            rig.lab.node(node, "ip link set dev eth0 mtu 9000");
        }
        leave_no_folder(rig, &NODES);
    });
}

fn for_a_time() {
    shared(|rig| {
        let before = ["n1", "n2"].map(|node| values(rig, node));
        let applied = printed(rig, &[APPLY, VALUES, &["--for", "3s"]], 0);
        assert!(applied.contains("restores by itself: process"), "{applied}");
        wait_until("the nodes to restore by themselves", || {
            ["n1", "n2"].map(|node| values(rig, node)) == before
        });
        wait_until("the programs to be removed", || {
            rig.lab.head("ls /var/lib/seatrial/settings/n[12]").lines().all(|line| !line.contains(".program"))
        });
        leave_no_folder(rig, &["n1", "n2"]);
    });
}
