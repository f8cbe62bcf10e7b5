//! Reads source files, and notices when they change meanwhile.

mod data;
mod opened;

pub use data::data_from;
pub use opened::{OpenedSource, attributes_of, hash_of, link_target};
