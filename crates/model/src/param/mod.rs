//! Parameters: typed inputs of a benchmark with name and default.

mod factor;
mod kind;
mod spec;
mod value;

pub use factor::Factor;
pub use kind::Kind;
pub use spec::{ParamError, ParamSpec};
pub use value::{Params, Value};
