//! Parameters: typed, named inputs of a benchmark with a default.

mod factor;
mod kind;
mod spec;
mod value;

pub use factor::Factor;
pub use kind::Kind;
pub use spec::{ParamError, ParamSpec};
pub use value::{Params, Value};
