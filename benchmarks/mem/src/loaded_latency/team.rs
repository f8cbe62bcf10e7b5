//! The loaders: a pinned thread each, at a pace that all of them are told.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

use seatrial_model::{Binding, Cause, Integrity};
use seatrial_sys::clock::now_ns;

use super::load::{Load, LoadSpec};
use super::pace::{Pace, PaceCell, next_due};
use seatrial_bench::Error;
use seatrial_bench::pin;

/// Elements between two looks at the pace when flat out: 256 KiB of each array, so that the looks cost nothing.
pub const FLAT_BLOCK: usize = (256 << 10) / size_of::<f64>();

/// Elements of a paced block: 64 KiB of each array. Long against the start and the end of the loop, where the memory is
/// not kept busy (blocks of 16 KiB read half as fast as one long run); short, so that a paced load is a stream and not
/// a row of bursts with silence between them.
pub const PACED_BLOCK: usize = (64 << 10) / size_of::<f64>();

/// What a loader is told.
enum Order {
    /// Load until the pace is over.
    Load,
    Verify,
}

/// What a loader answers.
enum Answer {
    Ready(Result<(), Error>),
    Over,
    Verified(Integrity),
}

/// A counter with two cache lines for itself (the neighbour of a line is often fetched along with it).
#[derive(Debug, Default)]
#[repr(align(128))]
struct Counter(AtomicU64);

struct Shared {
    pace: PaceCell,
    /// Bytes moved, by loader.
    moved: Vec<Counter>,
    loads: Vec<Mutex<Option<Load>>>,
}

pub struct LoadTeam {
    shared: Arc<Shared>,
    orders: Vec<Sender<Order>>,
    answers: Receiver<Answer>,
    threads: Vec<JoinHandle<()>>,
    is_loading: bool,
}

impl LoadTeam {
    /// Starts and pins a thread for each binding, each with the arrays of its spec.
    ///
    /// # Errors
    /// When a thread cannot be started or pinned, or memory cannot be had.
    pub fn start(loaders: Vec<(Binding, LoadSpec)>) -> Result<Self, Error> {
        let shared = Arc::new(Shared {
            pace: PaceCell::new(Pace::Pause),
            moved: loaders.iter().map(|_| Counter::default()).collect(),
            loads: loaders.iter().map(|_| Mutex::new(None)).collect(),
        });
        let (answer, answers) = channel();
        let mut team = Self { shared, orders: Vec::new(), answers, threads: Vec::new(), is_loading: false };
        let count = loaders.len();
        for (index, (binding, spec)) in loaders.into_iter().enumerate() {
            let (order, orders) = channel();
            let (answer, shared, cpu) = (answer.clone(), Arc::clone(&team.shared), binding.cpu);
            let body = move || {
                let ready = pin(cpu).and_then(|()| make(&shared, index, &spec));
                let failed = ready.is_err();
                if answer.send(Answer::Ready(ready)).is_ok() && !failed {
                    work(&shared, index, &orders, &answer);
                }
            };
            let thread = std::thread::Builder::new().name(format!("cpu{cpu}")).spawn(body);
            team.threads.push(thread.map_err(|error| {
                Error::new(Cause::Denied, format!("cannot start a thread for CPU {cpu}: {error}"))
            })?);
            team.orders.push(order);
        }
        let mut first = Ok(());
        for _ in 0..count {
            if let Answer::Ready(ready) = team.hear()? {
                first = first.and(ready);
            }
        }
        first.map(|()| team)
    }

    pub fn len(&self) -> usize {
        self.threads.len()
    }

    /// Sets the pace, and sends the loaders to work if they are not at it.
    ///
    /// # Errors
    /// When a thread is gone.
    pub fn load(&mut self, pace: Pace) -> Result<(), Error> {
        self.shared.pace.set(pace);
        if !self.is_loading {
            self.tell(|| Order::Load)?;
            self.is_loading = true;
        }
        Ok(())
    }

    /// Waits until all loaders have stopped; only then can their arrays be looked at.
    ///
    /// # Errors
    /// When a thread is gone.
    pub fn halt(&mut self) -> Result<(), Error> {
        if self.is_loading {
            self.shared.pace.set(Pace::Over);
            for _ in &self.threads {
                self.hear()?;
            }
            self.is_loading = false;
        }
        Ok(())
    }

