//! State of processes.

use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use seatrial_sys::process::{Task, tasks};
use seatrial_sys::root::SysRoot;

/// Far longer than anything here takes; a test that waits this long has failed.
pub const PATIENCE: Duration = Duration::from_secs(240);

/// Waits until the process is gone, not even a zombie.
pub fn assert_gone(pid: u32) {
    wait_until(&format!("process {pid} to be gone"), || state(pid).is_none());
}

/// Waits until the process has ended. An orphan may wait for init to reap it.
pub fn assert_dead(pid: u32) {
    wait_until(&format!("process {pid} to be dead"), || matches!(state(pid), None | Some('Z' | 'X')));
}

/// State letter of the process, if it exists: of its first running thread, since one thread may outlive a killed
/// process.
pub fn state(pid: u32) -> Option<char> {
    let tasks = tasks(&SysRoot::live(), pid).ok()?;
    let alive = tasks.iter().find(|task| !matches!(task.state, 'Z' | 'X'));
    alive.or(tasks.first()).map(|task| task.state)
}

/// Whether a signal has stopped every thread: the last one may run on for a while.
pub fn has_stopped(pid: u32) -> bool {
    tasks(&SysRoot::live(), pid).is_ok_and(|tasks| tasks.iter().all(|task| task.state == 'T'))
}

pub fn part(pid: u32) -> Task {
    let threads = tasks(&SysRoot::live(), pid).expect("alive");
    threads.into_iter().find(|thread| thread.name == "part").expect("the part's thread")
}

/// User CPU time of the part so far, in ticks of 10 ms (proc_pid_stat(5), `utime`).
pub fn computed(pid: u32) -> u64 {
    let text = SysRoot::live().text(format!("/proc/{pid}/task/{}/stat", part(pid).id)).expect("alive");
    let behind_the_name = text.rsplit_once(") ").map_or("", |(_, fields)| fields);
    behind_the_name.split(' ').nth(11).and_then(|ticks| ticks.parse().ok()).expect("a number")
}

/// Bytes that the process has written so far (proc_pid_io(5)).
pub fn written(pid: u32) -> u64 {
    let text = SysRoot::live().text(format!("/proc/{pid}/io")).expect("alive");
    let count = text.lines().find_map(|line| line.strip_prefix("wchar: "));
    count.and_then(|count| count.parse().ok()).expect("a count")
}

pub fn kill(pid: u32, signal: Signal) {
    kill_process(process_id(pid), signal).expect("sent");
}

pub fn process_id(pid: u32) -> Pid {
    i32::try_from(pid).ok().and_then(Pid::from_raw).expect("a process id")
}

pub fn wait_until(what: &str, done: impl Fn() -> bool) {
    let start = Instant::now();
    while !done() {
        assert!(start.elapsed() < PATIENCE, "waited {PATIENCE:?} for {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}
