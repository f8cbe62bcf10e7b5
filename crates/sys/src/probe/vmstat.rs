//! Events of the memory manager that disturb a measurement: faults, remote pages, swapping, failed huge pages.

use super::{Counters, Counting};
use crate::root::SysRoot;

const PATH: &str = "/proc/vmstat";

/// Events by the kernel's names (Linux mm/vmstat.c), since boot. A kernel without NUMA or huge pages lacks some.
const KEPT: [&str; 13] = [
    "compact_stall",
    "numa_foreign",
    "numa_hit",
    "numa_miss",
    "numa_pages_migrated",
    "oom_kill",
    "pgfault",
    "pgmajfault",
    "pgmigrate_success",
    "pswpin",
    "pswpout",
    "thp_fault_alloc",
    "thp_fault_fallback",
];

pub(super) struct VmStat;

impl Counting for VmStat {
    fn id(&self) -> &'static str {
        "vmstat"
    }

    fn read(&self, root: &SysRoot) -> Counters {
        let empty = "names of events with their numbers belong there";
        Counters::of_lines(root, PATH, "a name and a number", empty, |counters, _, line| {
            match line.split_once(' ') {
                Some((name, value)) if KEPT.binary_search(&name).is_ok() => {
                    counters.count(name, value.trim().parse().ok()?);
                }
                _ => {}
            }
            Some(())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Counters {
        let dir = tempfile::tempdir().expect("a folder");
        std::fs::create_dir(dir.path().join("proc")).expect("made");
        std::fs::write(dir.path().join("proc/vmstat"), text).expect("written");
        VmStat.read(&SysRoot::at(dir.path()))
    }

    #[test]
    fn keeps_the_events_that_disturb() {
        let counters = read("nr_free_pages 9\nnuma_miss 4\nthp_fault_fallback 2\npgfault 77\n");
        let found: Vec<_> = counters.counts.iter().map(|(name, &value)| (name.as_str(), value)).collect();
        assert_eq!(found, [("numa_miss", 4), ("pgfault", 77), ("thp_fault_fallback", 2)]);
    }

    #[test]
    fn notes_garbage_and_keeps_the_rest() {
        let counters = read("numa_miss lots\npgfault 1\n");
        assert_eq!((counters.counts.len(), counters.unreadable.len()), (1, 1));
        assert_eq!(read("nothing here\n").unreadable.len(), 1);
    }

    #[test]
    fn the_list_is_sorted_for_the_search() {
        assert!(KEPT.is_sorted());
    }
}
