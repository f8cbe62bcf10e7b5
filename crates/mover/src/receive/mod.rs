//! The receiving side: opens a port for the connections of one sender, and stores what they carry.

mod large;
mod query;
mod serve;
mod store;
mod stream;

pub use query::{Terms, need_of};
pub use serve::{Reach, serve};
pub use store::{keep_file, store_link};
