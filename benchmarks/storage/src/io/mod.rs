//! Reads and writes files, by threads, block size and queue depth: the job, its files, its threads, its metrics.

mod access_pattern;
mod account;
pub mod directory;
pub mod files;
mod fixture;
pub mod job;
pub mod limit;
mod made;
pub mod outcome;
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
