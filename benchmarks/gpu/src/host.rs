//! Pinned host memory for copies: on a NUMA node, touched, with its placement verified.

use std::sync::Arc;

use seatrial_model::{Cause, Reason};
use seatrial_sys::gpu::PinnedMemory;
use seatrial_sys::memory::Pages;

use super::Device;
use super::pattern::{Pattern, Wrong};
use seatrial_bench::{Held, evidence_of_pages, evidence_of_place, no_memory};

#[derive(Debug)]
pub struct Block {
    pub memory: Arc<PinnedMemory>,
    /// NUMA placement of its pages, read before pinning, after which they cannot move.
    pub place: serde_json::Value,
    pub pages: serde_json::Value,
}

impl Block {
    /// Allocates `bytes` on `node`, fills them with `pattern`, and pins them.
    pub fn take(
        device: &Device,
        bytes: usize,
        pages: &[Pages],
        node: Option<u32>,
        pattern: Pattern,
    ) -> Result<Self, Reason> {
        let mut held = Held::take(bytes, pages, node).map_err(no_memory("host memory"))?;
        pattern.fill(held.map.as_mut_slice());
        let (place, pages) = (evidence_of_place([&held]), evidence_of_pages([&held]));
        let memory = PinnedMemory::pin(&device.gpu, held.map).map_err(|error| {
            let mut told = device.refused("pinning host memory")(error);
            // Whatever the driver calls a limit of the host, it never means the device's memory.
            told.text
                .push_str("; the host may limit the memory that a process pins (ulimit -l, control group)");
            told
        })?;
        Ok(Self { memory, place, pages })
    }

    pub fn check_first(&mut self, pattern: Pattern, count: usize) -> Result<Option<Wrong>, Reason> {
        let words = PinnedMemory::words(&mut self.memory).ok_or_else(busy)?;
        Ok(pattern.check(&words[..count.min(words.len())]))
    }

    pub fn fill(&mut self, pattern: Pattern) -> Result<(), Reason> {
        PinnedMemory::words_mut(&mut self.memory).map(|words| pattern.fill(words)).ok_or_else(busy)
    }
}

fn busy() -> Reason {
    Reason::new(Cause::Protocol, "memory was to be checked while a stream may still use it")
}
