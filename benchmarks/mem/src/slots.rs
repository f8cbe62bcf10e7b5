//! What the threads of a team work on: each slot is made by a thread, on its own node, and later used and checked.

use std::sync::{Mutex, MutexGuard, PoisonError};

use seatrial_bench::no_memory;
use seatrial_model::{Integrity, Reason};
use seatrial_sys::memory::MapError;

use crate::kernel::{Pass, PrefetchTrial};

pub struct Slots<T>(Vec<Mutex<Option<T>>>);

impl<T> Slots<T> {
    /// Slots that are not made yet.
    pub fn new(count: usize) -> Self {
        Self((0..count).map(|_| Mutex::new(None)).collect())
    }

    /// Keeps what was made for a slot; `what` names its memory in the error.
    pub fn make(&self, slot: usize, made: Result<T, MapError>, what: &str) -> Result<(), Reason> {
        *self.lock(slot) = Some(made.map_err(no_memory(what))?);
        Ok(())
    }

    /// Waits for the thread that works on the slot.
    pub fn lock(&self, slot: usize) -> MutexGuard<'_, Option<T>> {
        self.0[slot].lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn verify(&self, slot: usize, check: impl FnOnce(&mut T) -> Integrity) -> Integrity {
        let nothing = || Integrity::Unverified { why: "the memory was never made".to_owned() };
        self.lock(slot).as_mut().map_or_else(nothing, check)
    }

    /// Applies `with` to all that was made. Waits for the threads that work.
    pub fn look<R>(&self, with: impl FnOnce(&[&T]) -> R) -> R {
        let locks: Vec<_> = (0..self.0.len()).map(|slot| self.lock(slot)).collect();
        let all: Vec<&T> = locks.iter().filter_map(|slot| slot.as_ref()).collect();
        with(&all)
    }
}

/// What has tried its loop with every kind of prefetch, and works with one.
pub trait Prefetching {
    fn trial(&self) -> &PrefetchTrial;

    fn take(&mut self, pass: &Pass);
}

impl<T: Prefetching> Slots<T> {
    /// The trials of all together.
    pub fn trial(&self) -> PrefetchTrial {
        self.look(|all| PrefetchTrial::sum(all.iter().map(|one| one.trial())))
    }

    /// Has all work with the prefetch that was fastest over all of them.
    pub fn take_fastest(&self) {
        let trial = self.trial();
        let Some(pass) = trial.fastest() else { return };
        for slot in 0..self.0.len() {
            if let Some(one) = self.lock(slot).as_mut() {
                one.take(pass);
            }
        }
    }
}
