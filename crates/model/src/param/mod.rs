//! Parameters: typed, named inputs of a benchmark with a default.

mod kind;
mod spec;
mod value;

pub use kind::Kind;
pub use spec::{ParamError, ParamSpec};
pub use value::{Params, Value};
