//! What a person types: the one definition of flags, help, man pages and completions.

mod check;
mod clean;
mod export;
mod inventory;
mod list;
mod output;
mod past;
mod profile;
mod run;
mod settings;
mod supervise;
mod verify;

use clap::{Parser, Subcommand};
use seatrial_cluster::AgentOptions;

pub use check::CheckArgs;
pub use clean::CleanArgs;
pub use export::{ExportArgs, STANDARD_OUTPUT};
pub use inventory::InventoryArgs;
pub use list::ListArgs;
pub use output::{ColorChoice, OutputArgs, OutputFormat, TableOrJson};
pub use past::{CompareArgs, HistoryArgs, ReportArgs};
pub use profile::{DraftArgs, ProfileArgs, ProfileCommand};
pub use run::{MeasureArgs, RunArgs};
pub use settings::SettingsArgs;
pub use supervise::WorkerArgs;
pub use verify::VerifyArgs;

/// Puts a cluster through its sea trials: measures every part, derives its limit, judges it, and says why a part is
/// slow.
#[derive(Debug, Parser)]
#[command(name = "seatrial", version, after_help = crate::exit::HELP, max_term_width = 110)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Measure what a profile demands and judge it
    Check(CheckArgs),
    /// Measure without judging
    Run(RunArgs),
    /// Show what this machine, or each node, is, and the derived limit of every part
    Inventory(InventoryArgs),
    /// Show benchmarks, settings and profiles, or explain one
    List(ListArgs),
    /// Show the settings of hosts that measurements depend on, and hold them against a profile
    Settings(SettingsArgs),
    /// Show two or more runs side by side: better, worse, the same, cannot tell
    Compare(CompareArgs),
    /// Show the runs so far, and how the numbers of a benchmark went
    History(HistoryArgs),
    /// Show a run again
    Report(ReportArgs),
    /// Write a run in the forms that other programs read
    Export(ExportArgs),
    /// Make profiles from runs
    Profile(ProfileArgs),
    /// Check an evidence file: nothing was changed, and its verdicts follow from its samples
    Verify(VerifyArgs),
    /// Remove what interrupted runs left
    Clean(CleanArgs),
    /// Serve a controller over standard input and output
    #[command(hide = true)]
    Agent(AgentOptions),
    /// Be one part of a case
    #[command(hide = true)]
    Worker(WorkerArgs),
}
