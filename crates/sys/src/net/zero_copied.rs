//! Copied and completed zero-copy sends.

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ZeroCopied {
    pub ended: u64,
    /// Completed sends whose data the kernel copied after all, as on the loopback.
    pub copied: u64,
}
