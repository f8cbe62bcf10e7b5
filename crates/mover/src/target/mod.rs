//! The target directory: files are made in it under temporary names, and nothing outside of it is reached.

mod attributes;
mod folders;
mod place;
mod temporary;

pub use attributes::{Attributes, set_attributes, set_link_attributes};
pub use folders::Folders;
pub use place::{Place, target_place};
pub use temporary::{Temporary, leads_where, make_link};
