//! Faults do what they say, held against what was counted.

use libtest_mimic::Trial;
use xtask::lab::process::in_namespace;
use xtask::lab::{Counter, counters};

use crate::cluster::{Cluster, shared, wait_until};
use crate::trial;

pub fn trials() -> Vec<Trial> {
    vec![
        trial("exactly_every_tenth_frame_is_dropped_each_way", exactly_every_tenth_frame_is_dropped),
        trial("what_a_shaped_link_cannot_hold_is_lost_and_counted", what_a_shaped_link_cannot_hold_is_lost),
        trial(
            "every_frame_of_a_long_link_comes_later_until_it_is_healed",
            every_frame_of_a_long_link_comes_later,
        ),
        trial("a_small_mtu_and_a_cut_link_stop_packets_until_they_are_healed", mtu_and_cut),
        trial("a_cpu_hog_is_pinned_and_goes_when_healed", a_cpu_hog_is_pinned_and_goes_when_healed),
        trial(
            "a_frozen_file_system_holds_its_writer_until_it_is_healed",
            a_frozen_file_system_holds_its_writer,
        ),
        trial("what_is_no_fault_or_no_node_is_refused", what_is_no_fault_or_no_node_is_refused),
    ]
}

/// Packets sent by ping and those answered.
fn ping(lab: &Cluster, options: &str) -> (u64, u64) {
    // It fails when nothing is answered at all.
    let text = lab.head(&format!("ping -q {options} || true"));
    let of = |word: &str| {
        let field = text.split([',', '\n']).find_map(|field| field.trim().strip_suffix(word));
        field.and_then(|count| count.trim().parse().ok()).unwrap_or_else(|| panic!("no '{word}' in {text}"))
    };
    (of("packets transmitted"), of("received"))
}

/// What the only fault of n1 counted: to the node, and from it.
fn counted(lab: &Cluster) -> [Counter; 2] {
    let record = lab.record();
    let node = &record.nodes[0];
    counters(&record, node, node.faults[0].fault).unwrap().unwrap()
}

fn exactly_every_tenth_frame_is_dropped() {
    shared(|lab| {
        assert!(ping(lab, "-c 1 n1").1 == 1, "the lab is healthy before");
        lab.lab(&["fault", "n1", "drop=10%"]);
        let (sent, answered) = ping(lab, "-i 0.002 -c 300 n1");
        assert_eq!(sent, 300);
        let [to, from] = counted(lab);
        for way in [to, from] {
            assert_eq!(way.dropped, way.seen.div_ceil(10), "{way:?}");
        }
        assert!(to.seen >= sent && from.seen >= answered, "{to:?} {from:?}");
        // Every lost packet was dropped on its way there or back; more was dropped only of what others sent meanwhile,
        // Slurm or the kernel's neighbour discovery.
        let (lost, dropped) = (sent - answered, to.dropped + from.dropped);
        let others = (to.seen - sent) + from.seen.saturating_sub(sent - to.dropped);
        assert!(
            lost <= dropped && dropped <= lost + others,
            "{lost} lost, {dropped} dropped, {others} others"
        );
        assert!(lost >= 30, "{lost}");
        assert!(lab.lab(&["status"]).contains("fault of n1: drop=10%: to the node "));
        let healed = lab.lab(&["heal", "n1"]);
        assert!(healed.contains("n1: drop=10% healed (to the node"), "{healed}");
        assert_eq!(ping(lab, "-i 0.002 -c 50 n1"), (50, 50));
    });
}

fn what_a_shaped_link_cannot_hold_is_lost() {
    shared(|lab| {
        assert!(ping(lab, "-c 1 n1").1 == 1, "the lab is healthy before");
        lab.lab(&["fault", "n1", "rate=1mbit"]);
        // At once (with a send buffer that lets ping) 60 packets of 8 kB, where the bucket holds 64 KiB and its queue 50 ms of 1
        // Mbit/s, 6 kB. A ping that gets no CPU in between sends them later, and more get through.
        let mut tries = 0;
        let (sent, answered) = loop {
            tries += 1;
            let (sent, answered) = ping(lab, "-c 60 -l 60 -S 400000 -s 8000 -W 2 n1");
            if sent - answered >= 40 && answered >= 8 || tries == 20 {
                break (sent, answered);
            }
            lab.lab(&["heal", "n1"]);
            lab.lab(&["fault", "n1", "rate=1mbit"]);
        };
        assert_eq!(sent, 60);
        let [to, from] = counted(lab);
        assert!(to.seen >= sent, "{to:?}");
        let (lost, dropped) = (sent - answered, to.dropped + from.dropped);
        let others = (to.seen - sent) + from.seen.saturating_sub(sent - to.dropped);
        assert!(
            lost <= dropped && dropped <= lost + others,
            "{lost} lost, {dropped} dropped, {others} others"
        );
        assert!(
            lost >= 40 && answered >= 8,
            "{lost} lost: the bucket and the queue hold 8 or 9, and refill slowly"
        );
        lab.lab(&["heal", "n1"]);
        assert_eq!(ping(lab, "-c 60 -l 60 -S 400000 -s 8000 n1"), (60, 60));
    });
}

/// The shortest round trip of 30 pings, in ms: what a busy machine adds is in the others.
fn shortest_round_trip(lab: &Cluster, from: &str, to: &str) -> f64 {
    let text = lab.node(from, &format!("ping -q -i 0.01 -c 30 {to}"));
    let shortest = text.split_once("rtt min/avg/max/mdev = ").and_then(|(_, times)| times.split('/').next());
    shortest.and_then(|ms| ms.parse().ok()).unwrap_or_else(|| panic!("no times in {text}"))
}

