//! Received packets that exceeded what CPUs could process.

use super::{Counters, Counting, Difference};
use crate::root::SysRoot;

const PATH: &str = "/proc/net/softnet_stat";

/// Columns and our names (net/core/net-procfs.c, `softnet_seq_show`), in hexadecimal: packets processed, packets
/// dropped at a full backlog, rounds that ended with work left, packets refused by the flow limit.
const COLUMNS: [(usize, &str); 4] =
    [(0, "processed"), (1, "dropped"), (2, "time_squeezed"), (10, "flow_limited")];

/// The CPU's number, since Linux 5.10; before, lines are the online CPUs in order.
const CPU: usize = 12;

/// CPUs in a difference at most; the totals include all.
const MOST_CPUS: usize = 16;

/// Counts of the whole machine, over all network namespaces: `processed`, `dropped`, `time_squeezed` and
/// `flow_limited`, and of each CPU with drops `dropped cpu3`.
pub(super) struct Softnet;

impl Counting for Softnet {
    fn id(&self) -> &'static str {
        "softnet"
    }

    fn read(&self, root: &SysRoot) -> Counters {
        let empty = "a line for each CPU belongs there";
        Counters::of_lines(root, PATH, "hexadecimal numbers", empty, |counters, at, line| {
            let numbers = numbers(line)?;
            let cpu = numbers.get(CPU).copied().unwrap_or(at as u64);
            for (column, name) in COLUMNS {
                if let Some(value) = numbers.get(column) {
                    counters.count(format!("{name} cpu{cpu}"), *value);
                }
            }
            Some(())
        })
    }

    fn between(&self, before: &Counters, after: &Counters) -> Difference {
        let mut all = after.since(before);
        let cpus = std::mem::take(&mut all.counts);
        for (_, name) in COLUMNS {
            let own = cpus.iter().filter(|(key, _)| key.split(' ').next() == Some(name));
            if let Some(sum) = own.map(|(_, count)| *count).reduce(u64::saturating_add) {
                all.counts.insert(name.to_owned(), sum);
            }
        }
        let mut dropped: Vec<_> =
            cpus.into_iter().filter(|(key, count)| *count > 0 && key.starts_with("dropped ")).collect();
        dropped.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        all.counts.extend(dropped.into_iter().take(MOST_CPUS));
        all
    }
}

/// The numbers of a line, at least the three that every kernel has.
fn numbers(line: &str) -> Option<Vec<u64>> {
    let numbers: Option<Vec<u64>> =
        line.split_whitespace().map(|word| u64::from_str_radix(word, 16).ok()).collect();
    numbers.filter(|numbers| numbers.len() >= 3)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn line(processed: u64, dropped: u64, squeezed: u64, cpu: u64) -> String {
        format!(
            "{processed:08x} {dropped:08x} {squeezed:08x} 00000000 00000000 00000000 00000000 00000000 00000000 00000000 \
             00000007 00000000 {cpu:08x}\n"
        )
    }

    fn tree(text: &str) -> (tempfile::TempDir, SysRoot) {
        let dir = tempfile::tempdir().expect("a folder");
        fs::create_dir_all(dir.path().join("proc/net")).expect("made");
        fs::write(dir.path().join("proc/net/softnet_stat"), text).expect("written");
        let root = SysRoot::at(dir.path());
        (dir, root)
    }

    #[test]
    fn columns_are_hexadecimal_and_the_cpu_that_dropped_is_named_by_its_number() {
        let (_dir, root) = tree(&(line(0x10, 0, 1, 0) + &line(0x20, 0x0a, 2, 5)));
        let before = Softnet.read(&root);
        fs::write(root.locate(PATH), line(0x1f, 0, 1, 0) + &line(0x30, 0x1a, 5, 5)).expect("written");
        let found = Softnet.between(&before, &Softnet.read(&root));
        let counts: Vec<_> = found.counts.iter().map(|(name, count)| (name.as_str(), *count)).collect();
        let wanted = [
            ("dropped", 16),
            ("dropped cpu5", 16),
            ("flow_limited", 0),
            ("processed", 31),
            ("time_squeezed", 3),
        ];
        assert_eq!(counts, wanted);
        assert!(found.unreadable.is_empty());
    }

    #[test]
    fn an_old_kernel_has_fewer_columns_and_garbage_is_told() {
        let (_dir, root) = tree("00000001 00000002 00000003\n");
        let found = Softnet.read(&root);
        assert_eq!((found.counts["dropped cpu0"], found.counts.get("flow_limited cpu0")), (2, None));
        for text in ["", "00000001 0000000g 00000003\n", "00000001 00000002\n"] {
            let (_dir, root) = tree(text);
            let found = Softnet.read(&root);
            assert!(found.counts.is_empty() && found.unreadable.len() == 1, "{text:?}");
        }
    }
}
