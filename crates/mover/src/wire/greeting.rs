//! The first words on the control channel.

use seatrial_bench::PeerAddress;
use serde::{Deserialize, Serialize};

use super::cipher::Cipher;

/// What the sender asks for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Start {
    /// [`super::VERSION`] of the sender.
    pub version: u32,
    /// The target, as typed.
    pub target: Vec<u8>,
    /// The name of the only source, if that is not a directory: the target may be its new name.
    pub only_file: Option<Vec<u8>>,
    /// Whether the target is the copy of a directory, and not only the place of copies.
    pub is_target_copied: bool,
    /// Data connections.
    pub streams: u32,
    pub preserve: bool,
    pub checksum: bool,
    pub dry_run: bool,
    /// Bytes of the buffers of each data connection.
    pub window: Option<u64>,
    /// How the data connections are encrypted.
    pub cipher: Option<Cipher>,
}

/// The answer of the receiver.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Ready {
    /// It listens here; the only file gets this name, if it gets another. The buffer is what the kernel made of the window.
    Listening { address: PeerAddress, renamed: Option<Vec<u8>>, receive_buffer: u64 },
    /// It cannot: why, and what to do.
    Refused(String),
}
