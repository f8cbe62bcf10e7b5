//! Whole cases on this machine, and their parts.

mod access_patterns;
mod clients;
mod depth;
mod figures;
mod fixtures;
mod plans;
mod rig;
mod work;
