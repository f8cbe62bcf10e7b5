//! Tests that need the machine for themselves. `cargo xtask test` runs them after all others, one at a time.

mod limiting;
