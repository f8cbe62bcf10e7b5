//! CPU time of this process and of all others on the machine.

use std::collections::BTreeMap;

use super::{Counters, Counting, Difference};
use crate::clock::now_ns;
use crate::net::{HostTime, host_time};
use crate::process::{ProcessStat, RunProcesses};
use crate::root::{ReadError, SysRoot};

/// Counters: `busy_ns` (CPU time of all processes and CPUs); `own_ns` (of this process, its threads and reaped
/// children); `ours_ns` (of the processes of the own run, [`RunProcesses`], and of their reaped children);
/// `kernel_ns` (interrupts and the visible kernel threads, without those that ended meanwhile); `elapsed_ns`;
/// `process:NAME` (of the busiest process name other than ours). Levels: `running` (runnable threads), `blocked`
/// (threads waiting for a device), `load_1min_percent` (load average times 100), `kernel` (the first 48 bits of the boot id, which nodes
/// on one kernel have in common, also where each sees its own processes only). Other processes took `busy_ns -
/// own_ns - kernel_ns`: kernel threads work for other processes, which with a loop device or an encrypted disk is us,
/// and interrupts mostly come from the device under test.
pub(super) struct Load;

impl Counting for Load {
    fn id(&self) -> &'static str {
        "load"
    }

    fn read(&self, root: &SysRoot) -> Counters {
        let mut counters = Counters::default();
        let mut note = |name: &str, level: bool, value: Result<u64, ReadError>| match value {
            Ok(value) if level => counters.level(name, value),
            Ok(value) => counters.count(name, value),
            Err(error) => counters.unreadable(error),
        };
        let times = host_time(root);
        note("busy_ns", false, times.as_ref().map(HostTime::busy_ns).map_err(Clone::clone));
        note("elapsed_ns", false, times.as_ref().map(|_| now_ns()).map_err(Clone::clone));
        note("own_ns", false, own_ns(root));
        let interrupts = times.as_ref().map_or(0, |times| times.irq_ns.saturating_add(times.softirq_ns));
        let tasks = tasks(root);
        note(
            "kernel_ns",
            false,
            tasks.as_ref().map(|tasks| tasks.kernel_ns.saturating_add(interrupts)).map_err(Clone::clone),
        );
        note("ours_ns", false, tasks.as_ref().map(|tasks| tasks.ours_ns).map_err(Clone::clone));
        for (name, ns) in tasks.map(|tasks| tasks.processes).unwrap_or_default() {
            note(&format!("{PROCESS_PREFIX}{name}"), false, Ok(ns));
        }
        note("running", true, queue(root, "procs_running"));
        note("blocked", true, queue(root, "procs_blocked"));
        note("load_1min_percent", true, load_average(root));
        note("kernel", true, kernel(root));
        counters.unreadable.dedup();
        counters
    }

    /// Only the busiest process name; all of them are too many for a record.
    fn between(&self, before: &Counters, after: &Counters) -> Difference {
        let is_process = |name: &String| name.starts_with(PROCESS_PREFIX);
        let rest = |counters: &Counters| {
            let mut rest = counters.clone();
            rest.counts.retain(|name, _| !is_process(name));
            rest
        };
        let mut difference = rest(after).since(&rest(before));
        let took = |(name, ns): (&String, &u64)| {
            (ns.saturating_sub(before.counts.get(name).copied().unwrap_or(0)), name.clone())
        };
        let processes = after.counts.iter().filter(|(name, _)| is_process(name)).map(took);
        if let Some((ns, name)) = processes.max().filter(|(ns, _)| *ns > 0) {
            difference.counts.insert(name, ns);
        }
        difference
    }
}

fn queue(root: &SysRoot, key: &str) -> Result<u64, ReadError> {
    let text = root.text("/proc/stat")?;
    let value = text.lines().find_map(|line| line.strip_prefix(key)?.trim().parse().ok());
    value.ok_or_else(|| ReadError::garbage("/proc/stat", &text, key))
}

fn load_average(root: &SysRoot) -> Result<u64, ReadError> {
    const PATH: &str = "/proc/loadavg";
    let text = root.text(PATH)?;
    let first = text.split(' ').next().and_then(|first| first.parse::<f64>().ok());
    let sane = first.filter(|load| load.is_finite() && *load >= 0.0);
    sane.map(|load| (load * 100.0).round() as u64)
        .ok_or_else(|| ReadError::garbage(PATH, &text, "a load average"))
}

fn kernel(root: &SysRoot) -> Result<u64, ReadError> {
    const PATH: &str = "/proc/sys/kernel/random/boot_id";
    let text = root.text(PATH)?;
    let digits: String = text.chars().filter(char::is_ascii_hexdigit).take(12).collect();
    u64::from_str_radix(&digits, 16).map_err(|_| ReadError::garbage(PATH, &text, "a boot id"))
}

