//! What sender and receiver say to each other: frames with a checksum or a seal, and the fields in them.
//!
//! Every frame to the receiver is answered by one frame, in order. Numbers are little-endian.

mod cipher;
mod fields;
mod frame;
mod greeting;
mod half;

pub use cipher::{Cipher, Way};
pub use fields::{Fields, put_bytes, put_stamp};
pub use frame::{Frame, FrameKind, read_frame};
pub use greeting::{Ready, Start};
pub use half::{Incoming, Outgoing, Secret};

/// Version of the frames; sender and receiver are the same binary, so another version is an error.
pub const VERSION: u32 = 5;
