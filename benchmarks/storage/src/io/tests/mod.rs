//! The whole of a case on this machine, and its pieces by themselves.

mod access_patterns;
mod depth;
mod figures;
mod fixtures;
mod plans;
mod rig;
mod work;
