//! How a cell is copied: from pinned or from pageable memory.

use std::sync::Arc;

use seatrial_bench::Sink;
use seatrial_model::Reason;
use seatrial_sys::gpu::DeviceMemory;

use super::cell::{Cell, Grid};
use crate::Device;
use crate::copy::{CopyError, SliceTimes};
use crate::pattern::Wrong;

/// The device's blocks: target of copies to it, source of copies from it.
pub struct Blocks {
    pub target: Arc<DeviceMemory>,
    pub source: Arc<DeviceMemory>,
}

pub trait Copier: Send {
    /// Makes `copies` copies of a cell at least in each of its directions.
    fn copy(
        &mut self,
        blocks: &Blocks,
        device: &Device,
        cell: Cell,
        copies: usize,
        meanwhile: &mut dyn FnMut(),
    ) -> Result<SliceTimes, CopyError>;

    fn latencies(&mut self, _: &Device, _out: Option<&mut dyn Sink>) -> Result<(), Reason> {
        Ok(())
    }

    fn forget(&mut self) -> Result<(), Reason>;

    /// Checks the first words of the host's target number `memory`.
    fn check(&mut self, memory: usize, words: usize) -> Result<Option<Wrong>, Reason>;

    fn evidence(&self, grid: &Grid, out: &mut dyn Sink);
}
