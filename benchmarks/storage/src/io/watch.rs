//! Requests in flight of every thread, readable by others while the thread hangs.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};

use seatrial_model::Nanos;
use seatrial_sys::clock;
use seatrial_sys::process::tasks;
use seatrial_sys::root::SysRoot;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Doing {
    /// Waiting for a command, or between two requests.
    Nothing,
    Making,
    Flushing,
    Forgetting,
}

impl Doing {
    const fn word(number: u8) -> &'static str {
        match number {
            1 => "making the files",
            2 => "flushing a file",
            3 => "emptying the page cache",
            _ => "nothing",
        }
    }
}

/// A request in flight; `since` is 0 without one.
#[derive(Debug, Default)]
struct Request {
    since: AtomicU64,
    offset: AtomicU64,
    write: AtomicU8,
}

/// State of one thread, for other threads to read. Relaxed stores suffice: nobody synchronises on these numbers.
#[derive(Debug)]
pub struct Watch {
    number: usize,
    file: usize,
    task: AtomicU64,
    doing: AtomicU8,
    since: AtomicU64,
    requests: Vec<Request>,
}

impl Watch {
    pub fn new(number: usize, file: usize, slots: usize) -> Arc<Self> {
        Arc::new(Self {
            number,
            file,
            task: AtomicU64::new(0),
            doing: AtomicU8::new(0),
            since: AtomicU64::new(0),
            requests: (0..slots).map(|_| Request::default()).collect(),
        })
    }

    pub fn here(&self) {
        let task = rustix::thread::gettid().as_raw_nonzero().get();
        self.task.store(u64::from(task.unsigned_abs()), Ordering::Relaxed);
    }

    pub fn doing(&self, what: Doing) {
        self.since.store(clock::now_ns(), Ordering::Relaxed);
        self.doing.store(what as u8, Ordering::Relaxed);
    }

    pub fn begins(&self, slot: usize, write: bool, offset: u64, now: Nanos) {
        if let Some(request) = self.requests.get(slot) {
            request.offset.store(offset, Ordering::Relaxed);
            request.write.store(u8::from(write), Ordering::Relaxed);
            request.since.store(now.get(), Ordering::Relaxed);
        }
    }

    pub fn ends(&self, slot: usize) {
        if let Some(request) = self.requests.get(slot) {
            request.since.store(0, Ordering::Relaxed);
        }
    }

    /// The longest pending action: its start and a description. `None` without one.
    fn oldest(&self) -> Option<(u64, String)> {
        let doing = self.doing.load(Ordering::Relaxed);
        let since = |request: &&Request| request.since.load(Ordering::Relaxed);
        let under_way: Vec<&Request> = self.requests.iter().filter(|request| since(request) > 0).collect();
        let oldest = under_way.iter().copied().min_by_key(since).map(|request| {
            let word = if request.write.load(Ordering::Relaxed) == 1 { "write" } else { "read" };
            let offset = request.offset.load(Ordering::Relaxed);
            let of = under_way.len();
            (since(&request), format!("a {word} at offset {offset} of file {} ({of} in flight)", self.file))
        });
        let other = (doing != 0).then(|| (self.since.load(Ordering::Relaxed), Doing::word(doing).to_owned()));
        [oldest, other].into_iter().flatten().min_by_key(|(since, _)| *since)
    }
}

/// Describes a hang: the oldest pending action of all threads, and the kernel's state of that thread.
pub fn describe(all: &[Arc<Watch>]) -> String {
    describe_at(all, clock::now_ns())
}

fn describe_at(all: &[Arc<Watch>], now: u64) -> String {
    let oldest = all.iter().filter_map(|watch| Some((watch.oldest()?, watch))).min_by_key(|((at, _), _)| *at);
    let Some(((since, what), watch)) = oldest else {
        return "no request is in flight".to_owned();
    };
    let age = Nanos(now.saturating_sub(since) / 1_000_000 * 1_000_000);
    let stuck = all.iter().filter(|watch| watch.oldest().is_some()).count();
    let task = watch.task.load(Ordering::Relaxed);
    let all_tasks = tasks(&SysRoot::live(), std::process::id()).unwrap_or_default();
    // Requests that io_uring cannot complete at once run in kernel threads named `iou-wrk-` and the id of the ring's
    // owner.
    let helper = format!("iou-wrk-{task}");
    let stuck_helper = all_tasks.iter().find(|one| one.state == 'D' && one.name == helper);
    let own = all_tasks.iter().find(|one| u64::from(one.id) == task);
    let told = match (stuck_helper, own) {
        (Some(helper), _) => Some(("its io_uring kernel thread", helper)),
        (None, own) => own.map(|own| ("its thread", own)),
    };
    let state = told.map_or_else(String::new, |(whose, task)| {
        let channel = task.wait_channel.as_deref().unwrap_or("an unknown kernel function");
        format!("; {whose} is in state {} in {channel}", task.state)
    });
    format!(
        "{what} has been pending for {age} in thread {}{state}; {stuck} of {} threads have pending requests",
        watch.number,
        all.len()
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_request_of_all_threads_is_told() {
        let all = [Watch::new(0, 0, 2), Watch::new(1, 1, 2)];
        let (second, now) = (1_000_000_000, 7_200_000_000_000);
        let describe = || describe_at(&all, now);
        assert_eq!(describe(), "no request is in flight");
        all[0].begins(0, false, 512, Nanos(now - second));
        all[1].begins(0, false, 0, Nanos(now - second));
        all[1].begins(1, true, 4096, Nanos(now - 3600 * second));
        let told = describe();
        let age = Nanos(3600 * second);
        let start =
            format!("a write at offset 4096 of file 1 (2 in flight) has been pending for {age} in thread 1");
        assert!(told.starts_with(&start), "{told}");
        assert!(told.ends_with("2 of 2 threads have pending requests"), "{told}");
        all[1].ends(1);
        all[1].ends(0);
        assert!(describe().starts_with("a read at offset 512 of file 0"));
        all[0].ends(0);
        all[0].doing(Doing::Flushing);
        // The system's clock may have started only a moment ago.
        assert!(super::describe(&all).starts_with("flushing a file has been pending for "));
    }
}
