//! Pinned threads, each with its own state, that execute tasks together.

use std::any::Any;
use std::cell::RefCell;
use std::convert::Infallible;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, SyncSender, channel, sync_channel};
use std::thread::{Builder, Scope};
use std::time::{Duration, Instant};

use seatrial_model::{Cause, Nanos, Reason};
use seatrial_sys::cpuset::CpuSet;
use seatrial_sys::process::{self, Resource};

use crate::pin_to;

/// How long the threads of a dropped team may take to end; shorter than the supervisor's grace period.
const LEFT_WITHIN: Duration = Duration::from_secs(8);

#[derive(Clone, Debug, Default)]
pub struct ThreadSpec {
    name: String,
    cpus: Option<CpuSet>,
    stack_bytes: Option<usize>,
}

impl ThreadSpec {
    /// A thread called `name`, pinned to this CPU, or unpinned.
    pub fn new(name: impl Into<String>, cpu: Option<u32>) -> Self {
        Self { name: name.into(), cpus: cpu.map(CpuSet::of), stack_bytes: None }
    }

    /// Pins to any of `cpus`.
    pub fn on(self, cpus: CpuSet) -> Self {
        Self { cpus: Some(cpus), ..self }
    }

    pub fn stack_bytes(self, bytes: usize) -> Self {
        Self { stack_bytes: Some(bytes), ..self }
    }
}

/// A task and the thread's place in the list of answers.
type Order<'a, S> = (usize, Arc<Task<'a, S>>);

type Task<'a, S> = dyn Fn(usize, &mut S) + Send + Sync + 'a;

/// An answer and its place in the list of answers.
type Told<T> = (usize, Result<T, Reason>);

/// Threads, each with a state `S` that is made on the thread and never leaves it. Tasks run in the order in which
/// they are given. No thread waits for another, unless a task does.
///
/// Drop waits until the threads have ended, but not for a hung thread.
pub struct ThreadTeam<'a, S> {
    orders: Vec<Sender<Order<'a, S>>>,
    shared: Arc<Shared>,
    /// Never receives a message; disconnects when the last thread has ended.
    left: Receiver<Infallible>,
}

struct Shared {
    names: Vec<String>,
    /// Answers still to come.
    owed: AtomicUsize,
    /// Whether an answer did not come in time.
    hung: AtomicBool,
}

impl<S: 'static> ThreadTeam<'static, S> {
    /// Starts and pins the threads, which make their states; `fewer` is the parameter to name in an error about too
    /// many threads.
    pub fn start<M>(threads: impl IntoIterator<Item = (ThreadSpec, M)>, fewer: &str) -> Result<Self, Reason>
    where
        M: FnOnce() -> Result<S, Reason> + Send + 'static,
    {
        Self::start_by(threads, fewer, |builder, work| builder.spawn(work).map(drop))
    }
}

impl<'scope, S: 'scope> ThreadTeam<'scope, S> {
    /// As [`Self::start`], with scoped threads that may borrow.
    pub fn start_in<M>(
        scope: &'scope Scope<'scope, '_>,
        threads: impl IntoIterator<Item = (ThreadSpec, M)>,
        fewer: &str,
    ) -> Result<Self, Reason>
    where
        M: FnOnce() -> Result<S, Reason> + Send + 'scope,
    {
        Self::start_by(threads, fewer, |builder, work| builder.spawn_scoped(scope, work).map(drop))
    }

    fn start_by<M>(
        threads: impl IntoIterator<Item = (ThreadSpec, M)>,
        fewer: &str,
        spawn: impl Fn(Builder, Box<dyn FnOnce() + Send + 'scope>) -> io::Result<()>,
    ) -> Result<Self, Reason>
    where
        M: FnOnce() -> Result<S, Reason> + Send + 'scope,
    {
        let threads: Vec<_> = threads.into_iter().collect();
        let names = threads.iter().map(|(spec, _)| spec.name.clone()).collect();
        let shared = Arc::new(Shared { names, owed: AtomicUsize::new(0), hung: AtomicBool::new(false) });
        let (leaving, left) = channel();
        // The struct's own sender is dropped before the team, which waits for all senders.
        let (mut team, leaving) = (Self { orders: Vec::new(), shared, left }, leaving);
        let (told, answers) = team.answers(0..threads.len());
        let count = threads.len();
        for (number, (spec, make)) in threads.into_iter().enumerate() {
            let mut builder = Builder::new().name(spec.name);
            if let Some(bytes) = spec.stack_bytes {
                builder = builder.stack_size(bytes);
            }
            let (order, orders) = channel::<Order<'scope, S>>();
            let (told, leaving, shared) = (told.clone(), leaving.clone(), Arc::clone(&team.shared));
            let work = move || {
                let made = guarded(|| spec.cpus.as_ref().map_or(Ok(()), pin_to).and_then(|()| make()));
                let (state, said) =
                    made.map_or_else(|error| (None, Err(error)), |state| (Some(state), Ok(())));
                shared.owed.fetch_sub(1, Ordering::Release);
                let _ = told.send((number, said));
                drop(told);
                if let Some(mut state) = state {
                    while let Ok((place, task)) = orders.recv() {
                        task(place, &mut state);
                    }
                }
                drop(leaving);
            };
            spawn(builder, Box::new(work)).map_err(|error| cannot_start(number, count, &error, fewer))?;
            team.orders.push(order);
        }
        drop(told);
        answers.collect(Duration::MAX)?;
        Ok(team)
    }
}

