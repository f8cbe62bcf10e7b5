//! Keeps runs: one folder a run is the truth, and an index over the folders is a cache.
//!
//! A run is written through a [`Journal`], which [`RunFolder::create`] and [`RunFolder::resume`] give, and read
//! back with [`RunFolder::open`], whatever state a crash left it in. [`Home`] finds runs and lists them.

mod damage;
mod error;
mod evidence;
mod folder;
mod home;
mod id;
mod index;
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
pub use home::{Home, HomeEnv, env};
pub use index::{History, MetricFilter, MetricRow, MetricValue, Metrics, RunRow, RunSummary, Source};
pub use journal::Journal;
pub use tool::Tool;
