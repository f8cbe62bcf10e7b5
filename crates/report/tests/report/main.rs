//! Golden views of made-up records, and the contract of the machine-readable formats.

mod case_columns;
mod causes;
mod comparing;
mod fixture;
mod formats;
mod inventory;
mod lists;
mod screen;
mod settings;
mod shared_series;
mod terminal;
mod ticket;

/// The golden texts are in `snapshots/`; `INSTA_UPDATE=always cargo test` writes them again.
macro_rules! golden {
    ($name:literal, $text:expr) => {
        insta::assert_snapshot!($name, $text)
    };
}
pub(crate) use golden;