impl<'a, S> ThreadTeam<'a, S> {
    pub fn len(&self) -> usize {
        self.orders.len()
    }

    pub fn is_empty(&self) -> bool {
        self.orders.is_empty()
    }

    /// Answers still to come, of all tasks.
    pub fn owed(&self) -> usize {
        self.shared.owed.load(Ordering::Acquire)
    }

    /// Gives `task` to `threads`, by number, without waiting; the task gets its place in this list.
    pub fn begin<T: Send + 'a>(
        &self,
        threads: impl IntoIterator<Item = usize>,
        task: impl Fn(usize, &mut S) -> Result<T, Reason> + Send + Sync + 'a,
    ) -> Answers<T> {
        let (told, answers) = self.answers(threads);
        let shared = Arc::clone(&self.shared);
        let task: Arc<Task<'a, S>> = Arc::new(move |place, state: &mut S| {
            // A thread that panics must still answer, or the caller would wait in vain.
            let said = guarded(|| task(place, state));
            shared.owed.fetch_sub(1, Ordering::Release);
            // The receiver is gone when the answers were dropped.
            let _ = told.send((place, said));
        });
        for (place, (thread, _)) in answers.heard.borrow().iter().enumerate() {
            // A thread that is gone drops the sender, which counts as a crash.
            let _ = self.orders[*thread].send((place, Arc::clone(&task)));
        }
        answers
    }

    /// Gives `task` to `threads`, and waits for the answers in order; the task gets its place in this list.
    pub fn each<T: Send + 'a>(
        &self,
        threads: impl IntoIterator<Item = usize>,
        task: impl Fn(usize, &mut S) -> Result<T, Reason> + Send + Sync + 'a,
    ) -> Result<Vec<T>, Reason> {
        self.begin(threads, task).collect(Duration::MAX)
    }

    pub fn all<T: Send + 'a>(
        &self,
        task: impl Fn(usize, &mut S) -> Result<T, Reason> + Send + Sync + 'a,
    ) -> Result<Vec<T>, Reason> {
        self.each(0..self.len(), task)
    }
}

impl<S> ThreadTeam<'_, S> {
    /// The receiver for the answers of `threads`.
    fn answers<T>(&self, threads: impl IntoIterator<Item = usize>) -> (SyncSender<Told<T>>, Answers<T>) {
        let heard: Vec<_> = threads.into_iter().map(|thread| (thread, None)).collect();
        self.shared.owed.fetch_add(heard.len(), Ordering::Relaxed);
        // Room for all answers, so that no thread blocks on the receiver.
        let (tell, told) = sync_channel(heard.len());
        (tell, Answers { told, heard: RefCell::new(heard), shared: Arc::clone(&self.shared) })
    }
}

impl<S> Drop for ThreadTeam<'_, S> {
    fn drop(&mut self) {
        // Threads end when their order channel closes.
        self.orders.clear();
        if !self.shared.hung.load(Ordering::Relaxed) {
            let _ = self.left.recv_timeout(LEFT_WITHIN);
        }
    }
}

/// The answers to a task so far.
pub struct Answers<T> {
    told: Receiver<Told<T>>,
    /// By place: thread number and answer.
    heard: RefCell<Vec<(usize, Option<T>)>>,
    shared: Arc<Shared>,
}