    /// Bytes that each has moved so far.
    pub fn moved(&self) -> impl Iterator<Item = u64> {
        self.shared.moved.iter().map(|counter| counter.0.load(Ordering::Relaxed))
    }

    /// Checks the arrays of all.
    ///
    /// # Errors
    /// When a thread is gone.
    pub fn verify(&mut self) -> Result<Vec<Integrity>, Error> {
        self.halt()?;
        self.tell(|| Order::Verify)?;
        let mut all = Vec::new();
        for _ in &self.threads {
            if let Answer::Verified(integrity) = self.hear()? {
                all.push(integrity);
            }
        }
        Ok(all)
    }

    /// Looks at the arrays of all. They must have stopped, or this waits for ever.
    pub fn look<T>(&self, at: impl FnOnce(&[&Load]) -> T) -> T {
        let locks: Vec<_> = (0..self.len()).map(|index| lock(&self.shared, index)).collect();
        let loads: Vec<&Load> = locks.iter().filter_map(|load| load.as_ref()).collect();
        at(&loads)
    }

    /// Flips a bit of one loader's array, so that a test can see the check catch it.
    #[cfg(test)]
    pub fn flip(&self, loader: usize, element: usize) {
        lock(&self.shared, loader).as_mut().expect("it was made").flip(element);
    }

    fn tell(&self, order: impl Fn() -> Order) -> Result<(), Error> {
        self.orders.iter().try_for_each(|orders| orders.send(order()).map_err(|_| gone()))
    }

    fn hear(&self) -> Result<Answer, Error> {
        self.answers.recv().map_err(|_| gone())
    }
}

impl Drop for LoadTeam {
    fn drop(&mut self) {
        self.shared.pace.set(Pace::Over);
        // Threads end when nobody can give them orders any more.
        self.orders.clear();
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}

fn gone() -> Error {
    Error::new(Cause::Crash, "a loading thread is gone")
}

fn lock(shared: &Shared, index: usize) -> std::sync::MutexGuard<'_, Option<Load>> {
    shared.loads[index].lock().unwrap_or_else(PoisonError::into_inner)
}

fn make(shared: &Shared, index: usize, spec: &LoadSpec) -> Result<(), Error> {
    let load = Load::new(spec).map_err(|error| {
        Error::new(Cause::NoSpace, format!("cannot take memory for a loader's arrays: {error}"))
    })?;
    *lock(shared, index) = Some(load);
    Ok(())
}

fn work(shared: &Shared, index: usize, orders: &Receiver<Order>, answer: &Sender<Answer>) {
    while let Ok(order) = orders.recv() {
        let mut guard = lock(shared, index);
        let Some(load) = guard.as_mut() else { return };
        let said = match order {
            Order::Load => {
                run(shared, index, load);
                Answer::Over
            }
            Order::Verify => Answer::Verified(load.verify()),
        };
        drop(guard);
        if answer.send(said).is_err() {
            return;
        }
    }
}

/// Loads at the pace that is told, until it is over.
fn run(shared: &Shared, index: usize, load: &mut Load) {
    let moved = &shared.moved[index].0;
    let mut step = |block| {
        moved.fetch_add(load.step(block), Ordering::Relaxed);
    };
    let (mut pace, mut due) = (Pace::Pause, 0);
    loop {
        let told = shared.pace.get();
        if let (Pace::Every(period), true) = (told, told != pace) {
            // Loaders begin one after the other, so that their blocks do not all come at once.
            due = now_ns() + period * index as u64 / shared.moved.len() as u64;
        }
        pace = told;
        match pace {
            Pace::Over => return,
            Pace::Pause => std::hint::spin_loop(),
            Pace::FlatOut => step(FLAT_BLOCK),
            Pace::Every(period) => {
                let now = now_ns();
                if now < due {
                    std::hint::spin_loop();
                } else {
                    step(PACED_BLOCK);
                    due = next_due(due, now, period);
                }
            }
        }
    }
}
