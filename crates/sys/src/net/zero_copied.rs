//! How much of what was sent the kernel did not copy.

/// What the kernel says of sends without a copy.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ZeroCopied {
    /// Sends that are over.
    pub ended: u64,
    /// Sends of these whose data the kernel copied in the end, as it does on the loopback.
    pub copied: u64,
}
