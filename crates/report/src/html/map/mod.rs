//! Maps of machines as pictures, with the same parts as lists.

mod colors;
mod file;
mod fleet;
mod layout;
mod list;
mod section;
mod svg;

pub use colors::CSS;
pub use file::map_file;
pub use fleet::blocks;
pub use section::{MachineMap, maps};
