//! Stream protocols other than TCP, by the word of a parameter.

use seatrial_model::{Cause, Reason};
use socket2::Protocol;

/// `None` for TCP.
pub fn of(word: &str) -> Option<Protocol> {
    match word {
        "mptcp" => Some(Protocol::MPTCP),
        "sctp" => Some(Protocol::SCTP),
        _ => None,
    }
}

/// What an error of listening or connecting means: a kernel may lack a protocol other than TCP.
pub fn refused(word: &str, error: Reason) -> Reason {
    if error.cause != Cause::Missing || of(word).is_none() {
        return error;
    }
    Reason::new(Cause::Inapplicable, format!("this kernel does not support {word}: {}", error.text))
}
