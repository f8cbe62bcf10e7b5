//! The index over all runs: a cache in SQLite that may be lost at any time.
//!
//! Every question first brings the index up to date with the folders. When it is damaged, of another version or
//! missing it is built anew; when it cannot be used at all (read-only home, no locks, no space) the same tables are
//! built in memory from the folders, and the answer says so.

mod cache;
mod query;
mod row;
mod sync;

pub use query::{History, MetricFilter, Metrics, Source};
pub use row::{MetricRow, MetricValue, RunRow, RunSummary};
