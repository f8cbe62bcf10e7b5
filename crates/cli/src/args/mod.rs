//! The command line: one definition for flags, help, man pages and completions.

mod check;
mod clean;
mod copy;
mod export;
mod gate;
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
pub use copy::CopyArgs;
pub use export::{ExportArgs, STANDARD_OUTPUT};
pub use gate::{GateArgs, Unknown};
pub use inventory::InventoryArgs;
pub use list::ListArgs;
pub use output::{ColorChoice, OutputArgs, OutputFormat, TableOrJson};
pub use past::{CompareArgs, HistoryArgs, NamedPart, ReportArgs, ReportForm};
pub use profile::{DraftArgs, ProfileArgs, ProfileCommand};
pub use run::{MeasureArgs, RunArgs};
pub use settings::{ApplyArgs, RestoreArgs, SettingsArgs, SettingsCommand, TryArgs};
pub use supervise::WorkerArgs;
pub use verify::VerifyArgs;

/// Puts a cluster through its sea trials: measures every part, derives its limit, judges it, and says why a part is
/// slow.
#[derive(Debug, Parser)]
#[command(name = "seatrial", version, after_help = crate::exit::HELP, max_term_width = 110)]
pub struct Cli {
    /// Command.
    #[command(subcommand)]
    pub command: Command,
}

/// Commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Measure what a profile demands and judge it
    Check(CheckArgs),
    /// Measure without judging
    Run(RunArgs),
    /// Say in one line and within seconds whether this node may take jobs
    Gate(GateArgs),
    /// Show the hardware of this machine or of each node, with the limit of every part
    Inventory(InventoryArgs),
    /// Show benchmarks, patterns, settings and profiles, or explain one of them
    List(ListArgs),
    /// Show host settings that affect measurements, compare them with a profile, apply and restore them
    Settings(SettingsArgs),
    /// Compare two or more runs: better, worse, same, cannot tell
    Compare(CompareArgs),
    /// List stored runs, and show the trend of a benchmark
    History(HistoryArgs),
    /// Show the results of a run
    Report(ReportArgs),
    /// Write a run in formats of other programs
    Export(ExportArgs),
    /// Create profiles from runs
    Profile(ProfileArgs),
    /// Verify an evidence file: that nothing was changed, and that its verdicts follow from its samples
    Verify(VerifyArgs),
    /// Remove what interrupted runs left behind
    Clean(CleanArgs),
    /// Copy files and directories to another host or within this one; a copy that was interrupted continues
    Copy(CopyArgs),
    /// Run as the receiver of a copy, over standard input and output
    #[command(hide = true)]
    CopyReceiver,
    /// Run as an agent: serve a controller over standard input and output
    #[command(hide = true)]
    Agent(AgentOptions),
    /// Run one part of a case
    #[command(hide = true)]
    Worker(WorkerArgs),
    /// Run as a rank of an MPI job, which the launcher of an MPI library started
    #[command(hide = true)]
    MpiRank,
    /// Start ranks of an MPI job on this node: FIRST COUNT ALL [ADDRESS...]
    #[command(hide = true)]
    MpiLaunch { words: Vec<String> },
    /// Run as the remote shell of the launcher of an MPI library: HOST COMMAND...
    #[command(hide = true)]
    MpiRemoteShell {
        #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "WORD")]
        words: Vec<String>,
    },
}
