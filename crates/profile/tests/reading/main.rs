//! Profiles from text and files to what the program works with, and what a person sees of those that are wrong.

mod common;
mod extend;
mod faults;
mod size;
mod whole;
