//! `seatrial clean`.

use std::path::PathBuf;

use clap::Args;

use super::{OutputArgs, TableOrJson};

/// Remove what interrupted runs left in these directories: folders with a Seatrial manifest whose process has ended.
#[derive(Clone, Debug, Args)]
pub struct CleanArgs {
    /// Directories that storage benchmarks were given [default: the current directory and /var/tmp]
    #[arg(value_name = "DIR")]
    pub directories: Vec<PathBuf>,
    /// Print what would be removed, and remove nothing
    #[arg(long)]
    pub dry_run: bool,
    /// Also remove folders of other hosts, for which it is unknown whether their process still runs
    #[arg(long)]
    pub other_hosts: bool,
    /// How the result is shown.
    #[command(flatten)]
    pub output: OutputArgs<TableOrJson>,
}