fn own_ns(root: &SysRoot) -> Result<u64, ReadError> {
    const PATH: &str = "/proc/self/stat";
    let text = root.text(PATH)?;
    let stat = ProcessStat::of(&text);
    let stat = stat.ok_or_else(|| ReadError::garbage(PATH, &text, "the fields of proc_pid_stat(5)"))?;
    Ok(stat.with_children_ns())
}

struct Tasks {
    kernel_ns: u64,
    /// CPU time of the processes of the own run, and of their reaped children.
    ours_ns: u64,
    processes: BTreeMap<String, u64>,
}

fn tasks(root: &SysRoot) -> Result<Tasks, ReadError> {
    let mut tasks = Tasks { kernel_ns: 0, ours_ns: 0, processes: BTreeMap::new() };
    for (stat, is_ours) in RunProcesses::read(root)?.all() {
        let sum = if stat.is_kernel_thread() {
            &mut tasks.kernel_ns
        } else if is_ours {
            &mut tasks.ours_ns
        } else {
            tasks.processes.entry(stat.name.clone()).or_default()
        };
        // A worker that ended between two readings counts with the agent that reaped it.
        let took = if is_ours { stat.with_children_ns() } else { stat.alone_ns() };
        *sum = sum.saturating_add(took);
    }
    Ok(tasks)
}

const PROCESS_PREFIX: &str = "process:";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::libc_info::ticks_per_second;

    const PF_KTHREAD: u64 = 0x0020_0000;

    #[test]
    fn separates_own_time_from_everybody_s() {
        let dir = tempfile::tempdir().expect("a folder");
        std::fs::create_dir_all(dir.path().join("proc/self")).expect("made");
        std::fs::create_dir_all(dir.path().join("proc/sys/kernel/random")).expect("made");
        let write = |name: &str, text: &str| std::fs::write(dir.path().join("proc").join(name), text);
        write("stat", "cpu  10 20 30 4000 5 6 7 8 9 0\nprocs_running 3\nprocs_blocked 1\n").expect("written");
        write("sys/kernel/random/boot_id", "00000000-00ff-4042-adce-9cb2e70d42a5\n").expect("written");
        write("loadavg", "1.26 0.9 0.4 3/150 999\n").expect("written");
        write("self/stat", "9 (x y) S 1 9 9 0 -1 0 1 0 0 0 11 12 13 14 20 0\n").expect("written");
        for (pid, name, flags) in
            [(2, "k/0:1", PF_KTHREAD), (7, "k/0:1", PF_KTHREAD | 64), (8, "k/0:1", 64), (9, "x y", 64)]
        {
            std::fs::create_dir(dir.path().join(format!("proc/{pid}"))).expect("made");
            let stat = format!("{pid} ({name}) S 2 0 0 0 -1 {flags} 1 0 0 0 3 4 100 100 20 0\n");
            write(&format!("{pid}/stat"), &stat).expect("written");
        }
        let counters = Load.read(&SysRoot::at(dir.path()));
        let tick = 1_000_000_000 / ticks_per_second();
        assert_eq!(counters.counts["busy_ns"], (10 + 20 + 30 + 6 + 7) * tick);
        assert_eq!(counters.counts["own_ns"], (11 + 12 + 13 + 14) * tick);
        assert_eq!(counters.counts["kernel_ns"], (2 * (3 + 4) + 6 + 7) * tick);
        assert_eq!(counters.counts["process:k/0:1"], (3 + 4) * tick);
        assert_eq!(counters.counts["ours_ns"], (3 + 4 + 100 + 100) * tick);
        assert!(!counters.counts.contains_key("process:x y"), "parts of the same case are no others");
        assert_eq!((counters.levels["running"], counters.levels["blocked"]), (3, 1));
        assert_eq!((counters.levels["load_1min_percent"], counters.levels["kernel"]), (126, 255));
        assert!(counters.unreadable.is_empty());
    }

    #[test]
    fn of_the_processes_the_one_that_took_most_is_kept() {
        let reading = |counts: &[(&str, u64)]| Counters {
            counts: counts.iter().map(|(name, count)| ((*name).to_owned(), *count)).collect(),
            ..Counters::default()
        };
        let before = reading(&[("busy_ns", 1), ("process:a", 900), ("process:gone", 7)]);
        let after = reading(&[("busy_ns", 5), ("process:a", 910), ("process:b", 30)]);
        let found = Load.between(&before, &after);
        let counts: Vec<_> = found.counts.iter().map(|(name, count)| (name.as_str(), *count)).collect();
        assert_eq!(counts, [("busy_ns", 4), ("process:b", 30)]);
        assert!(found.unreadable.is_empty() && found.backwards.is_empty(), "{found:?}");
    }
}
