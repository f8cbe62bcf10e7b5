//! The folder of one run: files, creation, reading.

mod files;
mod read;
mod run;

pub use files::{
    Files, JudgedFile, LOCK_FILE, NodeFile, ProfileFile, RUN_FILE, ReferenceFile, RunFile, SamplesFile,
    SerialsFile,
};
pub use files::{LoggedEvent, Plan, Round, SCHEMA};
pub use read::{State, StoredRun};
pub(crate) use read::{last_of_each_case, parsed, parsed_lines, versioned};
pub use run::{Resumed, RunFolder, write_info};
