//! Two runs side by side: what became better, what worse, what stayed, and what cannot be told.

mod json;
mod terminal;
mod words;

pub use json::value;
pub use terminal::render;
pub(crate) use words::{Call, beside, counts, gain, interval, test, why, worst_first};

/// The two runs of a comparison, as the person named them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Names<'a> {
    pub a: &'a str,
    pub b: &'a str,
}
