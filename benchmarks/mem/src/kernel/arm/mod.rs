//! The loops for AArch64: NEON.

mod kernel;

pub(super) use kernel::find;
