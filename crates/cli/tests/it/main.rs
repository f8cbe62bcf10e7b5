//! The real binary, driven as a person or a cluster drives it: exit codes, faults, folders, profiles, output.
//!
//! What is only about plans, judgements and reports plays a script (exact numbers, no clock); what is about processes,
//! signals and memory measures this machine, with arrays of a few MiB.

mod confined;
mod exit_codes;
mod fleet;
mod folder;
mod killed;
mod networks;
mod output;
mod parameters;
mod past;
mod patterns;
mod processes;
mod profiles;
mod rig;
mod settings;
mod signals;
mod storage;
mod studies;
mod table;
