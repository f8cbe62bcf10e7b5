//! Numbers with units.
//!
//! Rates are decimal (1 GB/s = 10^9 B/s, 1 Gbit/s = 10^9 bit/s); sizes have decimal and binary prefixes and print the
//! exact one; times go from nanoseconds to seconds.

mod bytes;
mod nanos;
mod quantity;
mod unit;

pub use bytes::Bytes;
pub use nanos::Nanos;
pub use quantity::{Quantity, QuantityError};
pub use unit::{Dimension, Unit};
