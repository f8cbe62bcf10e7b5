//! Keeps runs: one folder a run is the truth.
//!
//! A run is written through a [`Journal`], which [`RunFolder::create`] and [`RunFolder::resume`] give, and read
//! back with [`RunFolder::open`], whatever state a crash left it in. [`Home`] finds runs and lists them.

mod damage;
mod error;
mod evidence;
mod folder;
mod history;
mod home;
mod id;
mod journal;
mod lock;
mod tool;
mod write;

pub use damage::{Damage, Piece};
pub use error::StoreError;
pub use evidence::{
    Contents, EvidenceError, Exported, Fault, Listed, Looked, Manifest, Samples, export, judged_text, look,
};
pub use folder::{Files, LoggedEvent, Plan, Resumed, Round, RunFolder, State, StoredRun};
pub use history::{RunRow, RunSummary};
pub use home::{Home, HomeEnv, env};
pub use journal::Journal;
pub use tool::Tool;
