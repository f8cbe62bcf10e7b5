//! State that all threads of a worker share: the streams, and which threads work on them.

use seatrial_model::{Integrity, Reason};
use seatrial_sys::memory::Pages;

use super::layout::{Group, PipelineLayout};
use super::scenario::Scenario;
use super::stream::{Stream, StreamSpec};
use crate::kernel::Pass;
use crate::slots::Slots;

pub struct Shared {
    pub scenario: Scenario,
    pub layout: PipelineLayout,
    pub read: Pass,
    /// One per stream of the layout. Never contended: a stream at work is in no queue.
    pub streams: Slots<Stream>,
    blocks: Vec<u64>,
    pages: Vec<Pages>,
    /// Group of every thread, and its index there.
    duties: Vec<(usize, usize)>,
}

impl Shared {
    /// Streams that are not made yet; `blocks` has the number of blocks of each step.
    pub fn new(
        scenario: Scenario,
        layout: PipelineLayout,
        blocks: Vec<u64>,
        pages: Vec<Pages>,
        read: Pass,
    ) -> Self {
        let streams = Slots::new(layout.streams.len());
        let duties = layout.groups.iter().enumerate();
        let duties =
            duties.flat_map(|(group, of)| (0..of.threads.len()).map(move |nth| (group, nth))).collect();
        Self { scenario, layout, read, streams, blocks, pages, duties }
    }

    pub fn group_of(&self, thread: usize) -> usize {
        self.duties[thread].0
    }

    fn own(&self, thread: usize) -> (&Group, impl Iterator<Item = usize> + '_) {
        let (group, nth) = self.duties[thread];
        let group = &self.layout.groups[group];
        (group, group.streams.iter().copied().skip(nth).step_by(group.threads.len()))
    }

    /// Makes the streams of a thread, on that thread, so that first touch places their memory on its node.
    pub fn make(&self, thread: usize) -> Result<(), Reason> {
        let (group, own) = self.own(thread);
        for index in own {
            let at = self.layout.streams[index];
            let spec = StreamSpec {
                index,
                step: &self.scenario.steps[at.step],
                station: at.station,
                transpose: self.scenario.transpose,
                blocks: self.blocks[at.step],
                read: &self.read,
                pages: &self.pages,
                memory: group.memory,
            };
            self.streams.make(index, Stream::new(&spec), "memory for the blocks")?;
        }
        // One stream of each thread tells.
        let (_, mut own) = self.own(thread);
        own.any(|index| self.streams.lock(index).as_mut().is_some_and(Stream::try_prefetch));
        Ok(())
    }

    pub fn work(&self, index: usize) {
        if let Some(stream) = self.streams.lock(index).as_mut() {
            stream.work();
        }
    }

    pub fn verify(&self, thread: usize) -> Vec<(usize, Integrity)> {
        let check = |index| (index, self.streams.verify(index, |stream| stream.verify()));
        self.own(thread).1.map(check).collect()
    }
}
