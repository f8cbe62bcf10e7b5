//! Migration and reclaim of memory by the kernel.

use seatrial_model::Kind;
use seatrial_model::setting::SettingAbout;

use crate::sysctl::{ROW, Sysctl};

pub static NUMA_BALANCING: Sysctl = Sysctl(&SettingAbout {
    id: "memory.numa_balancing",
    title: "automatic NUMA balancing",
    doc: "With 1 the kernel unmaps pages for a moment to see which CPUs use them, and migrates pages or \
          tasks (2 does so between memory tiers). It helps programs without NUMA placement. For programs \
          that pin and bind, as benchmarks do, it adds page faults to the measurement and may undo a \
          first-touch placement.",
    // admin-guide/sysctl/kernel.rst: bits 1 and 2 may both be set.
    kind: Kind::Count(0, 3),
    source: "/proc/sys/kernel/numa_balancing",
    traps: "Pages that were migrated stay where they are. Lost at the next boot unless a file in \
            /etc/sysctl.d or numa_balancing= on the kernel command line sets it.",
    ..ROW
});

pub static SWAPPINESS: Sysctl = Sysctl(&SettingAbout {
    id: "memory.swappiness",
    title: "tendency to swap (vm.swappiness)",
    doc: "With low values the kernel drops page cache before it swaps programs out. On nodes with swap, high \
          values let a transfer or a storage benchmark push idle programs out, which are slow afterwards. \
          Without swap it has almost no effect.",
    kind: Kind::Count(0, 200),
    source: "/proc/sys/vm/swappiness",
    traps: "cgroups of version 1 have their own value. Lost at the next boot unless a file in /etc/sysctl.d \
            sets it.",
    ..ROW
});

pub static ZONE_RECLAIM: Sysctl = Sysctl(&SettingAbout {
    id: "memory.zone_reclaim",
    title: "zone reclaim mode (vm.zone_reclaim_mode)",
    doc: "With 0 the kernel allocates memory on another NUMA node when the local one is full of page cache. \
          With other values it drops local page cache first: memory stays local, but allocation is slow \
          meanwhile. It affects memory measurements on nodes with much page cache.",
    // admin-guide/sysctl/vm.rst: bits 1, 2 and 4.
    kind: Kind::Count(0, 7),
    source: "/proc/sys/vm/zone_reclaim_mode",
    ..ROW
});
