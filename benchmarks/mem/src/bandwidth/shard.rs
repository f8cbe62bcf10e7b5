//! One thread's share of every array: its memory, the loop's position in it, and the check of the data.

use seatrial_model::Integrity;
use seatrial_sys::memory::{MapError, Pages};

use crate::kernel::{Arrays, Check, Pass};
use seatrial_bench::Held;

/// Elements that the loop works on between two looks at the clock: 4 MiB of each array, a fraction of a millisecond.
const BLOCK: usize = (4 << 20) / size_of::<f64>();

/// How a shard is to be made.
#[derive(Clone, Debug)]
pub struct ShardSpec {
    /// Elements of each array; a multiple of what the loop unrolls.
    pub elements: usize,
    pub pass: Pass,
    /// Kinds of pages in the order of preference.
    pub pages: Vec<Pages>,
    /// The node to bind to.
    pub memory: Option<u32>,
}

/// One thread's share of every array.
#[derive(Debug)]
pub struct ArrayShard {
    held: Vec<Held>,
    pass: Pass,
    elements: usize,
    /// Where the loop goes on.
    next: usize,
    /// What the loop folded since it last began at the start.
    fold: u64,
    /// Passes from start to end.
    passes: u64,
    /// Passes whose fold was not the expected one.
    wrong_folds: u64,
    /// The fold of a whole pass over untouched data.
    expected_fold: u64,
}

impl ArrayShard {
    /// Maps, binds, touches and fills. To be called on the pinned thread that will use it.
    ///
    /// # Errors
    /// When no memory can be had.
    pub fn new(spec: &ShardSpec) -> Result<Self, MapError> {
        let bytes = spec.elements * size_of::<f64>();
        let arrays = spec.pass.kernel().arrays();
        let mut held = Vec::with_capacity(arrays);
        for array in 0..arrays {
            // Arrays that start at the same offset in a large page would meet in the same cache sets and memory banks.
            held.push(Held::take(bytes + offset(array), &spec.pages, spec.memory)?);
        }
        let (pass, elements) = (spec.pass.clone(), spec.elements);
        let mut shard =
            Self { held, pass, elements, next: 0, fold: 0, passes: 0, wrong_folds: 0, expected_fold: 0 };
        if shard.is_on_base_pages() {
            shard.pass = shard.pass.on_base_pages();
        }
        let kernel = shard.pass.kernel();
        let mut whole = arrays_of(&mut shard.held, 0, elements);
        kernel.fill(&mut whole);
        shard.expected_fold = kernel.expected_fold(&whole);
        Ok(shard)
    }

    /// Whether most of the memory came in base pages, over which prefetching has to be done otherwise.
    fn is_on_base_pages(&self) -> bool {
        let maps = || self.held.iter().map(|held| &held.map);
        let shares: Option<Vec<f64>> = maps().map(|map| Some(map.residency().ok()?.huge_share())).collect();
        let share = shares.map(|shares| shares.iter().sum::<f64>() / shares.len().max(1) as f64);
        maps().next().is_none_or(|map| map.pages() == Pages::Base) || share.is_some_and(|share| share < 0.5)
    }

    /// How the loop that runs here prefetches.
    pub fn prefetch(&self) -> &'static str {
        self.pass.prefetch().name()
    }

    /// Runs the loop over the next block and returns the bytes that it names.
    pub fn step(&mut self) -> u64 {
        let end = (self.next + BLOCK).min(self.elements);
        let mut block = arrays_of(&mut self.held, self.next, end);
        self.fold ^= self.pass.run(&mut block);
        let done = end - self.next;
        self.next = end;
        if end == self.elements {
            self.passes += 1;
            self.wrong_folds += u64::from(self.pass.kernel().folds() && self.fold != self.expected_fold);
            self.fold = 0;
            self.next = 0;
        }
        (done * self.pass.kernel().counted_bytes_per_element()) as u64
    }

    /// Passes from start to end so far.
    pub fn passes(&self) -> u64 {
        self.passes
    }

    /// Compares every element with its exact expected value.
    pub fn verify(&mut self) -> Integrity {
        if self.passes == 0 {
            return Integrity::Unverified { why: "the loop never reached the end of the arrays".to_owned() };
        }
        if self.wrong_folds > 0 {
            let first = format!(
                "{} of {} passes read something else than was written",
                self.wrong_folds, self.passes
            );
            return Integrity::Corrupt { wrong: self.wrong_folds, of: self.passes, first };
        }
        let kernel = self.pass.kernel();
        let whole = arrays_of(&mut self.held, 0, self.elements);
        match kernel.check(&whole) {
            Check { wrong: 0, checked, .. } => {
                Integrity::Verified { checked: checked * size_of::<f64>() as u64 }
            }
            Check { wrong, checked, first } => Integrity::Corrupt { wrong, of: checked, first },
        }
    }

    /// The memory of every array.
    pub fn held(&self) -> &[Held] {
        &self.held
    }

    /// Flips one bit of one element of the last array that the loop writes or reads, so that a test can see the check
    /// catch it.
    #[cfg(test)]
    pub fn flip(&mut self, element: usize) {
        let map = &mut self.held.last_mut().expect("every loop has an array").map;
        let start = map.len() / size_of::<f64>() - self.elements;
        let word = &mut map.as_mut_slice::<u64>()[start + element];
        *word ^= 1 << 17;
    }
}

/// Bytes by which the array is moved against the start of its mapping.
const fn offset(array: usize) -> usize {
    array * crate::kernel::ARRAY_OFFSET_BYTES
}

/// The elements `start..end` of every array.
fn arrays_of(held: &mut [Held], start: usize, end: usize) -> Arrays<'_> {
    let mut slices = held.iter_mut().enumerate().map(|(array, held)| {
        let skip = offset(array) / size_of::<f64>();
        &mut held.map.as_mut_slice::<f64>()[skip + start..skip + end]
    });
    let mut next = || slices.next().unwrap_or_default();
    Arrays { a: next(), b: next(), c: next() }
}
