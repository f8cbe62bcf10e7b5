//! Profiles from text and files, and messages about invalid ones.

mod common;
mod extend;
mod faults;
mod size;
mod tables;
mod whole;
