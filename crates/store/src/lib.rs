//! Stores runs, one folder each.
//!
//! A run is written through a [`Journal`] of [`RunFolder::create`] or [`RunFolder::resume`], and read with
//! [`RunFolder::open`] in any state. [`Home`] finds and lists runs.

mod damage;
mod error;
mod evidence;
mod folder;
mod history;
mod home;
pub mod id;
mod journal;
mod lock;
mod tool;
mod write;

pub use damage::{Damage, Piece};
pub use error::StoreError;
pub use evidence::{
    Contents, EvidenceError, Exported, Fault, Listed, Looked, Manifest, Samples, evidence_sha256, export,
    judged_text, look,
};
pub use folder::{Files, LoggedEvent, Plan, Resumed, Round, RunFolder, State, StoredRun};
pub use history::{RunRow, RunSummary};
pub use home::{Home, HomeEnv, env};
pub use journal::Journal;
pub use tool::Tool;
