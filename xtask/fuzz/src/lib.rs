//! Fuzz targets: every parser of what others wrote, as a function over bytes. `cargo xtask fuzz` runs them under
//! libFuzzer; the tests of this crate run them over the kept corpus without it.
#![expect(clippy::print_stderr, reason = "beside what libFuzzer prints")]

pub mod allocation;
#[cfg(feature = "engine")]
pub mod engine;
mod files;
mod targets;

use std::time::{Duration, Instant};

pub use targets::TARGETS;

/// A parser, or several that read the same sort of text.
#[derive(Clone, Copy, Debug)]
pub struct Target {
    /// Its name, and that of the folder of its corpus.
    pub name: &'static str,
    /// Reads one input. A panic is a finding.
    pub run: fn(&[u8]),
    /// Bytes of an input at most.
    pub longest: usize,
    /// Bytes that an input may have allocated at once at most: several times what was seen in some millions of runs, so that
    /// what grows with a number in the input, and not with its length, is found.
    pub most_allocated: usize,
}

/// The target of this name.
pub fn target(name: &str) -> Option<&'static Target> {
    TARGETS.iter().find(|target| target.name == name)
}

/// Processor time that one input may take: a person at a terminal does not wait longer without asking what hangs.
const LONGEST: Duration = Duration::from_secs(1);

impl Target {
    /// Reads one input, and returns how many bytes it had allocated at once.
    ///
    /// # Panics
    /// When the parser does, or takes too much memory or time.
    pub fn read(&self, input: &[u8]) -> usize {
        let started = Instant::now();
        let peak = allocation::within(self.most_allocated, || (self.run)(input));
        if started.elapsed() > LONGEST {
            // Others may have had the processor; asking for its time each time would take longer than most inputs.
            let before = processor_time();
            (self.run)(input);
            let taken = processor_time().saturating_sub(before);
            assert!(taken <= LONGEST, "one input took {} ms of processor time", taken.as_millis());
        }
        peak
    }
}

fn processor_time() -> Duration {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Duration::try_from(now).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[test]
    fn every_input_that_is_kept_is_read_within_its_bounds() {
        for target in TARGETS {
            let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus").join(target.name);
            let inputs: Vec<_> = std::fs::read_dir(&folder).expect("a corpus").flatten().collect();
            assert!(!inputs.is_empty(), "{}", folder.display());
            for input in inputs {
                let bytes = std::fs::read(input.path()).expect("an input");
                assert!(bytes.len() <= target.longest, "{} is too long", input.path().display());
                target.read(&bytes);
            }
        }
    }

    #[test]
    #[should_panic(expected = "allocated more than 1000 B at once")]
    fn an_input_that_allocates_more_than_its_bound_is_a_finding() {
        let run = |input: &[u8]| drop(input.repeat(11));
        Target { name: "greedy", run, longest: 100, most_allocated: 1000 }.read(&[7; 100]);
    }

    #[test]
    #[should_panic(expected = "ms of processor time")]
    fn an_input_that_takes_more_than_a_second_is_a_finding() {
        let run = |_: &[u8]| {
            // Of processor time, of which a busy machine gives less than what the clock shows.
            let end = processor_time() + LONGEST * 3 / 2;
            while processor_time() < end {}
        };
        Target { name: "slow", run, longest: 1, most_allocated: 1 }.read(&[]);
    }
}
