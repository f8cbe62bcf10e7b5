//! What carries the messages: a layer of its own, or one that uses another.

use seatrial_model::Params;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layer {
    Tcp,
    Verbs,
    Mpi,
}

impl Layer {
    /// The words of the parameter.
    pub const WORDS: &[&str] = &["tcp", "verbs", "mpi"];

    pub fn of(params: &Params) -> Self {
        match params.text("transport") {
            Ok("verbs") => Self::Verbs,
            Ok("mpi") => Self::Mpi,
            _ => Self::Tcp,
        }
    }

    pub const fn word(self) -> &'static str {
        Self::WORDS[self as usize]
    }
}
