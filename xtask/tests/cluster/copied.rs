//! `seatrial copy` between two nodes: a link that is cut for a while, and a quota.

use std::process::Child;
use std::time::{Duration, Instant};

use libtest_mimic::Trial;

use crate::rig::{Rig, shared};
use crate::started::wait_until;
use crate::trial;

pub fn trials() -> Vec<Trial> {
    vec![
        trial("a_copy_whose_link_is_cut_for_a_while_goes_on", cut),
        trial("a_copy_over_a_long_path_is_whole_with_any_window_and_a_small_one_holds_it_back", long_path),
        trial("a_copy_ends_at_a_quota_and_the_next_continues", quota),
    ]
}

/// Nothing of the data connections comes in any more; the login does, as its own keep-alive is ssh's business.
const CUT: &str = "nft add table inet cut && nft add chain inet cut in '{ type filter hook input priority 0; }' && \
                   nft add rule inet cut in ip saddr 10.77.0.1 tcp dport != 22 drop";

/// How long, in s: longer than the first repetitions of TCP, shorter than the time after which a connection is given up.
const CUT_FOR: u32 = 8;

/// What a window of 64 KiB costs at the least on the long path: 40 MB take 6 s, and 0.4 s without it.
const HELD_BACK: Duration = Duration::from_secs(3);

/// Bytes of the file that is copied.
const BYTES: u64 = 40_000_000;

fn copy(rig: &Rig, words: &str) -> String {
    let program = rig.everywhere.display();
    format!("{program} copy {words} /scratch/tree n2:/scratch 2>&1; echo exit $?")
}

fn make(rig: &Rig) {
    let line = format!(
        "rm -rf /scratch/tree && mkdir /scratch/tree && head -c {BYTES} /dev/urandom > /scratch/tree/large && \
         seq 1 2000 > /scratch/tree/small"
    );
    rig.lab.node("n1", &line);
    rig.lab.node("n2", "rm -rf /scratch/tree");
}

fn remove(rig: &Rig) {
    for node in ["n1", "n2"] {
        rig.lab.node(node, "rm -rf /scratch/tree");
    }
}

/// Sums of all files that are there under their names.
fn sums(rig: &Rig, node: &str, folder: &str) -> String {
    let line = format!("cd {folder} && find . -type f ! -name '.seatrial-*' -exec sha256sum {{}} + | sort");
    rig.lab.node(node, &line)
}

/// Bytes that the second node has received, by its interface.
fn received(rig: &Rig) -> u64 {
    let counter = rig.lab.node("n2", "cat /sys/class/net/eth0/statistics/rx_bytes");
    counter.trim().parse().expect("a counter")
}

fn cut() {
    shared(|rig| {
        make(rig);
        // So slow that the cut falls into the copy.
        rig.lab.lab(&["fault", "n2", "rate=100mbit"]);
        let before = received(rig);
        let mut copying: Child = rig.lab.spawn("n1", &format!("{{ {}; }} > /tmp/copied", copy(rig, "")));
        // Beyond the binary, which travels first.
        let program = std::fs::metadata(&rig.everywhere).expect("there").len();
        wait_until("the copy to be under way", || {
            let there = rig.lab.node("n2", "du -bs /scratch/tree 2>/dev/null | cut -f 1; true");
            there.trim().parse::<u64>().is_ok_and(|bytes| bytes > BYTES / 10)
                || received(rig) - before > program + BYTES
        });
        rig.lab.node("n2", &format!("{CUT} && sleep {CUT_FOR} && nft delete table inet cut"));
        copying.wait().expect("ended");
        let told = rig.lab.node("n1", "cat /tmp/copied; rm /tmp/copied");
        assert!(told.contains("copied 2 files") && told.contains("exit 0"), "{told}");
        assert_eq!(sums(rig, "n1", "/scratch/tree"), sums(rig, "n2", "/scratch/tree"));
        remove(rig);
    });
}

/// A btrfs on a loop device: its quotas bind root too, and this kernel may have no others.
const LIMITED: &str = "mkdir -p /tmp/quota && truncate -s 160M /tmp/quota.image && mkfs.btrfs -q /tmp/quota.image && \
                       mount -o loop /tmp/quota.image /tmp/quota && btrfs quota enable /tmp/quota && \
                       btrfs subvolume create /tmp/quota/own && btrfs qgroup limit 20M /tmp/quota/own";

fn quota() {
    shared(|rig| {
        make(rig);
        rig.lab.node("n2", LIMITED);
        let program = rig.everywhere.display();
        let line = format!("{program} copy /scratch/tree/ n2:/tmp/quota/own 2>&1; echo exit $?");
        let told = rig.lab.node("n1", &line);
        assert!(told.contains("large: ") && told.contains("free space within the quota"), "{told}");
        assert!(told.contains("exit 1"), "{told}");
        let there = rig.lab.node("n2", "cd /tmp/quota/own && find . -type f ! -name '.seatrial-*'");
        assert!(!there.contains("large"), "nothing half-written has its name: {there}");
        rig.lab.node("n2", "btrfs qgroup limit none /tmp/quota/own");
        let told = rig.lab.node("n1", &line);
        assert!(told.contains("exit 0"), "{told}");
        assert_eq!(sums(rig, "n1", "/scratch/tree"), sums(rig, "n2", "/tmp/quota/own"));
        rig.lab.node("n2", "umount /tmp/quota && rm -r /tmp/quota /tmp/quota.image");
        remove(rig);
    });
}

fn long_path() {
    shared(|rig| {
        make(rig);
        rig.lab.lab(&["fault", "n2", "rate=1000mbit", "delay=10ms"]);
        let copied = |words: &str| {
            rig.lab.node("n2", "rm -rf /scratch/tree");
            let begin = Instant::now();
            let told = rig.lab.node("n1", &copy(rig, words));
            assert!(told.contains("copied 2 files") && told.contains("exit 0"), "{words}: {told}");
            assert_eq!(sums(rig, "n1", "/scratch/tree"), sums(rig, "n2", "/scratch/tree"), "{words}");
            (begin.elapsed(), told)
        };
        // The binary travels only once.
        copied("");
        let (by_itself, told) = copied("--window auto");
        assert!(!told.contains("a window of"), "{told}");
        // 64 KiB, of which TCP may use half again or all, in each 20 ms: 6.5 MB/s at most.
        let (held_back, _) = copied("--window 64KiB --streams 1");
        assert!(held_back > by_itself + HELD_BACK, "{by_itself:?} {held_back:?}");
        // The kernel tells a speed of these interfaces; the window is 25 MB, and the limit of the buffers less.
        rig.lab.node("n1", "sysctl -q -w net.core.wmem_max=212992");
        let (_, told) = copied("--window bdp");
        assert!(told.contains("a window of ") && told.contains("raise net.core.wmem_max there"), "{told}");
        rig.lab.lab(&["heal", "n2"]);
        remove(rig);
    });
}
