//! One loader's arrays: the loop of `mem.bandwidth` over them, block by block, and the check of the data.

use seatrial_model::Integrity;
use seatrial_sys::memory::{MapError, Pages};

use crate::kernel::{ARRAY_OFFSET_BYTES, Arrays, Check, Pass};
use seatrial_bench::Held;

/// How a load is to be made.
#[derive(Clone, Debug)]
pub struct LoadSpec {
    /// Elements of each array; a multiple of what the loop unrolls.
    pub elements: usize,
    pub pass: Pass,
    /// Kinds of pages in the order of preference.
    pub pages: Vec<Pages>,
    /// The node to bind to.
    pub memory: Option<u32>,
}

/// One loader's arrays and the loop's position in them.
#[derive(Debug)]
pub struct Load {
    held: Vec<Held>,
    pass: Pass,
    elements: usize,
    next: usize,
    fold: u64,
    expected_fold: u64,
    passes: u64,
    wrong_folds: u64,
}

impl Load {
    /// Maps, binds, touches and fills. To be called on the pinned thread that will use it.
    ///
    /// # Errors
    /// When no memory can be had.
    pub fn new(spec: &LoadSpec) -> Result<Self, MapError> {
        let LoadSpec { elements, pass, pages, memory } = spec.clone();
        let mut held = Vec::new();
        for array in 0..pass.kernel().arrays() {
            let bytes = elements * size_of::<f64>() + array * ARRAY_OFFSET_BYTES;
            held.push(Held::take(bytes, &pages, memory)?);
        }
        let base = held.iter().all(|held| held.map.residency().is_ok_and(|found| found.huge_share() < 0.5));
        let pass = if base { pass.on_base_pages() } else { pass };
        let mut load =
            Self { held, pass, elements, next: 0, fold: 0, expected_fold: 0, passes: 0, wrong_folds: 0 };
        let kernel = load.pass.kernel();
        let mut whole = arrays_of(&mut load.held, 0, elements);
        kernel.fill(&mut whole);
        load.expected_fold = kernel.expected_fold(&whole);
        Ok(load)
    }

    /// Runs the loop over the next `block` elements, fewer at the end of the arrays; returns the bytes that it names.
    pub fn step(&mut self, block: usize) -> u64 {
        let end = (self.next + block).min(self.elements);
        self.fold ^= self.pass.run(&mut arrays_of(&mut self.held, self.next, end));
        let done = end - self.next;
        self.next = end;
        if end == self.elements {
            self.passes += 1;
            self.wrong_folds += u64::from(self.fold != self.expected_fold);
            (self.fold, self.next) = (0, 0);
        }
        (done * self.pass.kernel().counted_bytes_per_element()) as u64
    }

    /// Bytes that the loop names from start to end.
    pub fn bytes(&self) -> u64 {
        (self.elements * self.pass.kernel().counted_bytes_per_element()) as u64
    }

    /// Compares every element, and what every pass read, with their exact expected values.
    pub fn verify(&mut self) -> Integrity {
        if self.passes == 0 {
            return Integrity::Unverified { why: "the loop never reached the end of the arrays".to_owned() };
        }
        if self.wrong_folds > 0 {
            let first = format!("{} of {} passes read something else", self.wrong_folds, self.passes);
            return Integrity::Corrupt { wrong: self.wrong_folds, of: self.passes, first };
        }
        let kernel = self.pass.kernel();
        match kernel.check(&arrays_of(&mut self.held, 0, self.elements)) {
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

    /// Flips one bit of an element of the last array, so that a test can see the check catch it.
    #[cfg(test)]
    pub fn flip(&mut self, element: usize) {
        let map = &mut self.held.last_mut().expect("every loop has an array").map;
        let start = map.len() / size_of::<f64>() - self.elements;
        map.as_mut_slice::<u64>()[start + element] ^= 1 << 17;
    }
}

/// The elements `start..end` of every array.
fn arrays_of(held: &mut [Held], start: usize, end: usize) -> Arrays<'_> {
    let mut slices = held.iter_mut().enumerate().map(|(array, held)| {
        let skip = array * ARRAY_OFFSET_BYTES / size_of::<f64>();
        &mut held.map.as_mut_slice::<f64>()[skip + start..skip + end]
    });
    let mut next = || slices.next().unwrap_or_default();
    Arrays { a: next(), b: next(), c: next() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::{Isa, Kernel, Store};

    fn load(kernel: Kernel, store: Option<Store>) -> Load {
        let isa = *Isa::available().last().expect("some instruction set");
        let pass = Pass::select(kernel, store, isa).expect("a loop");
        Load::new(&LoadSpec { elements: 1 << 14, pass, pages: vec![Pages::Base], memory: None })
            .expect("a little memory")
    }

    #[test]
    fn blocks_of_any_size_add_up_to_whole_passes_and_a_flipped_bit_is_found() {
        for (kernel, store) in [(Kernel::Read, None), (Kernel::Copy, Some(Store::NonTemporal))] {
            let mut load = load(kernel, store);
            assert!(matches!(load.verify(), Integrity::Unverified { .. }));
            let mut bytes = 0;
            for block in [192, 4096, 64, 1 << 14, 1 << 14] {
                bytes += load.step(block);
            }
            assert_eq!(bytes, 2 * load.bytes(), "the block before the end was cut");
            assert!(matches!(load.verify(), Integrity::Verified { .. }), "{kernel}: {:?}", load.verify());
            load.flip(777);
            let Integrity::Corrupt { wrong: 1, first, .. } = load.verify() else {
                panic!("{kernel}: unseen")
            };
            assert!(first.starts_with("element 777 "), "{kernel}: {first}");
            load.step(1 << 14);
            let healed = matches!(load.verify(), Integrity::Verified { .. });
            assert_eq!(
                healed,
                kernel == Kernel::Copy,
                "{kernel}: a pass writes the copy anew, what was read stays wrong"
            );
        }
    }
}
