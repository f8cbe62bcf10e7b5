//! One stream: its blocks, the work on them, and the check of their contents.

use seatrial_model::Integrity;
use seatrial_sys::memory::{MapError, Pages};

use super::pattern::{byte, fill, seed, word};
use super::permute::permute;
use super::ring::{last_writer, turn};
use super::scenario::{Operation, Step, Transpose};
use crate::check::Check;
use crate::kernel::{Arrays, Pass, PrefetchTrial};
use crate::slots::Prefetching;
use seatrial_bench::Held;

/// Bytes between sources and destinations: half a page, so that a load does not wait for a store to the same offset
/// in another page (4 KiB aliasing), as it would with blocks of whole pages.
const GAP: usize = 2048;

#[derive(Clone, Debug)]
pub struct StreamSpec<'a> {
    pub index: usize,
    pub step: &'a Step,
    pub station: u32,
    pub transpose: Transpose,
    pub blocks: u64,
    pub read: &'a Pass,
    /// Kinds of pages, by preference.
    pub pages: &'a [Pages],
    pub memory: Option<u32>,
}

#[derive(Debug)]
pub struct Stream {
    index: usize,
    name: String,
    operation: Operation,
    block: usize,
    blocks: u64,
    chunk: usize,
    stride: usize,
    read: Pass,
    trial: PrefetchTrial,
    held: Held,
    /// Expected fold of each source.
    folds: Vec<u64>,
    done: u64,
    wrong_folds: u64,
    first_wrong_fold: String,
}

impl Stream {
    /// Maps, binds, touches and fills the memory; call it on a thread that will use it.
    pub fn new(spec: &StreamSpec<'_>) -> Result<Self, MapError> {
        let &StreamSpec { index, step, station, transpose, blocks, read, pages, memory } = spec;
        let operation = step.operation;
        let block = step.block.get() as usize;
        let ring = blocks as usize * block;
        let bytes = if operation.touched() == 2 { 2 * ring + GAP } else { ring };
        let held = Held::take(bytes, pages, memory)?;
        let mut stream = Self {
            index,
            name: format!("step '{}' of station {station}", step.id),
            operation,
            block,
            blocks,
            chunk: transpose.chunk.get() as usize,
            stride: transpose.stride as usize,
            read: read.clone(),
            trial: PrefetchTrial::default(),
            held,
            folds: Vec::new(),
            done: 0,
            wrong_folds: 0,
            first_wrong_fold: String::new(),
        };
        stream.fill();
        Ok(stream)
    }

    fn fill(&mut self) {
        if !self.operation.reads() {
            return;
        }
        let words = self.block / size_of::<u64>();
        let sources = self.held.map.as_mut_slice::<u64>().chunks_exact_mut(words).take(self.blocks as usize);
        self.folds =
            (0..).zip(sources).map(|(source, words)| fill(words, seed(self.index, source))).collect();
    }

    /// Reads block after block with every kind of prefetch, where this stream only reads.
    pub fn try_prefetch(&mut self) -> bool {
        if self.operation != Operation::Read {
            return false;
        }
        let elements = self.block / size_of::<f64>();
        let mut sources = (0..self.blocks as usize).cycle();
        self.trial = PrefetchTrial::run(&self.read, |pass| {
            let source = sources.next().unwrap_or(0);
            let a = &mut self.held.map.as_mut_slice::<f64>()[source * elements..][..elements];
            pass.run(&mut Arrays { a, b: &mut [], c: &mut [] });
            self.block as u64
        });
        true
    }

    fn destinations(&self) -> usize {
        if self.operation.reads() { self.blocks as usize * self.block + GAP } else { 0 }
    }

    pub fn work(&mut self) {
        let at = turn(self.done, self.blocks);
        let (block, destinations) = (self.block, self.destinations());
        if self.operation == Operation::Read {
            self.fold(at.source as usize);
        } else {
            let (sources, destinations) = self.held.map.as_mut_slice::<u8>().split_at_mut(destinations);
            let destination = &mut destinations[at.destination as usize * block..][..block];
            let source = || &sources[at.source as usize * block..][..block];
            match self.operation {
                Operation::Copy => destination.copy_from_slice(source()),
                Operation::Transpose => permute(source(), destination, self.chunk, self.stride),
                Operation::Write | Operation::Read => destination.fill(byte(self.done)),
            }
        }
        self.done += 1;
    }

    fn fold(&mut self, source: usize) {
        let elements = self.block / size_of::<f64>();
        let a = &mut self.held.map.as_mut_slice::<f64>()[source * elements..][..elements];
        let found = self.read.run(&mut Arrays { a, b: &mut [], c: &mut [] });
        let expected = self.folds[source];
        if found != expected {
            if self.wrong_folds == 0 {
                self.first_wrong_fold =
                    format!("block {source} of {} folds to {found:#018x}, not {expected:#018x}", self.name);
            }
            self.wrong_folds += 1;
        }
    }

