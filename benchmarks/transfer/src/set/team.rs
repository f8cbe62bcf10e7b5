//! Threads that take the files of a set one by one.

use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::{Scope, available_parallelism};

use seatrial_bench::{ThreadSpec, ThreadTeam};
use seatrial_model::Reason;

use super::make::PIECE;
use super::recipe::Recipe;

/// Threads where their number is not chosen.
const MOST: usize = 16;

/// Threads, each with a buffer for a piece of a file.
pub struct FileTeam<'a> {
    threads: ThreadTeam<'a, Vec<u8>>,
    files: u64,
}

impl<'scope> FileTeam<'scope> {
    pub fn start_in(
        scope: &'scope Scope<'scope, '_>,
        threads: Vec<ThreadSpec>,
        recipe: Recipe,
    ) -> Result<Self, Reason> {
        let buffer = recipe.size.clamp(1, PIECE as u64) as usize;
        let made = threads.into_iter().map(|spec| (spec, move || Ok(vec![0; buffer])));
        let threads = ThreadTeam::start_in(scope, made, "-p threads=")?;
        Ok(Self { threads, files: recipe.files })
    }

    /// One thread for each core, 16 at most, which run where the scheduler places them.
    pub fn unpinned(scope: &'scope Scope<'scope, '_>, recipe: Recipe) -> Result<Self, Reason> {
        let count = available_parallelism().map_or(1, usize::from).min(MOST);
        let specs = (0..count).map(|number| ThreadSpec::new(format!("files{number}"), None)).collect();
        Self::start_in(scope, specs, recipe)
    }

    /// Does `work` with each file; false when it was cut off.
    pub fn each(
        &self,
        work: impl Fn(u64, &mut [u8]) -> Result<bool, Reason> + Send + Sync + 'scope,
    ) -> Result<bool, Reason> {
        let (next, files) = (AtomicU64::new(0), self.files);
        let whole = self.threads.all(move |_, buffer| {
            loop {
                let number = next.fetch_add(1, Ordering::Relaxed);
                if number >= files {
                    return Ok(true);
                }
                if !work(number, buffer)? {
                    return Ok(false);
                }
            }
        })?;
        Ok(whole.into_iter().all(|is_whole| is_whole))
    }
}
