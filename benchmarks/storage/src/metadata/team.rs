//! Threads that do each operation together.

use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use seatrial_model::{Binding, Nanos, Reason};
use seatrial_sys::clock::now_ns;

use super::work::{Burst, FileOperation, Files, Pass};
use seatrial_bench::{Gate, Latencies, Stop, ThreadSpec, ThreadTeam};

/// Divisor of the remaining time: the part in which files may be created, because the other operations need time too.
const SHARE: u64 = 10;

pub type ByOperation = [Latencies; FileOperation::ALL.len()];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Together {
    pub operation: FileOperation,
    pub start: Nanos,
    pub end: Nanos,
    pub count: u64,
}

/// Runs rounds until `stop`; returns the complete operations.
pub fn run(
    by_thread: &mut [Files],
    bindings: &[Binding],
    most: u64,
    stop: &Stop,
    latencies: &mut ByOperation,
) -> Result<Vec<Together>, Reason> {
    let latencies = &Mutex::new(latencies);
    thread::scope(|scope| {
        let team = ThreadTeam::start_in(scope, threads(by_thread, bindings), "-p threads=")?;
        let mut joined = Vec::new();
        for (index, operation) in FileOperation::ALL.into_iter().enumerate().cycle() {
            if stop.is_over() {
                break;
            }
            let gate = Gate::new(team.len());
            let passes = team.all(move |_, files| {
                if operation == FileOperation::Create {
                    // Only now: files of a round that was cut off are removed by their names.
                    files.next_round();
                }
                gate.pass();
                let left = stop.left().as_nanos() as u64;
                let until = Nanos(now_ns() + left / SHARE);
                let pass = files.pass(operation, most, until, stop)?;
                keep(latencies, index, files);
                Ok(pass)
            })?;
            joined.extend(together(&passes));
        }
        Ok(joined)
    })
}

/// Operations of a thread in a slot.
pub struct Slot {
    pub operation: FileOperation,
    pub thread: usize,
    pub slices: Vec<Burst>,
}

/// Runs one round in which each operation has an equal share of the time until `stop`, at the same time on all nodes that
/// begin at one moment. No node waits for another.
pub fn run_in_slots(
    by_thread: &mut [Files],
    bindings: &[Binding],
    most: u64,
    stop: &Stop,
    latencies: &mut ByOperation,
) -> Result<Vec<Slot>, Reason> {
    let latencies = &Mutex::new(latencies);
    let (start, share) = (now_ns(), stop.left().as_nanos() as u64 / FileOperation::ALL.len() as u64);
    thread::scope(|scope| {
        let team = ThreadTeam::start_in(scope, threads(by_thread, bindings), "-p threads=")?;
        let mut slots = Vec::new();
        for (index, operation) in FileOperation::ALL.into_iter().enumerate() {
            let begin = Nanos(start + share * index as u64);
            let by_thread = team.all(move |_, files| {
                if operation == FileOperation::Create {
                    files.next_round();
                }
                stop.rest(Duration::from_nanos(begin.since(Nanos(now_ns())).get()));
                let slices = files.repeat(operation, most, begin.plus(Nanos(share)), stop)?;
                keep(latencies, index, files);
                Ok(slices)
            })?;
            let of_threads = by_thread.into_iter().enumerate();
            slots.extend(of_threads.map(|(thread, slices)| Slot { operation, thread, slices }));
        }
        Ok(slots)
    })
}

fn threads<'a>(
    by_thread: &'a mut [Files],
    bindings: &[Binding],
) -> impl Iterator<Item = (ThreadSpec, impl FnOnce() -> Result<&'a mut Files, Reason> + Send)> {
    by_thread.iter_mut().enumerate().map(|(number, files)| {
        let cpu = bindings.get(number % bindings.len().max(1)).map(|binding| binding.cpu);
        (ThreadSpec::new(format!("files{number}"), cpu), move || Ok(files))
    })
}

fn keep(latencies: &Mutex<&mut ByOperation>, operation: usize, files: &Files) {
    let mut all = latencies.lock().unwrap_or_else(PoisonError::into_inner);
    files.latencies.iter().for_each(|latency| all[operation].record(Nanos(*latency)));
}

fn together(passes: &[Pass]) -> Option<Together> {
    let operation = passes.first()?.operation;
    let (start, end) =
        (passes.iter().map(|pass| pass.start).min()?, passes.iter().map(|pass| pass.end).max()?);
    let count = passes.iter().map(|pass| pass.count).sum();
    let is_whole = passes.iter().all(|pass| !pass.is_cut) && count > 0 && end > start;
    is_whole.then_some(Together { operation, start, end, count })
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
        let create = [pass(FileOperation::Create, 10, 20, false), pass(FileOperation::Create, 12, 28, false)];
        let wanted =
            Together { operation: FileOperation::Create, start: Nanos(10), end: Nanos(28), count: 10 };
        assert_eq!(together(&create), Some(wanted));
        assert_eq!(
            together(&[pass(FileOperation::Stat, 30, 40, false), pass(FileOperation::Stat, 30, 40, true)]),
            None
        );
    }
}
