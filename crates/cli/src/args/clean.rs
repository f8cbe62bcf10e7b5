//! `seatrial clean`.

use std::path::PathBuf;

use clap::Args;

use super::{OutputArgs, TableOrJson};

/// Remove what interrupted runs left in these directories: folders with a manifest of Seatrial whose process is gone.
#[derive(Clone, Debug, Args)]
pub struct CleanArgs {
    /// Where tests made their files [default: the current directory and /var/tmp]
    #[arg(value_name = "DIR")]
    pub directories: Vec<PathBuf>,
    /// Say what would be removed, and remove nothing
    #[arg(long)]
    pub dry_run: bool,
    /// Remove also folders that another host made, of which this one cannot tell whether their process is gone
    #[arg(long)]
    pub other_hosts: bool,
    /// How the result is shown.
    #[command(flatten)]
    pub output: OutputArgs<TableOrJson>,
}
