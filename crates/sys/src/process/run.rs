//! Which processes of this machine belong to the run of this process.

use std::collections::BTreeMap;

use crate::libc_info::ticks_per_second;
use crate::root::{ReadError, SysRoot};

/// A process as proc_pid_stat(5) tells it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProcessStat {
    /// Field 2, of at most 15 bytes.
    pub name: String,
    parent: u32,
    flags: u64,
    /// Fields 14 to 17: user and system time, and those of reaped children.
    ticks: [u64; 4],
}

impl ProcessStat {
    const PF_KTHREAD: u64 = 0x0020_0000;

    pub(crate) fn of(text: &str) -> Option<Self> {
        // The second field is a name that may hold spaces and brackets.
        let (start, fields) = text.rsplit_once(')')?;
        let name = start.split_once('(')?.1.to_owned();
        let fields: Vec<&str> = fields.split_whitespace().collect();
        let number = |at: usize| fields.get(at - 3)?.parse::<u64>().ok();
        let parent = u32::try_from(number(4)?).ok()?;
        Some(Self {
            name,
            parent,
            flags: number(9)?,
            ticks: [number(14)?, number(15)?, number(16)?, number(17)?],
        })
    }

    pub const fn is_kernel_thread(&self) -> bool {
        self.flags & Self::PF_KTHREAD != 0
    }

    /// CPU time without that of children.
    pub fn alone_ns(&self) -> u64 {
        nanoseconds(self.ticks[0].saturating_add(self.ticks[1]))
    }

    /// CPU time with that of reaped children.
    pub fn with_children_ns(&self) -> u64 {
        nanoseconds(self.ticks.iter().copied().fold(0, u64::saturating_add))
    }
}

fn nanoseconds(ticks: u64) -> u64 {
    ticks.saturating_mul(1_000_000_000 / ticks_per_second())
}

/// The processes that this one can see. Those of its run are the agent that started it, agents, workers and relays of other
/// nodes on this kernel, by their names, and whatever any of these started.
#[derive(Clone, Debug)]
pub struct RunProcesses {
    all: BTreeMap<u32, ProcessStat>,
    own: Option<ProcessStat>,
}

impl RunProcesses {
    /// Names that agents, workers and relays give themselves begin with it.
    const NAMES: &'static str = "seatrial-";

    /// # Errors
    /// When the processes cannot be listed.
    pub fn read(root: &SysRoot) -> Result<Self, ReadError> {
        let stat = |pid: &str| ProcessStat::of(&root.text(format!("/proc/{pid}/stat")).ok()?);
        let pids = root.numbered("/proc", "")?;
        let all = pids.iter().filter_map(|pid| Some((*pid, stat(&pid.to_string())?))).collect();
        Ok(Self { all, own: stat("self") })
    }

    /// Every process, and whether it belongs to the run.
    pub fn all(&self) -> impl Iterator<Item = (&ProcessStat, bool)> {
        self.all.iter().map(|(pid, stat)| (stat, self.has(*pid)))
    }

    /// Whether the process of this number belongs to the run.
    pub fn has(&self, pid: u32) -> bool {
        // Numbers that were used again while the processes were read could make a circle.
        let mut left = self.all.len();
        let mut at = pid;
        while let Some(stat) = self.all.get(&at).filter(|_| left > 0) {
            if self.is_known(at, stat) {
                return true;
            }
            (at, left) = (stat.parent, left - 1);
        }
        false
    }

    fn is_known(&self, pid: u32, stat: &ProcessStat) -> bool {
        let is_agent = |own: &ProcessStat| own.parent == pid && pid > 1;
        !stat.is_kernel_thread()
            && (stat.name.starts_with(Self::NAMES)
                || self.own.as_ref().is_some_and(|own| own.name == stat.name || is_agent(own)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_agent_and_its_workers_started_is_ours_and_nobody_else_s() {
        let dir = tempfile::tempdir().expect("a folder");
        let process = |folder: &str, name: &str, parent: u32| {
            let folder = dir.path().join("proc").join(folder);
            std::fs::create_dir_all(&folder).expect("made");
            let stat = format!("9 ({name}) S {parent} 9 9 0 -1 0 1 0 0 0 1 2 3 4 20 0\n");
            std::fs::write(folder.join("stat"), stat).expect("written");
        };
        process("self", "worker", 20);
        for (pid, name, parent) in [
            ("1", "init", 0),
            ("7", "sshd", 1),
            ("20", "exe", 7),
            ("21", "worker", 20),
            ("22", "burner", 20),
            ("23", "rsync) (", 22),
            ("30", "python3", 7),
            ("40", "seatrial-agent", 1),
            ("41", "scp", 40),
            ("50", "circle", 51),
            ("51", "circle", 50),
        ] {
            process(pid, name, parent);
        }
        let found = RunProcesses::read(&SysRoot::at(dir.path())).expect("read");
        let ours: Vec<u32> = found.all.keys().copied().filter(|pid| found.has(*pid)).collect();
        assert_eq!(ours, [20, 21, 22, 23, 40, 41]);
        assert!(!found.has(4711));
    }

    #[test]
    fn without_an_agent_only_names_count() {
        let stat =
            |name: &str, parent| ProcessStat { name: name.to_owned(), parent, flags: 0, ticks: [0; 4] };
        let all = BTreeMap::from([(1, stat("init", 0)), (5, stat("worker", 1)), (6, stat("sshd", 1))]);
        let found = RunProcesses { all, own: Some(stat("worker", 1)) };
        assert_eq!([1, 5, 6].map(|pid| found.has(pid)), [false, true, false]);
    }
}
