//! `seatrial verify`.

use std::path::PathBuf;

use clap::Args;

use super::{OutputArgs, TableOrJson};

/// Check an evidence file: that nothing of it was changed, and that its verdicts follow from its samples.
#[derive(Clone, Debug, Args)]
pub struct VerifyArgs {
    /// What `seatrial export --evidence` wrote
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// How the result is shown.
    #[command(flatten)]
    pub output: OutputArgs<TableOrJson>,
}
