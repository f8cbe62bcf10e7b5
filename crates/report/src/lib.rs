//! Renders records for people and programs, from its inputs alone.
//!
//! Results are returned as text or written to a given sink. Lists of runs and benchmarks come in as plain structures,
//! so that this crate knows no store and no registry.

pub mod compare;
pub mod csv;
pub mod draft;
pub mod export;
mod gate;
mod grid;
pub mod history;
pub mod html;
mod ink;
pub mod inventory;
pub mod json;
mod labels;
pub mod list;
mod markdown;
mod notes;
mod number;
pub mod plan;
pub mod repeat_command;
pub mod settings;
pub mod terminal;
mod text_style;
pub mod ticket;
pub mod trend;
mod view;
mod words;

/// The map of machines as a picture.
pub use gate::line as gate_line;
pub use html::map_file;
pub use text_style::{Style, TextStyle};
pub use view::answers::Earlier;
/// The nodes of a run by verdict.
pub use view::nodes::with_verdict as nodes_with;
pub use words::{clean_lines, count, cut_middle};
