//! The threads of a part, which move data from the warm-up on until they are ended: data does not pause between two phases,
//! so that no flow ends while another part still measures.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use seatrial_model::Reason;

use super::Transfer;
use crate::{Answers, Stop, ThreadTeam};

/// How often a phase checks whether a thread has failed.
const POLL_INTERVAL: Duration = Duration::from_millis(20);

/// Longest time for a thread to obey an order on a busy machine: its calls last 10 ms at most.
pub const OBEYED_WITHIN: Duration = Duration::from_secs(8);

/// Threads that move data lap by lap: each lap lasts until the next order.
pub struct LapTeam<S> {
    team: ThreadTeam<'static, S>,
    lap: Arc<Lap<S>>,
    /// Number of orders so far, which the loops read.
    orders: Arc<AtomicU32>,
    /// Transfers of the present lap, which arrive when it is over.
    transfers: Option<Answers<Transfer>>,
}

/// Moves data until an order follows the one of the given number.
type Lap<S> = dyn Fn(&mut S, &AtomicU32, u32) -> Result<Transfer, Reason> + Send + Sync;

impl<S: 'static> LapTeam<S> {
    pub fn new(
        team: ThreadTeam<'static, S>,
        lap: impl Fn(&mut S, &AtomicU32, u32) -> Result<Transfer, Reason> + Send + Sync + 'static,
    ) -> Self {
        Self { team, lap: Arc::new(lap), orders: Arc::new(AtomicU32::new(0)), transfers: None }
    }

    /// Moves data until `stop`, and goes on.
    ///
    /// # Errors
    /// Why a thread failed.
    pub fn warm_up(&mut self, stop: &Stop) -> Result<(), Reason> {
        self.turn()?;
        self.wait(stop)
    }

    /// Moves data until `stop`, and goes on; returns what each thread moved until then.
    ///
    /// # Errors
    /// Why a thread failed.
    pub fn measure(&mut self, stop: &Stop) -> Result<Vec<Transfer>, Reason> {
        self.warm_up(stop)?;
        self.turn()
    }

    /// Ends the present lap, and does `task` on each thread.
    ///
    /// # Errors
    /// Why a thread failed, in the lap or in the task, or that it did not end within `within`.
    pub fn end<T: Send + 'static>(
        &mut self,
        within: Duration,
        task: impl Fn(&mut S) -> Result<T, Reason> + Send + Sync + 'static,
    ) -> Result<Vec<T>, Reason> {
        let ended = self.order(move |state, _| task(state));
        // Transfers of the previous order, which only matter if one failed.
        self.transfers.take().map_or(Ok(Vec::new()), |laps| laps.collect(OBEYED_WITHIN))?;
        ended.collect(within)
    }

    /// Why another thread has failed, if one has.
    pub fn failure(&self) -> Option<Reason> {
        self.transfers.as_ref()?.check(Duration::ZERO).err()
    }

    /// Begins a lap, and returns the transfers of the previous one; empty the first time.
    fn turn(&mut self) -> Result<Vec<Transfer>, Reason> {
        let (orders, lap) = (Arc::clone(&self.orders), Arc::clone(&self.lap));
        let transfers = self.order(move |state, order| lap(state, &orders, order));
        self.transfers.replace(transfers).map_or(Ok(Vec::new()), |before| before.collect(OBEYED_WITHIN))
    }

    /// Ends the previous order and gives all threads a task with its number.
    fn order<T: Send + 'static>(
        &self,
        task: impl Fn(&mut S, u32) -> Result<T, Reason> + Send + Sync + 'static,
    ) -> Answers<T> {
        let order = self.orders.load(Ordering::Relaxed) + 1;
        let answers = self.team.begin(0..self.team.len(), move |_, state| task(state, order));
        self.orders.store(order, Ordering::Release);
        answers
    }

    fn wait(&self, stop: &Stop) -> Result<(), Reason> {
        while !stop.is_over() {
            match &self.transfers {
                Some(transfers) => transfers.check(stop.left().min(POLL_INTERVAL))?,
                None => stop.rest(POLL_INTERVAL),
            }
        }
        Ok(())
    }
}

impl<S> Drop for LapTeam<S> {
    fn drop(&mut self) {
        self.orders.store(u32::MAX, Ordering::Release);
    }
}
