//! Copies files and directories from one host to another, and within one: the mover behind `seatrial copy`.
//!
//! - `scan` finds what to copy, `send` asks the target what it needs and sends the rest over several TCP connections, `receive`
//!   stores it. Small files are packed into frames, large ones cut into blocks that all connections send. Every frame has a
//!   checksum (CRC-32) and an answer; both sides have one frame a connection in memory, so a slow target slows the source.
//! - Nothing half-written stands under its final name: `target` writes files under a temporary name and renames them when
//!   they are complete. What an interrupted copy left is compared by block hashes (BLAKE3), and the copy continues.
//! - `target` opens every directory from the one above and follows no symbolic link.
//! - `local` copies within one host by the kernel, and shares blocks where the file system can.
//!
//! The connections prove a key that only the control channel carries, which is that of ssh. Data goes in the clear unless a
//! [`Cipher`] is asked for: then every frame is sealed by a key that follows from that one.

mod block;
mod connection;
mod entry;
mod error;
mod failure;
mod local;
mod need;
mod nested;
mod options;
mod progress;
mod receive;
mod record;
mod scan;
mod send;
mod source;
mod stored;
mod target;
mod temporary_name;
mod window;
mod wire;

pub use block::BLOCK;
pub use entry::Root;
pub use error::CopyError;
pub use failure::Failure;
pub use local::copy_here;
pub use options::{CopyOptions, STREAMS};
pub use progress::{Progress, Spent, Total};
pub use receive::{Reach, serve};
pub use scan::{count, roots};
pub use send::{ControlChannel, send};
pub use temporary_name::temporary_name;
pub use window::{ChosenWindow, Window};
pub use wire::Cipher;
