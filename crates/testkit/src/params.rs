//! Parameters as a person types them.

use seatrial_model::{About, Params};

/// The defaults of a benchmark with some parameters as typed.
///
/// # Panics
/// When the benchmark has no such parameter or refuses its value.
pub fn params<'a>(about: &About, typed: impl IntoIterator<Item = &'a (&'a str, &'a str)>) -> Params {
    let mut params = about.defaults();
    for (name, value) in typed {
        let spec = about.param(name).unwrap_or_else(|| panic!("{} has no '{name}'", about.id));
        params.set(name, spec.parse(value).unwrap_or_else(|why| panic!("{name}={value}: {why}")));
    }
    params
}