impl<T> Answers<T> {
    /// Waits up to `within` for a thread to fail; returns at once when every thread has answered. Each call reports
    /// the error of a different thread.
    pub fn check(&self, within: Duration) -> Result<(), Reason> {
        self.hear(within).map(drop)
    }

    /// Waits up to `within` for all answers, in the order of the list of threads.
    ///
    /// # Errors
    /// The first failure, at once: other threads may still be working. The error names a thread that panicked or did
    /// not answer in time.
    pub fn collect(self, within: Duration) -> Result<Vec<T>, Reason> {
        let missing = self.hear(within)?;
        let heard = self.heard.into_inner();
        let Some(why) = missing else {
            return Ok(heard.into_iter().filter_map(|(_, said)| said).collect());
        };
        let late = heard.iter().find(|(_, said)| said.is_none());
        let name = late.map_or("?", |(thread, _)| &self.shared.names[*thread]);
        Err(match why {
            RecvTimeoutError::Timeout => {
                self.shared.hung.store(true, Ordering::Relaxed);
                let text = format!("thread {name} did not answer within {}", Nanos::from(within));
                Reason::new(Cause::Hang, text)
            }
            RecvTimeoutError::Disconnected => {
                Reason::new(Cause::Crash, format!("thread {name} ended without an answer"))
            }
        })
    }

    /// Receives answers until `within`; `Some` is the reason why not all came.
    fn hear(&self, within: Duration) -> Result<Option<RecvTimeoutError>, Reason> {
        let deadline = Instant::now().checked_add(within);
        let mut heard = self.heard.borrow_mut();
        let missing = heard.iter().filter(|(_, said)| said.is_none()).count();
        for _ in 0..missing {
            let left =
                deadline.map_or(Duration::MAX, |deadline| deadline.saturating_duration_since(Instant::now()));
            match self.told.recv_timeout(left) {
                Ok((place, said)) => heard[place].1 = Some(said?),
                Err(why) => return Ok(Some(why)),
            }
        }
        Ok(None)
    }
}

/// What a panic said.
pub fn panic_text(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("no text was given")
}

/// Runs `work` on a named thread; a panic becomes an error.
fn guarded<T>(work: impl FnOnce() -> Result<T, Reason>) -> Result<T, Reason> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| {
        let (thread, text) = (std::thread::current(), panic_text(&*panic));
        Err(Reason::new(Cause::Crash, format!("thread {} panicked: {text}", thread.name().unwrap_or("?"))))
    })
}

