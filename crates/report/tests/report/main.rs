//! Golden views of made-up records, and the contract of the machine-readable ones.

mod comparing;
mod fixture;
mod formats;
mod inventory;
mod lists;
mod settings;
mod terminal;

/// The golden text of a view stands in `snapshots/`; `INSTA_UPDATE=always cargo test` writes it anew.
macro_rules! golden {
    ($name:literal, $text:expr) => {
        insta::assert_snapshot!($name, $text)
    };
}
pub(crate) use golden;
