//! What a driver answers when it does not do what it was asked.

use super::LibraryError;

/// What sort of refusal it is, whoever made the GPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GpuFault {
    /// No memory is left, on the device or to pin.
    OutOfMemory,
    /// The system or the driver does not allow it.
    NotPermitted,
    /// There is no such device, or none at all.
    NoDevice,
    /// Another process has the device to itself, or it is closed to all.
    Unavailable,
    /// The driver does not understand the kernel's text.
    CodeRefused,
    /// This device or driver cannot do that.
    NotSupported,
    /// It is so already.
    AlreadyDone,
    /// The device, its memory or its link failed; nothing more comes from this process.
    Lost,
    Other,
}

/// Why a call did not do what was asked.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum GpuError {
    /// The driver's library is not there.
    #[error(transparent)]
    Library(#[from] LibraryError),
    /// The library has no such function.
    #[error("driver too old for {symbol}")]
    TooOld { symbol: &'static str },
    #[error("{call}: {name} ({code}){}{text}", if .text.is_empty() { "" } else { ": " })]
    Refused {
        call: &'static str,
        code: i32,
        /// The driver's name of it.
        name: String,
        /// What else it says.
        text: String,
        fault: GpuFault,
    },
    /// A copy or view beyond the end of memory; nothing was done.
    #[error("{bytes} bytes from {offset} on are beyond the end of {size} bytes of memory")]
    Beyond {
        /// Where it was to begin.
        offset: usize,
        /// How much it was to be.
        bytes: usize,
        /// How much there is.
        size: usize,
    },
    /// Memory or events of one device were used with another.
    #[error("{what} belongs to another device")]
    Stranger { what: &'static str },
}

impl GpuError {
    /// The sort of refusal.
    pub const fn fault(&self) -> GpuFault {
        match self {
            Self::Library(_) => GpuFault::NoDevice,
            Self::TooOld { .. } => GpuFault::NotSupported,
            Self::Refused { fault, .. } => *fault,
            Self::Beyond { .. } | Self::Stranger { .. } => GpuFault::Other,
        }
    }
}
