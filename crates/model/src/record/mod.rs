//! The record of a run: what is stored, printed as JSON, judged and reported.

mod case;
mod document;
mod not_made;
mod options;
mod run;
mod summary;

pub use case::CaseRecord;
pub use document::{Document, SCHEMA_VERSION, schema};
pub use not_made::NotMade;
pub use options::{
    BenchmarkOptions, CheckOptions, LauncherChoice, NodeOptions, RunOptions, SlurmOptions, option_words,
};
pub use run::{AddedTime, DelayCause, ProfileRef, RunEnd, RunInfo, RunTime};
pub use summary::{Axis, MetricRecord, SeriesColumn, SeriesRecord, SeriesRow, Summary};
