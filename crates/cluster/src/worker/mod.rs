//! The process that runs one part of one trial.
//!
//! Three threads: `control` reads what the supervisor says and never blocks on the part; `part` runs the benchmark's
//! code; the main thread waits for it. What the part does to itself (crash, hang, panic, leave) is contained in this
//! process, and the supervisor sees it end.

mod control;
mod outbox;
mod phase_stop;
mod phases;
mod run;
mod sink;

pub use run::worker_main;
