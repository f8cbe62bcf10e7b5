//! Pinned threads that work on their shards together, slice by slice.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

use seatrial_model::{Binding, Cause, Integrity, Nanos};
use seatrial_sys::clock;

use super::shard::{ArrayShard, ShardSpec};
use seatrial_bench::{Error, Stop};
use seatrial_bench::{Gate, pin};

/// What a thread is told to do.
enum Order {
    Make { slot: usize, spec: ShardSpec },
    Slice { slot: usize, gate: Arc<Gate>, span: Nanos, stop: Stop },
    Verify { slot: usize },
}

/// What a thread answers.
enum Answer {
    Made(Result<(), Error>),
    Ran(Ran),
    Verified(Integrity),
}

/// One thread's work in one slice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ran {
    /// The thread, by index.
    pub thread: usize,
    /// Start on the monotonic clock.
    pub start: Nanos,
    /// End on the same clock.
    pub end: Nanos,
    /// Bytes that the loop names.
    pub bytes: u64,
}

type ArrayShards = Arc<Vec<Mutex<Option<ArrayShard>>>>;

/// Threads, one for each binding, and the shards they work on.
pub struct BandwidthTeam {
    orders: Vec<Sender<Order>>,
    answers: Receiver<Answer>,
    threads: Vec<JoinHandle<()>>,
    shards: ArrayShards,
}

impl BandwidthTeam {
    /// Starts and pins a thread for each binding, with room for `slots` shards.
    ///
    /// # Errors
    /// When a thread cannot be started or pinned.
    pub fn start(bindings: &[Binding], slots: usize) -> Result<Self, Error> {
        let shards: ArrayShards = Arc::new((0..slots).map(|_| Mutex::new(None)).collect());
        let (answer, answers) = channel();
        let mut team = Self { orders: Vec::new(), answers, threads: Vec::new(), shards };
        for (index, binding) in bindings.iter().enumerate() {
            let (order, orders) = channel();
            let (cpu, answer, shards) = (binding.cpu, answer.clone(), Arc::clone(&team.shards));
            let name = format!("cpu{cpu}");
            let thread = std::thread::Builder::new()
                .name(name)
                .spawn(move || {
                    let pinned = pin(cpu);
                    let failed = pinned.is_err();
                    if answer.send(Answer::Made(pinned)).is_ok() && !failed {
                        work(index, &orders, &answer, &shards);
                    }
                })
                .map_err(|error| {
                    Error::new(Cause::Denied, format!("cannot start a thread for CPU {cpu}: {error}"))
                })?;
            team.threads.push(thread);
            team.orders.push(order);
        }
        team.gather_made(bindings.len())?;
        Ok(team)
    }

    /// Makes all shards, each by the thread that touches it first.
    ///
    /// # Errors
    /// When memory cannot be had.
    pub fn make(&self, specs: Vec<(usize, ShardSpec)>) -> Result<(), Error> {
        let count = specs.len();
        for (slot, (thread, spec)) in specs.into_iter().enumerate() {
            self.tell(thread, Order::Make { slot, spec })?;
        }
        self.gather_made(count)
    }

    /// Lets `team` (thread and slot by index) run together for `span`.
    ///
    /// # Errors
    /// When a thread is gone.
    pub fn slice(&self, team: &[(usize, usize)], span: Nanos, stop: &Stop) -> Result<Vec<Ran>, Error> {
        let gate = Arc::new(Gate::new(team.len()));
        for (thread, slot) in team {
            self.tell(
                *thread,
                Order::Slice { slot: *slot, gate: Arc::clone(&gate), span, stop: stop.clone() },
            )?;
        }
        let mut all = Vec::with_capacity(team.len());
        for _ in team {
            if let Answer::Ran(ran) = self.hear()? {
                all.push(ran);
            }
        }
        all.sort_unstable_by_key(|ran| ran.thread);
        Ok(all)
    }

    /// Checks all shards, `threads` saying who checks which slot.
    ///
    /// # Errors
    /// When a thread is gone.
    pub fn verify(&self, threads: impl IntoIterator<Item = usize>) -> Result<Vec<Integrity>, Error> {
        let mut count = 0;
        for (slot, thread) in threads.into_iter().enumerate() {
            self.tell(thread, Order::Verify { slot })?;
            count += 1;
        }
        let mut all = Vec::with_capacity(count);
        for _ in 0..count {
            if let Answer::Verified(integrity) = self.hear()? {
                all.push(integrity);
            }
        }
        Ok(all)
    }

    /// Looks at every shard.
    pub fn look<T>(&self, at: impl FnMut(&ArrayShard) -> T) -> Vec<T> {
        self.look_at_all(|shards| shards.iter().copied().map(at).collect())
    }

    /// Looks at all shards together.
    pub fn look_at_all<T>(&self, at: impl FnOnce(&[&ArrayShard]) -> T) -> T {
        let locks: Vec<_> =
            self.shards.iter().map(|shard| shard.lock().unwrap_or_else(PoisonError::into_inner)).collect();
        let shards: Vec<&ArrayShard> = locks.iter().filter_map(|shard| shard.as_ref()).collect();
        at(&shards)
    }

    fn gather_made(&self, count: usize) -> Result<(), Error> {
        let mut first = Ok(());
        for _ in 0..count {
            if let Answer::Made(made) = self.hear()? {
                first = first.and(made);
            }
        }
        first
    }

    fn tell(&self, thread: usize, order: Order) -> Result<(), Error> {
        self.orders[thread].send(order).map_err(|_| gone())
    }

    fn hear(&self) -> Result<Answer, Error> {
        self.answers.recv().map_err(|_| gone())
    }
}

impl Drop for BandwidthTeam {
    fn drop(&mut self) {
        // Threads end when nobody can give them orders any more.
        self.orders.clear();
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}

fn gone() -> Error {
    Error::new(Cause::Crash, "a measuring thread is gone")
}

fn work(thread: usize, orders: &Receiver<Order>, answer: &Sender<Answer>, shards: &ArrayShards) {
    while let Ok(order) = orders.recv() {
        let lock = |slot: usize| shards[slot].lock().unwrap_or_else(PoisonError::into_inner);
        let said = match order {
            Order::Make { slot, spec } => Answer::Made(match ArrayShard::new(&spec) {
                Ok(shard) => {
                    *lock(slot) = Some(shard);
                    Ok(())
                }
                Err(error) => {
                    Err(Error::new(Cause::NoSpace, format!("cannot take memory for the arrays: {error}")))
                }
            }),
            Order::Slice { slot, gate, span, stop } => {
                let mut guard = lock(slot);
                gate.pass();
                Answer::Ran(run(thread, guard.as_mut(), span, &stop))
            }
            Order::Verify { slot } => {
                let nothing = || Integrity::Unverified { why: "the piece was never made".to_owned() };
                Answer::Verified(lock(slot).as_mut().map_or_else(nothing, ArrayShard::verify))
            }
        };
        if answer.send(said).is_err() {
            return;
        }
    }
}

fn run(thread: usize, shard: Option<&mut ArrayShard>, span: Nanos, stop: &Stop) -> Ran {
    let start = Nanos(clock::now_ns());
    let mut ran = Ran { thread, start, end: start, bytes: 0 };
    let Some(shard) = shard else { return ran };
    loop {
        ran.bytes += shard.step();
        ran.end = Nanos(clock::now_ns());
        if ran.end.since(start) >= span || stop.is_over() {
            return ran;
        }
    }
}
