//! What a copy shall do.

use crate::window::Window;
use crate::wire::Cipher;

/// Options of a copy.
#[derive(Clone, Copy, Debug)]
pub struct CopyOptions {
    /// Data connections, or threads on one host; at least one.
    pub streams: usize,
    /// Also owners and extended attributes.
    pub preserve: bool,
    /// Compare the content of files that have the same size, whatever their time says.
    pub checksum: bool,
    /// The buffers of each data connection (SO_SNDBUF, SO_RCVBUF), which bound its window.
    pub window: Window,
    /// How the data connections are encrypted; none sends the data in the clear.
    pub cipher: Option<Cipher>,
    /// Write nothing, and call this with every file that would be copied.
    pub dry_run: Option<fn(&[u8])>,
}

/// Data connections, unless another number is asked for.
pub const STREAMS: usize = 4;

impl Default for CopyOptions {
    fn default() -> Self {
        Self {
            streams: STREAMS,
            preserve: false,
            checksum: false,
            window: Window::Auto,
            cipher: None,
            dry_run: None,
        }
    }
}
