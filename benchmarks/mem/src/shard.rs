//! One thread's share of every array: its memory, the loop's position, and the check of the data.

use seatrial_model::Integrity;
use seatrial_sys::memory::{MapError, Pages};

use crate::kernel::{ARRAY_OFFSET_BYTES, Arrays, ELEMENTS_MULTIPLE, Pass, PrefetchTrial};
use crate::slots::Prefetching;
use seatrial_bench::Held;

#[derive(Clone, Debug)]
pub struct ShardSpec {
    /// Elements of each array; a multiple of the loop's turn.
    pub elements: usize,
    pub pass: Pass,
    /// Kinds of pages, by preference.
    pub pages: Vec<Pages>,
    pub memory: Option<u32>,
}

impl ShardSpec {
    /// A shard of arrays of `array` bytes each, which `threads` threads share; on no node yet.
    pub fn new(array: u64, threads: usize, pass: Pass, pages: Vec<Pages>) -> Self {
        let elements = array as usize / threads / size_of::<f64>();
        Self { elements: elements / ELEMENTS_MULTIPLE * ELEMENTS_MULTIPLE, pass, pages, memory: None }
    }

    /// Bytes of all arrays.
    pub fn bytes(&self) -> u64 {
        (self.elements * size_of::<f64>() * self.pass.kernel().arrays()) as u64
    }
}

/// Elements between two looks at the clock while kinds of prefetch are tried: 1 MiB of each array.
const TRIAL_BLOCK: usize = (1 << 20) / size_of::<f64>();

#[derive(Debug)]
pub struct ArrayShard {
    held: Vec<Held>,
    pass: Pass,
    elements: usize,
    next: usize,
    fold: u64,
    passes: u64,
    wrong_folds: u64,
    /// The fold of a whole pass over correct data.
    expected_fold: u64,
    trial: PrefetchTrial,
}

impl ArrayShard {
    /// Maps, binds, touches and fills the memory; call it on the pinned thread that will use it.
    pub fn new(spec: &ShardSpec) -> Result<Self, MapError> {
        let bytes = spec.elements * size_of::<f64>();
        let arrays = spec.pass.kernel().arrays();
        let mut held = Vec::with_capacity(arrays);
        for array in 0..arrays {
            // Arrays at equal offsets in large pages would share cache sets and memory banks.
            held.push(Held::take(bytes + offset(array), &spec.pages, spec.memory)?);
        }
        let (pass, elements) = (spec.pass.clone(), spec.elements);
        let trial = PrefetchTrial::default();
        let mut shard = Self {
            held,
            pass,
            elements,
            next: 0,
            fold: 0,
            passes: 0,
            wrong_folds: 0,
            expected_fold: 0,
            trial,
        };
        shard.pass.kernel().fill(&mut arrays_of(&mut shard.held, 0, elements));
        shard.trial = shard.try_prefetch();
        // Anew: only the loop that is measured may leave what the check looks for.
        let kernel = shard.pass.kernel();
        let mut whole = arrays_of(&mut shard.held, 0, elements);
        kernel.fill(&mut whole);
        shard.expected_fold = kernel.expected_fold(&whole);
        Ok(shard)
    }

    /// Runs the loop with every kind of prefetch; no loop changes what it reads.
    fn try_prefetch(&mut self) -> PrefetchTrial {
        let mut from = 0;
        PrefetchTrial::run(&self.pass, |pass| {
            let to = (from + TRIAL_BLOCK).min(self.elements);
            pass.run(&mut arrays_of(&mut self.held, from, to));
            let done = to - from;
            from = if to == self.elements { 0 } else { to };
            (done * pass.kernel().counted_bytes_per_element()) as u64
        })
    }

    /// Runs the loop over the next `block` elements, fewer at the end of the arrays; returns the counted bytes.
    pub fn step(&mut self, block: usize) -> u64 {
        let end = (self.next + block).min(self.elements);
        self.fold ^= self.pass.run(&mut arrays_of(&mut self.held, self.next, end));
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

    pub fn bytes(&self) -> u64 {
        (self.elements * self.pass.kernel().counted_bytes_per_element()) as u64
    }

    pub fn passes(&self) -> u64 {
        self.passes
    }

    pub fn verify(&mut self) -> Integrity {
        if self.passes == 0 {
            return Integrity::Unverified { why: "the loop never reached the end of the arrays".to_owned() };
        }
        if self.wrong_folds > 0 {
            let first =
                format!("{} of {} passes read other data than was written", self.wrong_folds, self.passes);
            return Integrity::Corrupt { wrong: self.wrong_folds, of: self.passes, first };
        }
        let kernel = self.pass.kernel();
        kernel.check(&arrays_of(&mut self.held, 0, self.elements)).integrity()
    }

    pub fn held(&self) -> &[Held] {
        &self.held
    }

    #[cfg(test)]
    pub fn flip(&mut self, element: usize) {
        let map = &mut self.held.last_mut().expect("every loop has an array").map;
        let start = map.len() / size_of::<f64>() - self.elements;
        let word = &mut map.as_mut_slice::<u64>()[start + element];
        *word ^= 1 << 17;
    }
}

impl Prefetching for ArrayShard {
    fn trial(&self) -> &PrefetchTrial {
        &self.trial
    }

    fn take(&mut self, pass: &Pass) {
        self.pass = pass.clone();
    }
}

const fn offset(array: usize) -> usize {
    array * ARRAY_OFFSET_BYTES
}

fn arrays_of(held: &mut [Held], start: usize, end: usize) -> Arrays<'_> {
    let mut slices = held.iter_mut().enumerate().map(|(array, held)| {
        let skip = offset(array) / size_of::<f64>();
        &mut held.map.as_mut_slice::<f64>()[skip + start..skip + end]
    });
    let mut next = || slices.next().unwrap_or_default();
    Arrays { a: next(), b: next(), c: next() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::{Isa, Kernel, Store};

    fn shard(kernel: Kernel, store: Option<Store>) -> ArrayShard {
        let isa = *Isa::available().last().expect("some instruction set");
        let pass = Pass::select(kernel, store, isa).expect("a loop");
        ArrayShard::new(&ShardSpec { elements: 1 << 14, pass, pages: vec![Pages::Base], memory: None })
            .expect("a little memory")
    }

    #[test]
    fn blocks_of_any_size_add_up_to_whole_passes_and_a_flipped_bit_is_found() {
        for (kernel, store) in [(Kernel::Read, None), (Kernel::Copy, Some(Store::NonTemporal))] {
            let mut shard = shard(kernel, store);
            assert!(matches!(shard.verify(), Integrity::Unverified { .. }));
            let mut bytes = 0;
            for block in [192, 4096, 64, 1 << 14, 1 << 14] {
                bytes += shard.step(block);
            }
            assert_eq!(bytes, 2 * shard.bytes(), "the block before the end was cut");
            assert!(matches!(shard.verify(), Integrity::Verified { .. }), "{kernel}: {:?}", shard.verify());
            shard.flip(777);
            let Integrity::Corrupt { wrong: 1, first, .. } = shard.verify() else {
                panic!("{kernel}: unseen")
            };
            assert!(first.starts_with("element 777 "), "{kernel}: {first}");
            shard.step(1 << 14);
            let healed = matches!(shard.verify(), Integrity::Verified { .. });
            assert_eq!(
                healed,
                kernel == Kernel::Copy,
                "{kernel}: a pass writes the copy anew, what was read stays wrong"
            );
        }
    }
}
