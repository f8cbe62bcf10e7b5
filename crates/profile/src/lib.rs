//! Reading and checking profiles: from TOML, through `extends`, to [`seatrial_model::profile::Profile`].
//!
//! Four stages, each of which reports all its errors before later stages are skipped: the TOML itself, the shape of
//! its tables (`read`), the merge with extended profiles (`merge`), and the meaning against the existing benchmarks
//! (`check`). Every error has a position in the file, see [`Diagnostics`].

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
