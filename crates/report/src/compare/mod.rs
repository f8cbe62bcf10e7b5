//! Two runs compared: better, worse, the same, or cannot tell.

mod json;
mod terminal;

pub use json::value;
pub use terminal::render;

/// The two runs of a comparison, as given on the command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Names<'a> {
    pub a: &'a str,
    pub b: &'a str,
}
