//! Reads and writes files, by threads, block size and queue depth: the job, its files, its threads, its metrics.
//!
//! A request is submitted and timed in `work`, threads are started and told in `team`, `part` makes samples of what they
//! count, `reduce` makes metrics of the samples; with `steady=true` `rounds` does, a round as a trial.

mod access_pattern;
pub mod clients;
pub mod directory;
mod evidence;
pub mod files;
mod fixture;
mod held_back;
pub mod job;
pub mod limit;
mod made;
pub mod part;
pub mod plan;
pub mod reduce;
pub mod rounds;
pub mod specs;
mod steady;
pub mod team;
#[cfg(test)]
mod tests;
mod watch;
mod work;
