//! Drops and delays of queueing disciplines.

use super::{Counters, Counting, Difference};
use crate::net::datagram::all_qdiscs;
use crate::root::SysRoot;

/// Counts `dropped eth0` (packets) and `overlimits eth0` (times that a shaper held a packet back) of root
/// disciplines; idle interfaces are left out.
pub(super) struct QdiscProbe;

impl Counting for QdiscProbe {
    fn id(&self) -> &'static str {
        "qdisc"
    }

    fn read(&self, root: &SysRoot) -> Counters {
        let mut counters = Counters::default();
        match all_qdiscs(root) {
            Ok(all) => {
                for (interface, queues) in all {
                    // A discipline with children includes their drops in its own.
                    for queue in queues.iter().filter(|queue| queue.is_root) {
                        counters.count(format!("dropped {interface}"), queue.dropped);
                        counters.count(format!("overlimits {interface}"), queue.overlimits);
                    }
                }
            }
            Err(error) => counters.unreadable(error),
        }
        counters
    }

    fn between(&self, before: &Counters, after: &Counters) -> Difference {
        let mut all = after.since(before);
        all.counts.retain(|_, count| *count > 0);
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_first_discipline_counted_is_told_and_idle_interfaces_are_not() {
        let dir = tempfile::tempdir().expect("a folder");
        let root = SysRoot::at(dir.path());
        let folder = dir.path().join("qdisc");
        std::fs::create_dir(&folder).expect("made");
        std::fs::write(folder.join("lo"), "noqueue root\n").expect("written");
        let set = |dropped: u64| {
            let text = format!("tbf root dropped {dropped} overlimits 9 rate 1000\npfifo parent dropped 1\n");
            std::fs::write(folder.join("eth0"), text).expect("written");
        };
        set(3);
        let before = QdiscProbe.read(&root);
        set(10);
        let found = QdiscProbe.between(&before, &QdiscProbe.read(&root));
        let counts: Vec<_> = found.counts.iter().map(|(name, count)| (name.as_str(), *count)).collect();
        assert_eq!(counts, [("dropped eth0", 7)]);
    }
}
