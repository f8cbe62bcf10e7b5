//! Thermal throttling: how often and how long the CPU lowered its clock.

use std::collections::BTreeMap;

use super::{CounterReading, Counters, Counting, Difference};
use crate::root::{ReadError, SysRoot};

const CPUS: &str = "/sys/devices/system/cpu";

/// Files in `cpuN/thermal_throttle`, their owner and our name. Counts since Linux 2.6.20 or so, times since 5.5
/// (Linux Documentation/ABI/testing/sysfs-devices-system-cpu).
const FILES: [(&str, Owner, &str); 4] = [
    ("core_throttle_count", Owner::Core, "core_throttles"),
    ("core_throttle_total_time_ms", Owner::Core, "core_throttled_ms"),
    ("package_throttle_count", Owner::Package, "package_throttles"),
    ("package_throttle_total_time_ms", Owner::Package, "package_throttled_ms"),
];

#[derive(Clone, Copy)]
enum Owner {
    Core,
    Package,
}

/// Counts `core_throttles` and `core_throttled_ms`, summed over cores; `package_throttles` and
/// `package_throttled_ms`, summed over packages. Intel CPUs only.
///
/// Each hardware thread that gets the interrupt counts the event, so the difference of a core or package is the
/// largest of its threads' differences, not their sum.
pub(super) struct ThrottleProbe;

/// The counters of all CPUs, named as `core_throttles 0,4/4` (the core of CPUs 0 and 4, told by CPU 4); none where this CPU or
/// hypervisor counts no throttling.
pub fn throttle_counters(root: &SysRoot) -> Result<Vec<CounterReading>, ReadError> {
    let mut all = Vec::new();
    for cpu in root.numbered(CPUS, "cpu")? {
        let base = format!("{CPUS}/cpu{cpu}");
        if !root.exists(format!("{base}/thermal_throttle")) {
            continue;
        }
        for (file, owner, name) in FILES {
            match root.value(format!("{base}/thermal_throttle/{file}")) {
                Err(ReadError::Missing { .. }) => {}
                count => all.push((format!("{name} {}/{cpu}", owner.name(root, &base)), count)),
            }
        }
    }
    Ok(all)
}

impl Counting for ThrottleProbe {
    fn id(&self) -> &'static str {
        "throttle"
    }

    fn read(&self, root: &SysRoot) -> Counters {
        let mut counters = Counters::default();
        counters.take(throttle_counters(root));
        if counters.counts.is_empty() && counters.unreadable.is_empty() {
            let why = "this CPU or hypervisor counts no throttling";
            counters.unreadable(format_args!("no {CPUS}/cpu*/thermal_throttle exists: {why}"));
        }
        counters
    }

    fn between(&self, before: &Counters, after: &Counters) -> Difference {
        let all = after.since(before);
        let mut owners: BTreeMap<&str, u64> = BTreeMap::new();
        for (name, &count) in &all.counts {
            let owner = name.rsplit_once('/').map_or(name.as_str(), |(owner, _)| owner);
            let most = owners.entry(owner).or_default();
            *most = count.max(*most);
        }
        let mut sums: BTreeMap<String, u64> = BTreeMap::new();
        for (owner, count) in owners {
            let name = owner.split(' ').next().unwrap_or(owner);
            let sum = sums.entry(name.to_owned()).or_default();
            *sum = sum.saturating_add(count);
        }
        Difference { counts: sums, ..all }
    }
}

impl Owner {
    /// The core or package of the CPU at `base`; the CPU itself where topology is unreadable.
    fn name(self, root: &SysRoot, base: &str) -> String {
        let file = match self {
            // The older name of `core_cpus_list`, which all kernels have.
            Owner::Core => "thread_siblings_list",
            Owner::Package => "physical_package_id",
        };
        root.text(format!("{base}/topology/{file}")).unwrap_or_else(|_| base.to_owned())
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn machine(root: &SysRoot) {
        for cpu in 0..8_u32 {
            let (package, core) = (cpu / 2 % 2, cpu % 4);
            let topology = root.locate(format!("{CPUS}/cpu{cpu}/topology"));
            fs::create_dir_all(&topology).expect("made");
            fs::write(topology.join("physical_package_id"), format!("{package}\n")).expect("written");
            fs::write(topology.join("thread_siblings_list"), format!("{core},{}\n", core + 4))
                .expect("written");
            for (file, ..) in FILES {
                set(root, cpu, file, "100");
            }
        }
    }

    fn set(root: &SysRoot, cpu: u32, file: &str, text: &str) {
        let place = root.locate(format!("{CPUS}/cpu{cpu}/thermal_throttle"));
        fs::create_dir_all(&place).expect("made");
        fs::write(place.join(file), format!("{text}\n")).expect("written");
    }

    fn between(change: impl FnOnce(&SysRoot)) -> Difference {
        let dir = tempfile::tempdir().expect("a folder");
        let root = SysRoot::at(dir.path());
        machine(&root);
        let before = ThrottleProbe.read(&root);
        change(&root);
        ThrottleProbe.between(&before, &ThrottleProbe.read(&root))
    }

    #[test]
    fn an_event_of_a_package_counts_once_however_many_threads_heard_it() {
        let found = between(|root| {
            for cpu in [0, 1, 4, 5] {
                set(root, cpu, "package_throttle_count", "103");
            }
            set(root, 2, "package_throttle_count", "101");
            set(root, 6, "package_throttle_count", "102");
        });
        assert_eq!(found.counts["package_throttles"], 3 + 2);
        assert_eq!(found.counts["core_throttles"], 0);
    }

    #[test]
    fn cores_add_up_and_their_threads_do_not() {
        let found = between(|root| {
            set(root, 0, "core_throttle_count", "110");
            set(root, 4, "core_throttle_count", "110");
            set(root, 1, "core_throttle_count", "101");
            set(root, 0, "core_throttle_total_time_ms", "350");
        });
        assert_eq!((found.counts["core_throttles"], found.counts["core_throttled_ms"]), (11, 250));
        assert!(found.unreadable.is_empty() && found.backwards.is_empty());
    }

    #[test]
    fn older_kernels_count_and_do_not_time() {
        let dir = tempfile::tempdir().expect("a folder");
        let root = SysRoot::at(dir.path());
        set(&root, 0, "core_throttle_count", "7");
        let found = ThrottleProbe.read(&root);
        assert_eq!((found.counts.len(), found.unreadable.len()), (1, 0));
    }

    #[test]
    fn garbage_and_a_cpu_without_counters_are_told() {
        let garbage = between(|root| set(root, 3, "core_throttle_count", "hot"));
        assert!(garbage.unreadable.iter().any(|why| why.contains("\"hot\"")), "{garbage:?}");
        let dir = tempfile::tempdir().expect("a folder");
        fs::create_dir_all(dir.path().join("sys/devices/system/cpu/cpu0")).expect("made");
        let none = ThrottleProbe.read(&SysRoot::at(dir.path()));
        assert!(none.counts.is_empty());
        assert!(none.unreadable[0].contains("counts no throttling"), "{:?}", none.unreadable);
    }
}
