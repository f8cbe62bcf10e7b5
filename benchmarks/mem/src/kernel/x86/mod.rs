//! The loops for x86-64: SSE2, AVX2 and AVX-512.

#[macro_use]
mod text;
mod kernel;

pub(super) use kernel::find;
