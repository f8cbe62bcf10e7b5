//! What the connections of a reception share.

use super::large::LargeFiles;

/// What the connections of a reception share.
#[derive(Debug)]
pub struct Reception {
    pub large: LargeFiles,
    pub preserve: bool,
    pub checksum: bool,
    pub is_dry: bool,
}
