//! `seatrial verify`.

use std::path::PathBuf;

use clap::Args;

use super::{OutputArgs, TableOrJson};

/// Verify an evidence file: that nothing was changed, and that its verdicts follow from its samples.
#[derive(Clone, Debug, Args)]
pub struct VerifyArgs {
    /// Evidence file, written by `seatrial export --evidence`
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// How the result is shown.
    #[command(flatten)]
    pub output: OutputArgs<TableOrJson>,
}
