//! Runs of a sound lab beside a busy program: nobody is to be blamed.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};

use super::judge::Judged;
use super::planted::{self, Planted};
use super::{Args, measured};
use crate::nodes::Nodes;

/// What the program takes of each CPU in the last run, in percent; in the first it takes nothing.
const MOST_PERCENT: u32 = 40;

/// It works for a part of each period and sleeps for the rest.
const PERIOD: Duration = Duration::from_millis(20);

/// Measures the sound lab so many times, each time beside a busier program, and counts the nodes that are blamed.
pub fn run(args: &Args, binary: &Path, times: u32) -> Result<()> {
    let is_of_lab = |fault: &Planted| fault.is_sound() && fault.script.is_none();
    let sound = planted::all().into_iter().find(is_of_lab).context("no fault is a sound lab")?;
    let nodes = Nodes::named("faults", args.nodes);
    println!("| run | taken of each CPU, % | blamed | cases | s |\n|---|---|---|---|---|");
    let mut blamed = Vec::new();
    for number in 0..times {
        let percent = percent(number, times);
        let busy = Busy::start(percent);
        let answer = measured(&nodes, binary, &sound, args.nodes);
        drop(busy);
        let (document, seconds) = answer?;
        let judged = Judged::of(&sound, &document, seconds);
        let own = judged.blamed();
        println!("| {} | {percent} | {} | {} | {seconds:.0} |", number + 1, own.join(" "), judged.cases);
        if !own.is_empty() {
            judged.said.iter().for_each(|line| println!("    {line}"));
            blamed.push(number + 1);
        }
    }
    println!("\n{times} healthy runs; sound nodes blamed in {}", blamed.len());
    Ok(())
}

/// From 0 to the most, in equal steps.
fn percent(number: u32, times: u32) -> u32 {
    MOST_PERCENT * number / times.saturating_sub(1).max(1)
}

/// A thread for each CPU that takes a part of it until it is dropped.
struct Busy {
    is_over: Arc<AtomicBool>,
    threads: Vec<JoinHandle<()>>,
}

impl Busy {
    fn start(percent: u32) -> Self {
        let is_over = Arc::new(AtomicBool::new(false));
        let cpus = std::thread::available_parallelism().map_or(1, usize::from);
        let works = PERIOD * percent / 100;
        let thread = || {
            let is_over = Arc::clone(&is_over);
            std::thread::spawn(move || {
                while !is_over.load(Ordering::Relaxed) {
                    let start = Instant::now();
                    while start.elapsed() < works {
                        std::hint::spin_loop();
                    }
                    std::thread::sleep(PERIOD - works);
                }
            })
        };
        let threads = (0..if percent > 0 { cpus } else { 0 }).map(|_| thread()).collect();
        Self { is_over, threads }
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
        for thread in self.threads.drain(..) {
            // It does nothing that can fail.
            _ = thread.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_program_takes_nothing_at_first_and_the_most_in_the_last_run() {
        assert_eq!([0, 1, 2, 3, 4].map(|number| percent(number, 5)), [0, 10, 20, 30, 40]);
        assert_eq!(percent(0, 1), 0);
        let busy = Busy::start(1);
        assert!(!busy.threads.is_empty());
        assert!(Busy::start(0).threads.is_empty());
    }
}
