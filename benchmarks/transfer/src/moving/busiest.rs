//! The thread that used the most CPU time: where it used all of its time, one core bounds the rate.

use std::collections::BTreeMap;

use seatrial_model::Nanos;
use seatrial_sys::root::SysRoot;

/// CPU times of threads.
#[derive(Debug)]
pub struct Busiest {
    process: u32,
    first: BTreeMap<u64, Seen>,
    last: BTreeMap<u64, Seen>,
}

/// A thread as it was seen last.
#[derive(Clone, Debug, Default)]
struct Seen {
    /// CPU time since it began.
    ns: u64,
    /// Of the program that it runs.
    name: String,
}

impl Busiest {
    /// Of this process and of those below it.
    pub fn of_this_process() -> Self {
        let process = std::process::id();
        let first = times(process);
        Self { process, last: first.clone(), first }
    }

    /// Looks again. Threads that ended keep what they had when they were seen last.
    pub fn look(&mut self) {
        self.last.extend(times(self.process));
    }

    /// What the busiest thread used since the first look, and its name; 0 and no name where the kernel does not tell.
    pub fn used(&self) -> (Nanos, &str) {
        let since = |(thread, last): (&u64, &Seen)| {
            last.ns.saturating_sub(self.first.get(thread).map_or(0, |first| first.ns))
        };
        let most = self.last.iter().max_by_key(|seen| since(*seen));
        most.map_or((Nanos(0), ""), |seen| (Nanos(since(seen)), seen.1.name.as_str()))
    }
}

/// Of all threads of `process` and of the processes below it, as far as the kernel tells them (proc_pid_task(5), `children`;
/// Documentation/scheduler/sched-stats.rst, `schedstat`).
fn times(process: u32) -> BTreeMap<u64, Seen> {
    let root = SysRoot::live();
    let (mut found, mut open) = (BTreeMap::new(), vec![process]);
    while let Some(process) = open.pop() {
        let tasks = format!("/proc/{process}/task");
        for thread in root.list(&tasks).unwrap_or_default() {
            let at = |file: &str| root.text(format!("{tasks}/{thread}/{file}")).unwrap_or_default();
            let time = at("schedstat").split_whitespace().next().and_then(|time| time.parse().ok());
            if let Some((thread, ns)) = thread.parse().ok().zip(time) {
                found.insert(thread, Seen { ns, name: at("comm").trim().to_owned() });
            }
            open.extend(at("children").split_whitespace().filter_map(|child| child.parse::<u32>().ok()));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_that_works_and_one_of_a_process_below_are_seen() {
        let own = std::process::id();
        if times(own).is_empty() {
            // A kernel without CPU times of threads.
            return;
        }
        let mut busiest = Busiest::of_this_process();
        let mut child = std::process::Command::new("sleep").arg("1000").spawn().expect("started");
        busiest.look();
        let is_seen = busiest.last.contains_key(&u64::from(child.id()));
        child.kill().and_then(|()| child.wait()).expect("ended");
        assert!(is_seen);
        let mut sum = 0_u64;
        while busiest.used().0 < Nanos::millis(5) {
            sum = std::hint::black_box(sum.wrapping_mul(31).wrapping_add(7));
            busiest.look();
        }
        let own = std::thread::current().name().map(|name| name[..name.len().min(15)].to_owned());
        assert_eq!(Some(busiest.used().1), own.as_deref());
    }
}
