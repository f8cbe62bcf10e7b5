//! What a person types: the one definition of flags, help, man pages and completions.

mod check;
mod inventory;
mod list;
mod nodes;
mod output;
mod past;
mod run;
mod settings;
mod supervise;

use clap::{Parser, Subcommand};

pub use check::CheckArgs;
pub use inventory::InventoryArgs;
pub use list::ListArgs;
pub use nodes::{LauncherChoice, NodeArgs};
pub use output::{ColorChoice, OutputArgs, OutputFormat};
pub use past::{CompareArgs, HistoryArgs, ReportArgs};
pub use run::{MeasureArgs, RunArgs};
pub use settings::SettingsArgs;
pub use supervise::{AgentArgs, WorkerArgs};

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
    /// Show the runs so far
    History(HistoryArgs),
    /// Show a run again
    Report(ReportArgs),
    /// Serve a controller over standard input and output
    #[command(hide = true)]
    Agent(AgentArgs),
    /// Be one part of a case
    #[command(hide = true)]
    Worker(WorkerArgs),
}