fn every_frame_of_a_long_link_comes_later() {
    shared(|lab| {
        lab.lab(&["fault", "n1", "delay=10ms"]);
        let record = lab.record();
        let carrier = record.nodes[0].faults[0].process.expect("a process that is the fault");
        for (from, to) in [("n1", "10.77.0.2"), ("n2", "10.77.0.1"), ("n1", "10.77.0.254")] {
            let ms = shortest_round_trip(lab, from, to);
            assert!((20.0..21.0).contains(&ms), "{from} to {to}: {ms} ms");
        }
        // Frames of every size pass, and those of others are not held.
        assert_eq!(ping(lab, "-c 3 -i 0.01 -M do -s 8972 n1"), (3, 3));
        assert!(shortest_round_trip(lab, "n2", "10.77.0.254") < 10.0);
        // One of a kind: the new one replaces the old one.
        lab.lab(&["fault", "n1", "delay=30ms"]);
        assert!(!carrier.is_alive());
        let ms = shortest_round_trip(lab, "n1", "10.77.0.2");
        assert!((60.0..63.0).contains(&ms), "{ms} ms");
        lab.lab(&["heal", "n1"]);
        assert!(shortest_round_trip(lab, "n1", "10.77.0.2") < 10.0);
        let left = lab.head("ip -o link show");
        assert!(!left.contains("n1-"), "{left}");
    });
}

fn mtu_and_cut() {
    shared(|lab| {
        lab.lab(&["fault", "n1", "mtu=1500"]);
        assert_eq!(
            ping(lab, "-c 3 -i 0.01 -W 1 -M do -s 8972 n1").1,
            0,
            "the node takes no frame of 9000 bytes"
        );
        assert_eq!(ping(lab, "-c 3 -i 0.01 -M do -s 1472 n1").1, 3);
        lab.lab(&["heal"]);
        assert_eq!(ping(lab, "-c 3 -i 0.01 -M do -s 8972 n1").1, 3);

        lab.lab(&["fault", "n1", "down"]);
        let link = lab.node("n1", "cat /sys/class/net/eth0/carrier");
        assert_eq!(link, "0\n", "as with the cable pulled");
        assert_eq!(ping(lab, "-c 2 -i 0.01 -W 1 n1").1, 0);
        assert_eq!(ping(lab, "-c 2 -i 0.01 n2").1, 2, "only that node is cut off");
        lab.lab(&["heal", "n1"]);
        wait_until("the link", || lab.node("n1", "cat /sys/class/net/eth0/carrier") == "1\n");
        assert_eq!(ping(lab, "-c 2 -i 0.01 n1").1, 2);
    });
}

fn a_cpu_hog_is_pinned_and_goes_when_healed() {
    shared(|lab| {
        lab.lab(&["fault", "n2", "cpu-hog=0"]);
        let record = lab.record();
        let hog = record.nodes[1].faults[0].process.expect("a process that is the fault");
        assert_eq!(hog.namespace("pid").as_ref(), record.nodes[1].namespaces.get("pid"));
        wait_until("the hog to be pinned", || {
            let status = std::fs::read_to_string(format!("/proc/{}/status", hog.pid)).unwrap();
            status.contains("Cpus_allowed_list:\t0\n") && status.contains("State:\tR ")
        });
        // One of a kind: the new one replaces the old one.
        lab.lab(&["fault", "n2", "cpu-hog=0"]);
        assert!(!hog.is_alive());
        assert_eq!(lab.record().nodes[1].faults.len(), 1);
        let hog = lab.record().nodes[1].faults[0].process.unwrap();
        lab.lab(&["heal"]);
        assert!(!hog.is_alive());
        let complaint = lab.refused(&["fault", "n2", "cpu-hog=4000"]);
        assert!(complaint.contains("cannot apply cpu-hog=4000 to n2"), "{complaint}");
        lab.lab(&["heal"]);
    });
}

fn a_frozen_file_system_holds_its_writer() {
    shared(|lab| {
        lab.lab(&["fault", "n1", "freeze-fs"]);
        let mut writer = lab.spawn("n1", "exec dd if=/dev/zero of=/scratch/new bs=4096 count=1");
        wait_for_writer(lab, 0);
        lab.lab(&["heal", "n1"]);
        wait_until("the writer", || writer.try_wait().unwrap().is_some_and(|status| status.success()));
        assert_eq!(lab.node("n1", "stat --format=%s /scratch/new"), "4096\n");
    });
}

/// Waits until a dd on the node of that index sleeps uninterruptibly.
pub fn wait_for_writer(lab: &Cluster, node: usize) {
    let space = lab.record().nodes[node].namespaces["pid"].clone();
    wait_until("a writer that sleeps uninterruptibly", || {
        in_namespace("pid", &space).into_iter().any(|process| {
            let stat = std::fs::read_to_string(format!("/proc/{}/stat", process.pid)).unwrap_or_default();
            stat.contains("(dd) D ")
        })
    });
}

fn what_is_no_fault_or_no_node_is_refused() {
    shared(|lab| {
        let complaint = lab.refused(&["fault", "n3", "down"]);
        assert!(complaint.contains("has no node 'n3'; it has n1 to n2"), "{complaint}");
        let complaint = lab.refused(&["fault", "n1", "drop=3%"]);
        assert!(complaint.contains("'3%' is not one in a whole number"), "{complaint}");
        assert!(lab.record().nodes.iter().all(|node| node.faults.is_empty()));
    });
}
