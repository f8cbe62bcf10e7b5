//! Two runs side by side: what became better, what worse, what stayed, and what cannot be told.

mod json;
mod terminal;

pub use json::value;
pub use terminal::render;

/// The two runs of a comparison, as the person named them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Names<'a> {
    pub a: &'a str,
    pub b: &'a str,
}
