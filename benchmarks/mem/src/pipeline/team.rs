//! Threads that stay where they are put, and do together what they are told.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;

use seatrial_model::Cause;
use seatrial_sys::cpuset::CpuSet;
use seatrial_sys::sched::{self, Class};
use seatrial_sys::{affinity, process};

use seatrial_bench::Error;

type Task = Box<dyn FnOnce() -> Result<(), Error> + Send>;

/// A number of threads, each bound to CPUs of its own.
///
/// No thread ever waits for another: there is no barrier that could stay closed, however few threads there are.
pub struct ThreadTeam {
    tasks: Vec<Sender<Task>>,
    done: Receiver<Result<(), Error>>,
    threads: Vec<JoinHandle<()>>,
}

impl ThreadTeam {
    /// Starts a thread for each of `places`, binds it there, and sees that `class` may be had.
    ///
    /// # Errors
    /// When a thread cannot be started, bound or put into `class`. None is left behind then.
    pub fn start(places: Vec<CpuSet>, class: Class) -> Result<Self, Error> {
        let wanted = places.len();
        let (tell, done) = channel();
        let mut team = Self { tasks: Vec::new(), done, threads: Vec::new() };
        for (index, place) in places.into_iter().enumerate() {
            let (task, tasks) = channel::<Task>();
            let tell = tell.clone();
            let serve = move || {
                let mut said = settle(&place, class);
                while tell.send(said).is_ok() {
                    let Ok(task) = tasks.recv() else { return };
                    // A thread that panics must still say so, or the others' answers would be waited for in vain.
                    said =
                        catch_unwind(AssertUnwindSafe(task)).unwrap_or_else(|panic| Err(panicked(&*panic)));
                }
            };
            let name = format!("mem{index}");
            let started = std::thread::Builder::new().name(name).stack_size(256 << 10).spawn(serve);
            team.threads.push(started.map_err(|error| too_few(index, wanted, &error))?);
            team.tasks.push(task);
        }
        team.hear()?;
        Ok(team)
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.threads.len()
    }

    /// Has every thread do its task, given its position, and waits until all have.
    ///
    /// # Errors
    /// The first that a thread met, once all have ended.
    pub fn all<T>(&self, task: impl Fn(usize) -> T) -> Result<(), Error>
    where
        T: FnOnce() -> Result<(), Error> + Send + 'static,
    {
        for (index, tasks) in self.tasks.iter().enumerate() {
            tasks.send(Box::new(task(index))).map_err(|_| gone())?;
        }
        self.hear()
    }

    fn hear(&self) -> Result<(), Error> {
        let mut first = Ok(());
        for _ in 0..self.len() {
            first = first.and(self.done.recv().map_err(|_| gone())?);
        }
        first
    }
}

impl Drop for ThreadTeam {
    fn drop(&mut self) {
        // Threads end when nobody can give them tasks any more.
        self.tasks.clear();
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}

/// Binds the calling thread, has it woken exactly, and tries `class`, which is taken only while there is work to pace.
fn settle(place: &CpuSet, class: Class) -> Result<(), Error> {
    let denied = |text: String| Error::new(Cause::Denied, text);
    affinity::pin(place)
        .and_then(|()| affinity::verify(place))
        .map_err(|error| denied(format!("cannot bind a thread to CPUs {place}: {error}")))?;
    sched::wake_exactly().map_err(|errno| denied(format!("cannot take the slack from timers: {errno}")))?;
    in_class(class, || Ok(()))
}

/// Does `work` in a scheduling class and returns to that of everybody.
///
/// # Errors
/// When the class is not to be had, and what `work` says.
pub fn in_class(class: Class, work: impl FnOnce() -> Result<(), Error>) -> Result<(), Error> {
    if class == Class::Other {
        return work();
    }
    let set = |class| {
        sched::set_class(class)
            .map_err(|error| Error::new(Cause::Denied, format!("{error}; or measure with -p sched=other")))
    };
    set(class)?;
    let done = work();
    set(Class::Other).and(done)
}

fn too_few(started: usize, wanted: usize, error: &std::io::Error) -> Error {
    let limit = process::limit(process::Resource::Threads).soft;
    let limit = limit.map_or("no limit".to_owned(), |limit| limit.to_string());
    let text = format!(
        "cannot start thread {} of {wanted}: {error}; `ulimit -u` is {limit}, and pids.max of the control group may be \
         lower: raise them, or measure with -p threads=core",
        started + 1
    );
    Error::new(Cause::Denied, text)
}

fn gone() -> Error {
    Error::new(Cause::Crash, "a measuring thread is gone")
}

fn panicked(panic: &(dyn Any + Send)) -> Error {
    let text = panic.downcast_ref::<&str>().copied();
    let text = text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("without words");
    Error::new(Cause::Crash, format!("a measuring thread panicked: {text}"))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    fn here() -> CpuSet {
        affinity::allowed().expect("a mask")
    }

    fn only() -> CpuSet {
        CpuSet::of(here().first().expect("a CPU"))
    }

    #[test]
    fn many_threads_on_one_cpu_all_do_their_task() {
        let team = ThreadTeam::start(vec![only(); 40], Class::Other).expect("threads");
        let sum = Arc::new(AtomicUsize::new(0));
        let task = |index: usize| {
            let sum = Arc::clone(&sum);
            move || {
                sum.fetch_add(index, Ordering::Relaxed);
                Ok(())
            }
        };
        team.all(task).expect("done");
        team.all(task).expect("done again");
        assert_eq!((team.len(), sum.load(Ordering::Relaxed)), (40, 2 * 780));
    }

    #[test]
    fn one_that_fails_or_panics_is_told_and_none_is_waited_for() {
        let team = ThreadTeam::start(vec![here(); 3], Class::Other).expect("threads");
        let failed = team.all(|index| {
            move || if index == 1 { Err(Error::new(Cause::NoSpace, "no room")) } else { Ok(()) }
        });
        assert_eq!(failed.map_err(|error| error.text), Err("no room".to_owned()));
        let panicked = team.all(|index| {
            move || {
                assert!(index != 2, "on purpose");
                Ok(())
            }
        });
        let error = panicked.expect_err("a panic");
        assert_eq!(
            (error.cause, error.text.as_str()),
            (Cause::Crash, "a measuring thread panicked: on purpose")
        );
    }

    #[test]
    fn a_cpu_that_is_not_ours_is_denied() {
        let error =
            ThreadTeam::start(vec![only(), CpuSet::of(60_000)], Class::Other).err().expect("no such CPU");
        assert_eq!(error.cause, Cause::Denied);
        assert!(error.text.starts_with("cannot bind a thread to CPUs 60000"), "{error}");
    }

    #[test]
    fn a_thread_too_many_is_told_with_the_limit_and_what_to_do() {
        let error = too_few(56, 180, &std::io::Error::from_raw_os_error(11));
        assert_eq!(error.cause, Cause::Denied);
        assert!(
            error.text.starts_with("cannot start thread 57 of 180: Resource temporarily unavailable"),
            "{error}"
        );
        assert!(error.text.contains("ulimit -u") && error.text.contains("-p threads=core"), "{error}");
    }
}