    /// Compares every word that the work left behind, and the results of the reads.
    pub fn verify(&self) -> Integrity {
        if self.wrong_folds > 0 {
            let (wrong, first) = (self.wrong_folds, self.first_wrong_fold.clone());
            return Integrity::Corrupt { wrong, of: self.done, first };
        }
        let mut check = Check::default();
        for place in 0..self.blocks {
            if self.operation == Operation::Read {
                let seed = seed(self.index, place);
                self.check(&mut check, 0, place, |index| word(seed, index));
            } else if let Some(number) = last_writer(place, self.blocks, self.done) {
                let seed = seed(self.index, turn(number, self.blocks).source);
                let expected = |index| match self.operation {
                    Operation::Write => u64::from_ne_bytes([byte(number); size_of::<u64>()]),
                    Operation::Transpose => word(seed, self.origin(index)),
                    Operation::Copy | Operation::Read => word(seed, index),
                };
                self.check(&mut check, self.destinations(), place, expected);
            }
        }
        check.integrity()
    }

    fn check(&self, check: &mut Check, start: usize, place: u64, expected: impl Fn(usize) -> u64) {
        let words = self.block / size_of::<u64>();
        let first = start / size_of::<u64>() + place as usize * words;
        let found = &self.held.map.as_slice::<u64>()[first..][..words];
        for (index, found) in found.iter().enumerate() {
            let expected = expected(index);
            check.word(*found == expected, || {
                let name = &self.name;
                format!("word {index} of block {place} of {name} is {found:#018x}, not {expected:#018x}")
            });
        }
    }

    fn origin(&self, index: usize) -> usize {
        let chunk = self.chunk / size_of::<u64>();
        let chunks = self.block / self.chunk;
        let to = index / chunk;
        if to < chunks { to * self.stride % chunks * chunk + index % chunk } else { index }
    }

    pub fn held(&self) -> &Held {
        &self.held
    }

    #[cfg(test)]
    pub fn flip(&mut self, index: usize) {
        self.held.map.as_mut_slice::<u64>()[index] ^= 1 << 13;
    }
}

impl Prefetching for Stream {
    fn trial(&self) -> &PrefetchTrial {
        &self.trial
    }

    fn take(&mut self, pass: &Pass) {
        self.read = pass.clone();
    }
}

#[cfg(test)]
mod tests {
    use seatrial_model::Bytes;

    use super::*;
    use crate::kernel::{Isa, Kernel};
    use crate::pipeline::fixture::step;

    const OPERATIONS: [Operation; 4] =
        [Operation::Read, Operation::Write, Operation::Copy, Operation::Transpose];

    fn stream(operation: Operation, blocks: u64) -> Stream {
        let isa = *Isa::available().last().expect("some instruction set");
        let read = Pass::select(Kernel::Read, None, isa).expect("a loop");
        let step = step("toy", operation, 4096, 1);
        let spec = StreamSpec {
            index: 5,
            step: &step,
            station: 2,
            // 9 chunks and a rest of 64 bytes.
            transpose: Transpose { chunk: Bytes(448), stride: 7 },
            blocks,
            read: &read,
            pages: &[Pages::Base],
            memory: None,
        };
        Stream::new(&spec).expect("a few pages")
    }

    #[test]
    fn every_operation_leaves_what_it_should_however_often_it_ran() {
        for operation in OPERATIONS {
            for blocks in [1, 3] {
                let mut stream = stream(operation, blocks);
                assert!(
                    operation == Operation::Read || matches!(stream.verify(), Integrity::Unverified { .. })
                );
                for done in 1..20 {
                    stream.work();
                    let integrity = stream.verify();
                    let whole = if operation == Operation::Read { blocks } else { blocks.min(done) };
                    assert_eq!(
                        integrity,
                        Integrity::Verified { checked: whole * 4096 },
                        "{operation:?} {done}"
                    );
                }
            }
        }
    }

    #[test]
    fn a_flipped_bit_of_what_was_written_is_found_and_named() {
        for operation in [Operation::Write, Operation::Copy, Operation::Transpose] {
            let mut stream = stream(operation, 2);
            stream.work();
            stream.work();
            let start = stream.destinations() / size_of::<u64>();
            stream.flip(start + 512 + 17);
            let Integrity::Corrupt { wrong: 1, of: 1024, first } = stream.verify() else {
                panic!("{operation:?}: {:?}", stream.verify());
            };
            assert!(first.starts_with("word 17 of block 1 of step 'toy' of station 2 is 0x"), "{first}");
        }
    }

    #[test]
    fn a_flipped_bit_of_a_source_is_found_by_reading_and_in_the_copy() {
        for operation in [Operation::Read, Operation::Copy, Operation::Transpose] {
            let mut stream = stream(operation, 1);
            stream.flip(40);
            stream.work();
            assert!(matches!(stream.verify(), Integrity::Corrupt { .. }), "{operation:?}");
        }
        let mut stream = stream(Operation::Read, 1);
        stream.flip(40);
        stream.work();
        let Integrity::Corrupt { first, .. } = stream.verify() else { panic!("unseen") };
        assert!(first.starts_with("block 0 of step 'toy' of station 2 folds to 0x"), "{first}");
    }

    #[test]
    fn a_copy_that_was_left_out_is_found() {
        let mut stream = stream(Operation::Copy, 3);
        (0..6).for_each(|_| stream.work());
        // As if the sixth block had been counted without being processed.
        stream.done += 1;
        assert!(matches!(stream.verify(), Integrity::Corrupt { .. }));
    }
}
