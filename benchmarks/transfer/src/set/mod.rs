//! A data set: a tree of directories and files that follows from a recipe and a number alone, so that whoever knows both can
//! make it, and check every byte of it, without a list of its files.

mod attributes;
mod check;
mod files;
mod make;
mod names;
mod recipe;
pub mod special;
mod team;

pub use check::Wrong;
pub use files::DataSet;
#[cfg(test)]
pub use make::PIECE;
pub use make::flush;
pub use recipe::{Recipe, with_set};
pub use team::FileTeam;
