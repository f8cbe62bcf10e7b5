//! A gate that holds any number of streams on any number of devices and releases them at the same moment.
#![expect(unsafe_code, reason = "a word that devices read while the host writes it")]

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use super::{Gpu, GpuError, PinnedMemory};
use crate::memory::{MapRequest, Mapping, Pages, Place};

/// One word in pinned memory. Streams wait until its counter reaches their value.
#[derive(Debug)]
pub struct Gate {
    word: Arc<PinnedMemory>,
    wanted: AtomicU32,
}

impl Gate {
    /// A gate for streams of every device of this process; `gpu` is any one of these devices.
    pub fn new(gpu: &Gpu) -> Result<Arc<Self>, GpuError> {
        let bytes = rustix::param::page_size();
        let request = MapRequest { bytes, cap_bytes: bytes, pages: &[Pages::Base], place: Place::Local };
        let map = Mapping::map(&request).map_err(|_| GpuError::Refused {
            call: "mmap",
            code: 0,
            name: "a page for the gate".to_owned(),
            text: "cannot be had".to_owned(),
            fault: super::GpuFault::OutOfMemory,
        })?;
        Ok(Arc::new(Self { word: PinnedMemory::pin(gpu, map)?, wanted: AtomicU32::new(0) }))
    }

    pub fn close(&self) {
        self.wanted.store(self.word().load(Ordering::Acquire).wrapping_add(1), Ordering::Release);
    }

    pub fn open(&self) {
        self.word().store(self.wanted.load(Ordering::Acquire), Ordering::Release);
    }

    pub fn wanted(&self) -> u32 {
        self.wanted.load(Ordering::Acquire)
    }

    pub fn address(&self) -> u64 {
        self.word.address()
    }

    fn word(&self) -> &AtomicU32 {
        // SAFETY: the page is mapped, aligned and ours as long as `self.word` lives, and nobody looks at it otherwise.
        unsafe { &*(self.word.map().address() as *const AtomicU32) }
    }
}
