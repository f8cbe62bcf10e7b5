//! State of a worker that does not answer, from /proc.

use seatrial_sys::process::{Task, tasks};
use seatrial_sys::root::SysRoot;
use serde_json::{Value, json};

/// Threads that are described. A worker has a thread per core; threads in uninterruptible sleep come first.
const SHOWN: usize = 16;

/// The threads of a process: state, wait channel, system call, kernel stack where readable. Reads only files that do
/// not need the process's memory map lock, which a stuck process may hold.
pub fn vitals(root: &SysRoot, pid: u32) -> Value {
    match tasks(root, pid) {
        Ok(mut threads) => {
            threads.sort_by_key(|thread| (thread.state != 'D', thread.name != "part", thread.id));
            let shown: Vec<Value> = threads.iter().take(SHOWN).map(describe).collect();
            json!({ "pid": pid, "threads": shown, "more_threads": threads.len().saturating_sub(SHOWN) })
        }
        Err(error) => json!({ "pid": pid, "unreadable": error.to_string() }),
    }
}

fn describe(thread: &Task) -> Value {
    let Task { id, name, state, wait_channel, syscall, stack } = thread;
    let stack = stack.as_deref().map(|text| text.lines().collect::<Vec<_>>());
    json!({
        "id": id,
        "name": name,
        "state": format!("{state} ({})", state_word(*state)),
        "wait_channel": wait_channel,
        "system_call": syscall.as_deref().map(system_call),
        "stack": stack,
    })
}

const fn state_word(letter: char) -> &'static str {
    match letter {
        'R' => "running",
        'S' => "sleeping",
        'D' => "uninterruptible sleep",
        'T' | 't' => "stopped",
        'Z' => "ended",
        'I' => "idle",
        _ => "unknown",
    }
}

/// `write 0x3 0x7f…` for `1 0x3 0x7f…`; a call without a name here stays a number (proc_pid_syscall(5)).
fn system_call(text: &str) -> String {
    let (number, arguments) = text.split_once(' ').unwrap_or((text, ""));
    let name = number.parse().ok().and_then(call_name);
    name.map_or_else(|| text.to_owned(), |name| format!("{name} {arguments}").trim_end().to_owned())
}

/// System calls in which a stuck benchmark is likely to be; numbers differ between architectures.
fn call_name(number: libc::c_long) -> Option<&'static str> {
    Some(match number {
        libc::SYS_read => "read",
        libc::SYS_write => "write",
        libc::SYS_pread64 => "pread64",
        libc::SYS_pwrite64 => "pwrite64",
        libc::SYS_preadv => "preadv",
        libc::SYS_pwritev => "pwritev",
        libc::SYS_openat => "openat",
        libc::SYS_close => "close",
        libc::SYS_unlinkat => "unlinkat",
        libc::SYS_fsync => "fsync",
        libc::SYS_fdatasync => "fdatasync",
        libc::SYS_sync => "sync",
        libc::SYS_ftruncate => "ftruncate",
        libc::SYS_fallocate => "fallocate",
        libc::SYS_getdents64 => "getdents64",
        libc::SYS_statx => "statx",
        libc::SYS_ioctl => "ioctl",
        libc::SYS_futex => "futex",
        libc::SYS_nanosleep => "nanosleep",
        libc::SYS_clock_nanosleep => "clock_nanosleep",
        libc::SYS_ppoll => "ppoll",
        libc::SYS_epoll_pwait => "epoll_pwait",
        libc::SYS_connect => "connect",
        libc::SYS_accept4 => "accept4",
        libc::SYS_recvfrom => "recvfrom",
        libc::SYS_recvmsg => "recvmsg",
        libc::SYS_sendto => "sendto",
        libc::SYS_sendmsg => "sendmsg",
        libc::SYS_io_uring_enter => "io_uring_enter",
        libc::SYS_mmap => "mmap",
        libc::SYS_munmap => "munmap",
        libc::SYS_mbind => "mbind",
        libc::SYS_move_pages => "move_pages",
        libc::SYS_wait4 => "wait4",
        libc::SYS_waitid => "waitid",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_stuck_thread_comes_first_with_its_system_call_by_name() {
        let dir = tempfile::tempdir().expect("a folder");
        for (id, name, state) in [(7, "seatrial", 'S'), (8, "control", 'S'), (9, "part", 'D')] {
            let task = dir.path().join(format!("proc/7/task/{id}"));
            fs::create_dir_all(&task).expect("made");
            let stat = format!("{id} ({name}) {state} 1 {}42 0\n", "0 ".repeat(17));
            fs::write(task.join("stat"), stat).expect("written");
            fs::write(task.join("wchan"), "percpu_rwsem_wait").expect("written");
            fs::write(task.join("syscall"), format!("{} 0x3 0x7f\n", libc::SYS_fsync)).expect("written");
            fs::write(task.join("stack"), "[<0>] one+0x1\n[<0>] two+0x2\n").expect("written");
        }
        let found = vitals(&SysRoot::at(dir.path()), 7);
        let first = &found["threads"][0];
        assert_eq!((&first["name"], &first["state"]), (&json!("part"), &json!("D (uninterruptible sleep)")));
        assert_eq!(first["system_call"], "fsync 0x3 0x7f");
        assert_eq!(first["wait_channel"], "percpu_rwsem_wait");
        assert_eq!(first["stack"], json!(["[<0>] one+0x1", "[<0>] two+0x2"]));
        assert_eq!((found["threads"].as_array().map(Vec::len), &found["more_threads"]), (Some(3), &json!(0)));
    }

    #[test]
    fn unnamed_calls_and_running_threads_stay_as_they_are() {
        assert_eq!(system_call("running"), "running");
        assert_eq!(system_call("999999 0x1"), "999999 0x1");
        assert_eq!(system_call("-1 0x7ffe 0x1"), "-1 0x7ffe 0x1");
    }

    #[test]
    fn a_process_that_is_gone_says_so() {
        let dir = tempfile::tempdir().expect("a folder");
        let found = vitals(&SysRoot::at(dir.path()), 7);
        assert_eq!(found["unreadable"], "/proc/7/task does not exist");
    }
}
