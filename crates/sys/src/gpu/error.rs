//! Errors of GPU drivers.

use crate::library::LibraryError;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GpuFault {
    OutOfMemory,
    NotPermitted,
    NoDevice,
    Unavailable,
    CodeRefused,
    NotSupported,
    /// Already done, such as peer access enabled twice.
    AlreadyDone,
    /// The device, its memory or its link failed; this process cannot use it any more.
    Lost,
    Other,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum GpuError {
    #[error(transparent)]
    Library(#[from] LibraryError),
    /// What was loaded, such as `driver` or `NCCL`, lacks a function.
    #[error("{what} too old for {symbol}")]
    TooOld { what: &'static str, symbol: &'static str },
    #[error("{name} has version {version}; {least} and later can be used")]
    OldLibrary { name: String, version: String, least: String },
    #[error("{call}: {name} ({code}){}{text}", if .text.is_empty() { "" } else { ": " })]
    Refused { call: &'static str, code: i32, name: String, text: String, fault: GpuFault },
    #[error("{bytes} bytes from {offset} on are beyond the end of {size} bytes of memory")]
    Beyond { offset: usize, bytes: usize, size: usize },
    #[error("{what} belongs to another device")]
    Foreign { what: &'static str },
}

impl GpuError {
    pub const fn fault(&self) -> GpuFault {
        match self {
            Self::Library(_) => GpuFault::NoDevice,
            Self::TooOld { .. } | Self::OldLibrary { .. } => GpuFault::NotSupported,
            Self::Refused { fault, .. } => *fault,
            Self::Beyond { .. } | Self::Foreign { .. } => GpuFault::Other,
        }
    }
}
