//! Pinned threads that work on their pieces together, slice by slice.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

use seatrial_model::{Binding, Cause, Integrity, Nanos};
use seatrial_sys::clock;

use super::piece::{Piece, Recipe};
use crate::common::{Gate, pin};
use crate::{Error, Stop};

/// What a thread is told to do.
enum Order {
    Make { spot: usize, recipe: Recipe },
    Slice { spot: usize, gate: Arc<Gate>, span: Nanos, stop: Stop },
    Verify { spot: usize },
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

type Pieces = Arc<Vec<Mutex<Option<Piece>>>>;

/// Threads, one for each binding, and the pieces they work on.
pub struct BandwidthTeam {
    orders: Vec<Sender<Order>>,
    answers: Receiver<Answer>,
    threads: Vec<JoinHandle<()>>,
    pieces: Pieces,
}

impl BandwidthTeam {
    /// Starts and pins a thread for each binding, with room for `spots` pieces.
    ///
    /// # Errors
    /// When a thread cannot be started or pinned.
    pub fn start(bindings: &[Binding], spots: usize) -> Result<Self, Error> {
        let pieces: Pieces = Arc::new((0..spots).map(|_| Mutex::new(None)).collect());
        let (answer, answers) = channel();
        let mut team = Self { orders: Vec::new(), answers, threads: Vec::new(), pieces };
        for (index, binding) in bindings.iter().enumerate() {
            let (order, orders) = channel();
            let (cpu, answer, pieces) = (binding.cpu, answer.clone(), Arc::clone(&team.pieces));
            let name = format!("cpu{cpu}");
            let thread = std::thread::Builder::new()
                .name(name)
                .spawn(move || {
                    let pinned = pin(cpu);
                    let failed = pinned.is_err();
                    if answer.send(Answer::Made(pinned)).is_ok() && !failed {
                        work(index, &orders, &answer, &pieces);
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

    /// Makes all pieces, each by the thread that touches it first.
    ///
    /// # Errors
    /// When memory cannot be had.
    pub fn make(&self, recipes: Vec<(usize, Recipe)>) -> Result<(), Error> {
        let count = recipes.len();
        for (spot, (thread, recipe)) in recipes.into_iter().enumerate() {
            self.tell(thread, Order::Make { spot, recipe })?;
        }
        self.gather_made(count)
    }

    /// Lets `team` (thread and spot by index) run together for `span`.
    ///
    /// # Errors
    /// When a thread is gone.
    pub fn slice(&self, team: &[(usize, usize)], span: Nanos, stop: &Stop) -> Result<Vec<Ran>, Error> {
        let gate = Arc::new(Gate::new(team.len()));
        for (thread, spot) in team {
            self.tell(
                *thread,
                Order::Slice { spot: *spot, gate: Arc::clone(&gate), span, stop: stop.clone() },
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

    /// Checks all pieces, `threads` saying who checks which spot.
    ///
    /// # Errors
    /// When a thread is gone.
    pub fn verify(&self, threads: impl IntoIterator<Item = usize>) -> Result<Vec<Integrity>, Error> {
        let mut count = 0;
        for (spot, thread) in threads.into_iter().enumerate() {
            self.tell(thread, Order::Verify { spot })?;
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

    /// Looks at every piece.
    pub fn look<T>(&self, at: impl FnMut(&Piece) -> T) -> Vec<T> {
        self.look_at_all(|pieces| pieces.iter().copied().map(at).collect())
    }

    /// Looks at all pieces together.
    pub fn look_at_all<T>(&self, at: impl FnOnce(&[&Piece]) -> T) -> T {
        let locks: Vec<_> =
            self.pieces.iter().map(|piece| piece.lock().unwrap_or_else(PoisonError::into_inner)).collect();
        let pieces: Vec<&Piece> = locks.iter().filter_map(|piece| piece.as_ref()).collect();
        at(&pieces)
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

fn work(thread: usize, orders: &Receiver<Order>, answer: &Sender<Answer>, pieces: &Pieces) {
    while let Ok(order) = orders.recv() {
        let lock = |spot: usize| pieces[spot].lock().unwrap_or_else(PoisonError::into_inner);
        let said = match order {
            Order::Make { spot, recipe } => Answer::Made(match Piece::new(&recipe) {
                Ok(piece) => {
                    *lock(spot) = Some(piece);
                    Ok(())
                }
                Err(error) => {
                    Err(Error::new(Cause::NoSpace, format!("cannot take memory for the arrays: {error}")))
                }
            }),
            Order::Slice { spot, gate, span, stop } => {
                let mut guard = lock(spot);
                gate.pass();
                Answer::Ran(run(thread, guard.as_mut(), span, &stop))
            }
            Order::Verify { spot } => {
                let nothing = || Integrity::Unverified { why: "the piece was never made".to_owned() };
                Answer::Verified(lock(spot).as_mut().map_or_else(nothing, Piece::verify))
            }
        };
        if answer.send(said).is_err() {
            return;
        }
    }
}

fn run(thread: usize, piece: Option<&mut Piece>, span: Nanos, stop: &Stop) -> Ran {
    let start = Nanos(clock::now_ns());
    let mut ran = Ran { thread, start, end: start, bytes: 0 };
    let Some(piece) = piece else { return ran };
    loop {
        ran.bytes += piece.step();
        ran.end = Nanos(clock::now_ns());
        if ran.end.since(start) >= span || stop.is_over() {
            return ran;
        }
    }
}
