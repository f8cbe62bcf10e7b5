//! What the threads of a process are doing, as evidence about a hung process.

use crate::root::{ReadError, SysRoot};

/// One thread of a process at one moment; `None` where the kernel denies a field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Task {
    pub id: u32,
    pub name: String,
    /// State: R running, S sleeping, D uninterruptible, T stopped, Z ended (proc_pid_stat(5)).
    pub state: char,
    pub wait_channel: Option<String>,
    pub syscall: Option<String>,
    /// Kernel stack, one function per line; only for root.
    pub stack: Option<String>,
}

/// The threads of a process, main thread first. Threads that end meanwhile are left out.
pub fn tasks(root: &SysRoot, pid: u32) -> Result<Vec<Task>, ReadError> {
    let folder = format!("/proc/{pid}/task");
    let mut found = Vec::new();
    for id in root.numbered(&folder, "")? {
        let task = format!("{folder}/{id}");
        let stat = match stat(root, &task) {
            Err(error) if error.is_missing() => continue,
            // A thread that exits between open and read answers ESRCH.
            Err(ReadError::Unreadable { errno: rustix::io::Errno::SRCH, .. }) => continue,
            stat => stat?,
        };
        let text = |name: &str| root.text(format!("{task}/{name}")).ok().filter(|text| !text.is_empty());
        found.push(Task {
            id,
            name: stat.name,
            state: stat.state,
            // The kernel writes 0 for a running thread, or without permission.
            wait_channel: text("wchan").filter(|name| name != "0"),
            syscall: text("syscall"),
            stack: text("stack"),
        });
    }
    Ok(found)
}

pub(super) struct Stat {
    pub name: String,
    pub state: char,
    /// Clock ticks from boot to the start of the process.
    pub started: u64,
}

/// Parses `FOLDER/stat`. The name in parentheses may hold blanks and parentheses itself.
pub(super) fn stat(root: &SysRoot, folder: &str) -> Result<Stat, ReadError> {
    let path = format!("{folder}/stat");
    let text = root.text(&path)?;
    let parse = || {
        let (_, rest) = text.split_once('(')?;
        let (name, rest) = rest.rsplit_once(')')?;
        let mut fields = rest.split_whitespace();
        let state = fields.next()?.chars().next()?;
        // Field 22 of the file; the state is field 3.
        let started = fields.nth(18)?.parse().ok()?;
        Some(Stat { name: name.to_owned(), state, started })
    };
    parse().ok_or_else(|| ReadError::garbage(&path, &text, "the fields of proc_pid_stat(5)"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::process::Command;

    #[test]
    fn sees_a_sleeping_child() {
        let mut child = Command::new("sleep").arg("600").spawn().expect("started");
        // Before exec the child is a copy of this program: wait for its new name.
        let asleep = std::iter::repeat_with(|| tasks(&SysRoot::live(), child.id()).expect("read"))
            .find(|tasks| tasks[0].name == "sleep" && tasks[0].state == 'S')
            .expect("found");
        child.kill().expect("killed");
        child.wait().expect("reaped");
        assert_eq!((asleep.len(), asleep[0].id), (1, child.id()));
        assert!(tasks(&SysRoot::live(), child.id()).is_err());
    }

    #[test]
    fn reads_names_with_parentheses_and_keeps_what_is_denied_unknown() {
        let dir = tempfile::tempdir().expect("a folder");
        let task = dir.path().join("proc/7/task/7");
        fs::create_dir_all(&task).expect("made");
        let rest = "0 ".repeat(17);
        fs::write(task.join("stat"), format!("7 (a) (b c) D 1 {rest}4242 0 0\n")).expect("written");
        fs::write(task.join("wchan"), "io_schedule").expect("written");
        fs::write(task.join("syscall"), "0 0x3 0x7f\n").expect("written");
        let found = tasks(&SysRoot::at(dir.path()), 7).expect("read");
        assert_eq!(found[0].name, "a) (b c");
        assert_eq!((found[0].state, found[0].wait_channel.as_deref()), ('D', Some("io_schedule")));
        assert_eq!((found[0].syscall.as_deref(), found[0].stack.as_deref()), (Some("0 0x3 0x7f"), None));
        let stat = stat(&SysRoot::at(dir.path()), "/proc/7/task/7").expect("read");
        assert_eq!(stat.started, 4242);
    }

    #[test]
    fn refuses_a_garbled_stat() {
        let dir = tempfile::tempdir().expect("a folder");
        fs::create_dir_all(dir.path().join("proc/7/task/7")).expect("made");
        fs::write(dir.path().join("proc/7/task/7/stat"), "7 (x) S 1").expect("written");
        assert!(matches!(tasks(&SysRoot::at(dir.path()), 7), Err(ReadError::Garbage { .. })));
    }
}