fn cannot_start(number: usize, wanted: usize, error: &io::Error, fewer: &str) -> Reason {
    let limit = process::limit(Resource::Threads).soft;
    let limit = limit.map_or("no limit".to_owned(), |limit| limit.to_string());
    let text = format!(
        "cannot start thread {} of {wanted}: {error}; `ulimit -u` is {limit}, and pids.max of the control group may be \
         lower: raise them, or measure with {fewer}",
        number + 1
    );
    Reason::new(Cause::Denied, text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::rc::Rc;

    use seatrial_sys::affinity;

    fn team(count: usize) -> ThreadTeam<'static, Rc<usize>> {
        let spec = |number| ThreadSpec::new(format!("w{number}"), None);
        let make = move || Ok(Rc::new(0));
        ThreadTeam::start((0..count).map(|number| (spec(number), make)), "-p threads=").expect("threads")
    }

    #[test]
    fn answers_stand_in_the_order_of_the_list_and_states_stay() {
        let team = team(3);
        let count = |_, state: &mut Rc<usize>| {
            *Rc::make_mut(state) += 1;
            Ok(**state)
        };
        assert_eq!(team.all(count), Ok(vec![1, 1, 1]));
        let (open, wait) = channel::<()>();
        let wait = std::sync::Mutex::new(wait);
        let slow_first = team.begin([2, 0, 2], move |place, state| {
            if place == 0 {
                let _ = wait.lock().map(|wait| wait.recv());
            }
            Ok((place, count(place, state)?))
        });
        while team.owed() > 2 {
            std::thread::yield_now();
        }
        open.send(()).expect("it waits");
        assert_eq!(slow_first.collect(Duration::MAX), Ok(vec![(0, 2), (1, 2), (2, 3)]));
        assert_eq!((team.len(), team.owed()), (3, 0));
    }

    #[test]
    fn many_threads_on_one_cpu_that_borrow_all_do_their_task() {
        let cpu = affinity::allowed().expect("a mask").first();
        let mut sums = vec![0; 40];
        std::thread::scope(|scope| {
            let own = sums.iter_mut().enumerate();
            let own = own.map(|(number, sum)| (ThreadSpec::new(format!("w{number}"), cpu), move || Ok(sum)));
            let team = ThreadTeam::start_in(scope, own, "-p threads=")?;
            team.all(|number, sum| {
                **sum += number;
                Ok(())
            })
        })
        .expect("done");
        assert_eq!(sums, (0..40).collect::<Vec<_>>());
    }

    #[test]
    fn one_that_fails_or_panics_is_told_by_name_and_goes_on() {
        let team = team(3);
        let fail = |place| if place == 1 { Err(Reason::new(Cause::NoSpace, "no room")) } else { Ok(()) };
        assert_eq!(team.all(move |place, _| fail(place)), Err(Reason::new(Cause::NoSpace, "no room")));
        let panic = |place, _: &mut Rc<usize>| {
            assert!(place != 2, "on purpose");
            Ok(())
        };
        let panicked = Reason::new(Cause::Crash, "thread w2 panicked: on purpose");
        assert_eq!(team.all(panic), Err(panicked.clone()));
        let answers = team.begin(0..3, panic);
        assert_eq!(answers.check(Duration::MAX), Err(panicked), "however many have answered before");
        assert_eq!(answers.check(Duration::MAX), Ok(()), "it is told once");
        let lost = answers.collect(Duration::MAX).expect_err("there is no answer of w2");
        assert_eq!(lost.text, "thread w2 ended without an answer");
        assert_eq!(team.all(|_, _| Ok(())).map(|all| all.len()), Ok(3));
    }

    #[test]
    fn a_state_that_cannot_be_made_is_told_and_no_thread_is_left() {
        let made = Arc::new(());
        let make = |number| {
            let made = Arc::clone(&made);
            let spec = ThreadSpec::new(format!("w{number}"), None);
            (spec, move || {
                if number == 1 { panic!("cannot make {}", Arc::strong_count(&made) > 0) } else { Ok(made) }
            })
        };
        let error = ThreadTeam::start((0..3).map(make), "-p threads=").err().expect("one panics");
        assert_eq!(
            (error.cause, error.text.as_str()),
            (Cause::Crash, "thread w1 panicked: cannot make true")
        );
        assert_eq!(Arc::strong_count(&made), 1, "a thread is left behind");
    }

    #[test]
    fn a_thread_that_hangs_is_named_and_not_waited_for() {
        let team = team(2);
        let (open, wait) = channel::<()>();
        let wait = std::sync::Mutex::new(wait);
        let hangs = team.begin(0..2, move |place, _| {
            if place == 1 {
                let _ = wait.lock().map(|wait| wait.recv());
            }
            Ok(())
        });
        assert_eq!(hangs.check(Duration::ZERO), Ok(()));
        let error = hangs.collect(Duration::from_millis(20)).expect_err("one hangs");
        assert_eq!(
            (error.cause, error.text.as_str()),
            (Cause::Hang, "thread w1 did not answer within 20 ms")
        );
        assert_eq!(team.owed(), 1);
        let start = Instant::now();
        drop(team);
        assert!(start.elapsed() < LEFT_WITHIN, "it was waited for");
        drop(open);
    }

    #[test]
    fn a_cpu_that_is_not_ours_is_denied() {
        let specs = [None, Some(60_000)].map(|cpu| (ThreadSpec::new("w", cpu), || Ok(())));
        let error = ThreadTeam::start(specs, "-p threads=").err().expect("no such CPU");
        assert_eq!(error.cause, Cause::Denied);
        assert!(error.text.starts_with("cannot pin a thread to CPU 60000: "), "{error}");
    }

    #[test]
    fn a_thread_that_cannot_be_started_is_told_with_the_limit_and_what_to_do() {
        let small = ThreadSpec::new("w", None).stack_bytes(256 << 10);
        // A stack as large as the address space is refused like a thread above the limit.
        let large = small.clone().stack_bytes(1 << 48);
        let specs = [small, large].map(|spec| (spec, || Ok(())));
        let error = ThreadTeam::start(specs, "-p threads=core").err().expect("no such stack");
        assert_eq!(error.cause, Cause::Denied);
        assert!(error.text.starts_with("cannot start thread 2 of 2: "), "{error}");
        assert!(error.text.contains("`ulimit -u` is "), "{error}");
        assert!(error.text.ends_with("raise them, or measure with -p threads=core"), "{error}");
    }
}
