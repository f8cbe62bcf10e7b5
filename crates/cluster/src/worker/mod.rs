//! The process that runs one part of one trial.
//!
//! Three threads: `control` reads the supervisor's messages and never blocks on the part; `part` runs the benchmark;
//! the main thread waits for the part. Crashes, hangs and panics stay in this process.

mod control;
mod outbox;
mod phase_stop;
mod phases;
mod run;
mod sink;

pub use run::worker_main;
