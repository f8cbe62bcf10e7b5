//! Threads that do each operation together.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Barrier, Mutex, PoisonError};
use std::thread;

use seatrial_model::{Binding, Cause, Nanos};
use seatrial_sys::clock::now_ns;

use super::work::{Files, Operation, Pass};
use seatrial_bench::{Error, Stop};
use seatrial_bench::{Latencies, pin};

/// Part of the time left that files are made for in a round, as a divisor: the other operations need theirs.
const SHARE: u64 = 10;

/// Latencies by operation, in the order of [`Operation::ALL`].
pub type ByOperation = [Latencies; Operation::ALL.len()];

/// What all threads did of one operation of one round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Together {
    pub operation: Operation,
    /// When the first of them began.
    pub start: Nanos,
    /// When the last of them was done.
    pub end: Nanos,
    pub count: u64,
}

/// Runs rounds until `stop`; what was done whole.
///
/// # Errors
/// The first refusal of the file system.
pub fn run(
    by_thread: &mut [Files],
    bindings: &[Binding],
    most: u64,
    stop: &Stop,
    latencies: &mut ByOperation,
) -> Result<Vec<Together>, Error> {
    let (barrier, goes_on) = (Barrier::new(by_thread.len()), AtomicBool::new(true));
    let (failed, latencies) = (Mutex::new(None), Mutex::new(latencies));
    let lock = |error: Error| {
        failed.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
    };
    let has_failed = || failed.lock().unwrap_or_else(PoisonError::into_inner).is_some();
    let serve = |number: usize, files: &mut Files| {
        if let Some(binding) = bindings.get(number % bindings.len().max(1))
            && let Err(error) = pin(binding.cpu)
        {
            lock(error);
        }
        let mut rounds: Vec<Vec<Pass>> = Vec::new();
        loop {
            let mut passes = Vec::new();
            for (index, operation) in Operation::ALL.into_iter().enumerate() {
                // One decides for all, so that nobody waits for one that has left.
                if barrier.wait().is_leader() {
                    goes_on.store(!stop.is_over() && !has_failed(), Ordering::Release);
                }
                barrier.wait();
                if !goes_on.load(Ordering::Acquire) {
                    rounds.push(passes);
                    return rounds;
                }
                if operation == Operation::Create {
                    // Not before: what the end of a phase cut off still has to be cleaned up by its names.
                    files.next_round();
                }
                let left = stop.left().as_nanos() as u64;
                let until = Nanos(now_ns() + left / SHARE);
                match files.pass(operation, most, until, stop) {
                    Ok(pass) => passes.push(pass),
                    Err(error) => lock(error),
                }
                let mut all = latencies.lock().unwrap_or_else(PoisonError::into_inner);
                files.latencies.iter().for_each(|latency| all[index].record(Nanos(*latency)));
            }
            rounds.push(passes);
        }
    };
    let all: Vec<Vec<Vec<Pass>>> = thread::scope(|scope| {
        let serve = &serve;
        let threads: Vec<_> = by_thread
            .iter_mut()
            .enumerate()
            .map(|(number, files)| scope.spawn(move || serve(number, files)))
            .collect();
        threads.into_iter().map(thread::ScopedJoinHandle::join).collect::<Result<_, _>>()
    })
    .map_err(|_| Error::new(Cause::Crash, "a working thread is gone"))?;
    match failed.into_inner().unwrap_or_else(PoisonError::into_inner) {
        Some(error) => Err(error),
        None => Ok(together(&all)),
    }
}

/// Joins what the threads did, operation by operation; what one of them was cut off in is left out.
fn together(all: &[Vec<Vec<Pass>>]) -> Vec<Together> {
    let rounds = all.iter().map(Vec::len).min().unwrap_or(0);
    let mut joined = Vec::new();
    for round in 0..rounds {
        for (index, operation) in Operation::ALL.into_iter().enumerate() {
            let passes: Option<Vec<Pass>> = all
                .iter()
                .map(|thread| thread[round].get(index).copied().filter(|pass| !pass.is_cut))
                .collect();
            let Some(passes) = passes else { continue };
            let (Some(start), Some(end)) =
                (passes.iter().map(|pass| pass.start).min(), passes.iter().map(|pass| pass.end).max())
            else {
                continue;
            };
            let count = passes.iter().map(|pass| pass.count).sum();
            if count > 0 && end > start {
                joined.push(Together { operation, start, end, count });
            }
        }
    }
    joined
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_one_thread_was_cut_off_in_counts_for_none() {
        let pass = |operation, start, end, is_cut| Pass {
            operation,
            start: Nanos(start),
            end: Nanos(end),
            count: 5,
            is_cut,
        };
        let one = vec![vec![pass(Operation::Create, 10, 20, false), pass(Operation::Stat, 30, 40, false)]];
        let other = vec![vec![pass(Operation::Create, 12, 28, false), pass(Operation::Stat, 30, 40, true)]];
        let joined = together(&[one, other]);
        let wanted = Together { operation: Operation::Create, start: Nanos(10), end: Nanos(28), count: 10 };
        assert_eq!(joined, [wanted]);
    }
}
