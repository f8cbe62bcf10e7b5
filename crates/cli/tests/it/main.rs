//! The real binary: exit codes, faults, folders, profiles, output.
//!
//! Tests of plans, judgements and reports use scripts (exact numbers, no clock); tests of processes, signals and
//! memory measure this machine, with arrays of a few MiB.

mod applied;
mod clean;
mod composed;
mod confined;
mod copy;
mod drafts;
mod evidence;
mod exchange;
mod exit_codes;
mod exports;
mod fleet;
mod folder;
mod gate;
mod gpus;
mod headline;
mod killed;
mod live;
mod moved;
mod mpi;
mod networks;
mod output;
mod pages;
mod parameters;
mod past;
mod patterns;
mod processes;
mod profiles;
mod random_kills;
mod readme;
mod resumed;
mod rig;
mod settings;
mod signals;
mod storage;
mod studies;
mod table;
mod time_budget;
mod tried;
mod unverified;
