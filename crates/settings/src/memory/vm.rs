//! How the kernel moves and takes back memory.

use seatrial_model::Kind;
use seatrial_model::setting::SettingAbout;

use crate::sysctl::{ROW, Sysctl, by_sysctl};

pub static NUMA_BALANCING: Sysctl = Sysctl(&SettingAbout {
    id: "memory.numa_balancing",
    title: "moving pages towards the CPUs using them",
    doc: "1 lets the kernel take pages away for a moment to see who touches them, and move them or the thread (2 does \
          so between tiers of memory). It helps programs that place nothing. For those that pin and bind, as \
          benchmarks do, it adds page faults in the middle of the measurement and may undo a placement by first \
          touch.",
    // admin-guide/sysctl/kernel.rst: the bits 1 and 2 may both be set.
    kind: Kind::Count(0, 3),
    source: "/proc/sys/kernel/numa_balancing",
    apply: by_sysctl!("kernel.numa_balancing"),
    traps: "Pages that were moved stay where they are. Lost at the next boot unless a file in /etc/sysctl.d or \
            numa_balancing= on the command line of the kernel says it too.",
    ..ROW
});

pub static SWAPPINESS: Sysctl = Sysctl(&SettingAbout {
    id: "memory.swappiness",
    title: "how readily programs are swapped out",
    doc: "Low values make the kernel drop cached file data before it swaps programs out. On nodes with swap, high \
          values let a transfer or a benchmark of storage push idle programs out, which pay for it later. Without \
          swap it changes next to nothing.",
    kind: Kind::Count(0, 200),
    source: "/proc/sys/vm/swappiness",
    apply: by_sysctl!("vm.swappiness"),
    traps: "Control groups of version 1 have one of their own. Lost at the next boot unless a file in /etc/sysctl.d \
            says it too.",
    ..ROW
});

pub static ZONE_RECLAIM: Sysctl = Sysctl(&SettingAbout {
    id: "memory.zone_reclaim",
    title: "freeing local memory before using remote",
    doc: "0 takes memory from another node when the own one is full of cached files. Other values make the kernel \
          drop those first: memory stays local, and allocation becomes slow while it does. It moves measurements \
          of memory on nodes with much file cache.",
    // admin-guide/sysctl/vm.rst: the bits 1, 2 and 4.
    kind: Kind::Count(0, 7),
    source: "/proc/sys/vm/zone_reclaim_mode",
    apply: by_sysctl!("vm.zone_reclaim_mode"),
    ..ROW
});
