//! Reading and checking profiles: from TOML, through `extends`, to [`seatrial_model::profile::Profile`].
//!
//! Four stages, each of which tells everything it finds wrong before the next one is kept from running: the TOML
//! itself, the shape of its tables (`read`), the merge of what it extends (`merge`), and its meaning
//! against the benchmarks that exist (`check`). Every finding knows its place in the file, see [`Diagnostics`].

mod catalog;
mod check;
mod depth;
mod diagnostic;
mod layer;
mod load;
mod merge;
mod read;
mod render;
mod shipped;
mod source;
mod table;

pub use catalog::Catalog;
pub use diagnostic::{Diagnostics, Severity};
pub use load::{Loaded, load};
pub use shipped::{SHIPPED, Shipped};
pub use source::{LARGEST, Source};
