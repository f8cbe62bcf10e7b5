//! The kernels of `mem.bandwidth`: names, byte counts, instruction sets, and expected results.
//!
//! A [`Pass`] is one loop in one instruction set, picked by [`Pass::select`]. It is assembly, so that debug and
//! release builds measure the same and no compiler can merge, hoist or drop an access; `tests/disassembly.rs` counts
//! the bytes that each loop loads and stores.

#[cfg(target_arch = "aarch64")]
mod arm;
mod arrays;
mod isa;
mod name;
mod pass;
mod pattern;
mod prefetch;
mod trial;
#[cfg(target_arch = "x86_64")]
mod x86;

pub use arrays::{ARRAY_OFFSET_BYTES, Arrays, ELEMENTS_MULTIPLE, Misfit};
pub use isa::Isa;
pub use name::{Kernel, Store, UnknownName};
pub use pass::Pass;
pub use pattern::SCALAR;
pub use prefetch::Prefetch;
pub use trial::PrefetchTrial;
