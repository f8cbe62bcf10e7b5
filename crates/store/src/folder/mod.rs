//! The folder of one run: its files, how it is made, and how it is read back.

mod files;
mod read;
mod run;

pub use files::{Files, JudgedFile, NodeFile, ProfileFile, RUN_FILE, SamplesFile};
pub use files::{LoggedEvent, Plan, Round, SCHEMA};
pub use read::{State, StoredRun};
pub use run::{Resumed, RunFolder, write_info};
