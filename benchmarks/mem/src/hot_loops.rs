//! The loops over memory; see `cargo xtask instructions`.

use std::hint::black_box;

use seatrial_testkit::hot_loop;

use crate::kernel::{Arrays, Isa, Kernel, Pass, Prefetch, Store};

/// Elements of an array: 64 KiB.
const ELEMENTS: usize = 8192;

/// Elements of a cache line.
const LINE: usize = 8;

/// A pass over arrays of 64 KiB, in the widest instructions that there are.
fn pass(kernel: Kernel, store: Option<Store>) {
    let isa = *Isa::available().last().expect("every CPU has a set of instructions");
    let pass = Pass::select_with(kernel, store, isa, Prefetch::None).expect("a loop");
    // Not mapped by itself: valgrind cannot run what asks for the size of a page.
    let mut memory = vec![0.0; 3 * ELEMENTS + LINE];
    let lines = memory.as_ptr().align_offset(LINE * size_of::<f64>());
    let (a, rest) = memory[lines..][..3 * ELEMENTS].split_at_mut(ELEMENTS);
    let (b, c) = rest.split_at_mut(ELEMENTS);
    let mut arrays = Arrays { a, b, c };
    kernel.fill(&mut arrays);
    hot_loop(|| {
        black_box(pass.run(black_box(&mut arrays)));
    });
    assert_eq!(kernel.check(&arrays).wrong, 0);
}

#[test]
fn an_array_of_64_kib_is_read() {
    pass(Kernel::Read, None);
}

#[test]
fn an_array_of_64_kib_is_written() {
    pass(Kernel::Write, Some(Store::NonTemporal));
}

#[test]
fn an_array_of_64_kib_is_copied() {
    pass(Kernel::Copy, Some(Store::NonTemporal));
}

#[test]
fn a_triad_of_64_kib_is_computed() {
    pass(Kernel::Triad, Some(Store::NonTemporal));
}
