//! What can go wrong between Seatrial and an MPI library.

use crate::library::LibraryError;

/// An error of a library or of one of its calls.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MpiError {
    #[error(transparent)]
    Library(#[from] LibraryError),
    /// The library lacks a function or a symbol of its interface.
    #[error("{library} has no {symbol}")]
    Missing { library: String, symbol: &'static str },
    /// A call that returned an error, in the library's own words.
    #[error("{call}: {text}")]
    Refused { call: &'static str, text: String },
    #[error("{what} is longer than MPI can count: {bytes} bytes, {most} at most")]
    TooLong { what: &'static str, bytes: usize, most: usize },
}
