//! Every loop that this CPU can run, on small data, checked to the bit.

use proptest::prelude::*;

use super::Pass;
use crate::check::Check;
use crate::kernel::{Arrays, ELEMENTS_MULTIPLE, Isa, Kernel, Prefetch, Store};

/// Three arrays at cache lines, with a line of guard words on each side.
struct Memory {
    words: [Vec<f64>; 3],
    elements: usize,
}

const LINE: usize = 8;
const GUARD: f64 = -7.0;

impl Memory {
    fn new(elements: usize) -> Self {
        Self { words: std::array::from_fn(|_| vec![GUARD; elements + 4 * LINE]), elements }
    }

    fn starts(&self) -> [usize; 3] {
        std::array::from_fn(|array| LINE + self.words[array][LINE..].as_ptr().align_offset(64))
    }

    fn arrays(&mut self) -> Arrays<'_> {
        let (starts, elements) = (self.starts(), self.elements);
        let [a, b, c] = &mut self.words;
        let part = |words, start: usize| -> &mut [f64] {
            let words: &mut Vec<f64> = words;
            &mut words[start..start + elements]
        };
        Arrays { a: part(a, starts[0]), b: part(b, starts[1]), c: part(c, starts[2]) }
    }

    fn guards_stand(&self) -> bool {
        self.words.iter().zip(self.starts()).all(|(words, start)| {
            let outside = words[..start].iter().chain(&words[start + self.elements..]);
            outside.copied().all(|word| word == GUARD)
        })
    }
}

fn all() -> Vec<Pass> {
    let mut all = Vec::new();
    for kernel in Kernel::ALL {
        for store in [None, Some(Store::Regular), Some(Store::NonTemporal)] {
            for isa in Isa::available() {
                all.extend(
                    Prefetch::ALL.iter().filter_map(|kind| Pass::select_with(*kernel, store, isa, *kind)),
                );
            }
        }
    }
    all
}

fn run(pass: &Pass, elements: usize, passes: usize) -> Check {
    let mut memory = Memory::new(elements);
    let mut arrays = memory.arrays();
    pass.kernel().fill(&mut arrays);
    for _ in 0..passes {
        assert_eq!(pass.run(&mut arrays), pass.kernel().expected_fold(&arrays), "fold of {pass:?}");
    }
    let check = pass.kernel().check(&arrays);
    assert!(memory.guards_stand(), "{pass:?} wrote outside its arrays");
    check
}

#[test]
fn every_loop_of_every_instruction_set_is_exact() {
    let all = all();
    let isas = Isa::available().len();
    let kinds = if cfg!(target_arch = "x86_64") { Prefetch::ALL.len() } else { 1 };
    // `read` and eight of the ten storing loops load, so they exist with every prefetch; two write; the C library has
    // two.
    assert_eq!(all.len(), isas * (kinds * 9 + 2 + 2));
    for pass in &all {
        for turns in [1, 2, 3, 8, 129] {
            let elements = turns * ELEMENTS_MULTIPLE;
            let check = run(pass, elements, 1);
            assert_eq!((check.wrong, check.first.as_str()), (0, ""), "{pass:?}");
            assert_eq!(check.checked, (elements * pass.kernel().arrays()) as u64);
        }
    }
}

#[test]
fn repeated_passes_change_nothing() {
    for pass in all() {
        assert_eq!(run(&pass, 3 * ELEMENTS_MULTIPLE, 5).wrong, 0, "{pass:?}");
    }
}

#[test]
fn the_choice_for_this_cpu_exists_for_every_kernel_and_store() {
    for isa in Isa::available() {
        for kernel in Kernel::ALL {
            let stores: &[Option<Store>] = match kernel.has_store_choice() {
                true => &[Some(Store::Regular), Some(Store::NonTemporal)],
                false => &[None],
            };
            for store in stores {
                let pass = Pass::select(*kernel, *store, isa).expect("a loop");
                assert_eq!((pass.kernel, pass.store, pass.isa), (*kernel, *store, isa));
                assert_eq!(pass.of_each_prefetch()[0].prefetch, Prefetch::None);
            }
        }
    }
}

#[test]
fn a_store_is_refused_where_there_is_no_choice_and_wanted_where_there_is() {
    let isa = Isa::available()[0];
    assert!(Pass::select(Kernel::Read, Some(Store::Regular), isa).is_none());
    assert!(Pass::select(Kernel::Memset, Some(Store::NonTemporal), isa).is_none());
    assert!(Pass::select(Kernel::Copy, None, isa).is_none());
}

#[test]
fn an_instruction_set_that_this_cpu_lacks_is_refused() {
    let lacking: Vec<Isa> = Isa::ALL.iter().copied().filter(|isa| !isa.is_available()).collect();
    assert!(!lacking.is_empty(), "no CPU has both NEON and SSE2");
    assert!(lacking.iter().all(|isa| Pass::select(Kernel::Read, None, *isa).is_none()), "{lacking:?}");
}

#[test]
#[should_panic(expected = "array a holds 65 elements")]
fn a_length_that_ends_within_a_turn_is_refused_before_anything_is_touched() {
    let pass = Pass::select(Kernel::Write, Some(Store::Regular), Isa::available()[0]).expect("a loop");
    pass.run(&mut Memory::new(ELEMENTS_MULTIPLE + 1).arrays());
}

#[test]
fn a_pass_that_skips_the_last_turn_is_caught() {
    for pass in all() {
        let (kernel, elements) = (pass.kernel(), 4 * ELEMENTS_MULTIPLE);
        let mut memory = Memory::new(elements);
        let mut arrays = memory.arrays();
        kernel.fill(&mut arrays);
        let whole = kernel.expected_fold(&arrays);
        let done = elements - ELEMENTS_MULTIPLE;
        let Arrays { a, b, c } = &mut arrays;
        let fold = pass.run(&mut Arrays { a: &mut a[..done], b: &mut b[..done], c: &mut c[..done] });
        if kernel.folds() {
            assert_ne!(fold, whole, "{pass:?}");
        } else {
            let check = kernel.check(&arrays);
            assert_eq!(check.wrong, ELEMENTS_MULTIPLE as u64, "{pass:?}");
            assert!(check.first.starts_with(&format!("element {done} of array ")), "{}", check.first);
        }
    }
}

proptest! {
    #[test]
    fn a_flipped_bit_anywhere_is_caught_with_its_place(
        array in 0..3_usize, element in 0..2 * ELEMENTS_MULTIPLE, bit in 0..64_u32, which in any::<prop::sample::Index>(),
    ) {
        let all = all();
        let pass = which.get(&all);
        let array = array % pass.kernel().arrays();
        let mut memory = Memory::new(2 * ELEMENTS_MULTIPLE);
        let mut arrays = memory.arrays();
        pass.kernel().fill(&mut arrays);
        pass.run(&mut arrays);
        let word = [&mut *arrays.a, &mut *arrays.b, &mut *arrays.c].into_iter().nth(array).expect("three arrays");
        word[element] = f64::from_bits(word[element].to_bits() ^ (1 << bit));
        let check = pass.kernel().check(&arrays);
        let name = ["a", "b", "c"][array];
        prop_assert_eq!(check.wrong, 1);
        prop_assert!(check.first.starts_with(&format!("element {element} of array {name} is ")), "{}", check.first);
        if pass.kernel().folds() {
            prop_assert_ne!(pass.run(&mut arrays), pass.kernel().expected_fold(&arrays));
        }
    }
}
