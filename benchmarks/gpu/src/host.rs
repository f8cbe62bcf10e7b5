//! Memory of the host that a GPU copies from and to: on a NUMA node, touched, its place proven, pinned.

use std::sync::Arc;

use seatrial_model::{Cause, Reason};
use seatrial_sys::gpu::{Gpu, PinnedMemory};
use seatrial_sys::memory::{MapError, Pages};

use super::pattern::Pattern;
use super::{fault, pattern};
use seatrial_bench::{Held, evidence_of_pages, evidence_of_place};

/// A block of pinned memory.
#[derive(Debug)]
pub struct Block {
    pub memory: Arc<PinnedMemory>,
    /// Where its pages lie, asked before they were pinned: they cannot move after.
    pub place: serde_json::Value,
    /// The kind of pages.
    pub pages: serde_json::Value,
}

impl Block {
    /// Takes `bytes` on `node`, filled with `pattern`, and pins them.
    pub fn take(
        gpu: &Gpu,
        address: &str,
        bytes: usize,
        pages: &[Pages],
        node: Option<u32>,
        pattern: Pattern,
    ) -> Result<Self, Reason> {
        let mut held = Held::take(bytes, pages, node).map_err(|error| no_memory(&error))?;
        pattern.fill(held.map.as_mut_slice());
        let (place, pages) = (evidence_of_place([&held]), evidence_of_pages([&held]));
        let memory = PinnedMemory::pin(gpu, held.map).map_err(|error| {
            let mut told = fault::preparing(address, "pinning memory of the host")(error);
            // Drivers call a limit of the host many names; it is never the device's memory.
            told.text.push_str("; the host may limit what one process pins (ulimit -l, control group)");
            told
        })?;
        Ok(Self { memory, place, pages })
    }

    /// Of the first `count` words those that are not of `pattern`.
    pub fn check_first(&mut self, pattern: Pattern, count: usize) -> Result<Option<pattern::Wrong>, Reason> {
        let words = PinnedMemory::words(&mut self.memory).ok_or_else(busy)?;
        Ok(pattern.check(&words[..count.min(words.len())]))
    }

    /// Fills it anew.
    pub fn fill(&mut self, pattern: Pattern) -> Result<(), Reason> {
        PinnedMemory::words_mut(&mut self.memory).map(|words| pattern.fill(words)).ok_or_else(busy)
    }
}

fn busy() -> Reason {
    Reason::new(Cause::Protocol, "memory was to be looked at while a stream may still use it")
}

fn no_memory(error: &MapError) -> Reason {
    Reason::new(Cause::NoSpace, format!("memory of the host: {error}"))
}
