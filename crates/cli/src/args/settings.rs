//! `seatrial settings`.

use std::path::PathBuf;

use clap::{Args, Subcommand, value_parser};
use seatrial_model::Nanos;
use seatrial_model::record::NodeOptions;

use super::{OutputArgs, OutputFormat, TableOrJson};

/// Show host settings that affect measurements, and compare them with a profile. Changes nothing without `apply` or
/// `restore`.
#[derive(Clone, Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct SettingsArgs {
    /// Command.
    #[command(subcommand)]
    pub command: Option<SettingsCommand>,
    /// Name of a shipped profile, or a TOML file [default: none; shows what shipped profiles require]
    #[arg(value_name = "PROFILE")]
    pub profile: Option<String>,
    /// Nodes that have a role of the profile: head=n1
    #[arg(long = "role", value_name = "ROLE=NODES", requires = "profile")]
    pub roles: Vec<String>,
    /// How the result is shown.
    #[command(flatten)]
    pub output: OutputArgs<TableOrJson>,
    /// Which nodes to use.
    #[command(flatten)]
    pub nodes: NodeOptions,
    /// Use the simulated nodes of this script
    #[arg(long, hide = true, value_name = "FILE")]
    pub script: Option<PathBuf>,
}

/// Commands that change settings.
#[derive(Clone, Debug, Subcommand)]
pub enum SettingsCommand {
    /// Set what a profile wants, or single values, so that it can be restored
    Apply(ApplyArgs),
    /// Restore the values before an `apply`, the last one first
    Restore(RestoreArgs),
    /// Measure which settings of a profile pay here, which do nothing and which hurt
    Try(TryArgs),
}

/// Set what a profile wants, or single values. The plan is shown and has to be confirmed. Each node writes every former
/// value to a journal in /var/lib/seatrial/settings before it changes it.
#[derive(Clone, Debug, Args)]
#[command(after_help = crate::exit::APPLY_HELP)]
pub struct ApplyArgs {
    /// A profile, or values: net.core.rmem_max=16MiB, nic.mtu=9000 for each real interface with a link, nic.mtu@eth0=9000
    /// for one
    #[arg(value_name = "PROFILE|NAME=VALUE", required = true)]
    pub wanted: Vec<String>,
    /// Do not ask
    #[arg(long)]
    pub yes: bool,
    /// Print the plan, and change nothing
    #[arg(long)]
    pub dry_run: bool,
    /// Restore by itself after this time: 30min, 2h
    #[arg(long = "for", value_name = "TIME", value_parser = span)]
    pub restore_after: Option<Nanos>,
    /// Set the values again at every boot, by files in /etc/sysctl.d, /etc/udev/rules.d and /etc/tmpfiles.d
    #[arg(long, conflicts_with = "restore_after")]
    pub persist: bool,
    /// Nodes that have a role of the profile: head=n1
    #[arg(long = "role", value_name = "ROLE=NODES")]
    pub roles: Vec<String>,
    /// How the result is shown.
    #[command(flatten)]
    pub output: OutputArgs<TableOrJson>,
    /// The nodes.
    #[command(flatten)]
    pub target: SettingsTarget,
}

/// A time after which something is restored.
fn span(typed: &str) -> Result<Nanos, String> {
    let span = typed.parse::<Nanos>().map_err(|error| error.to_string())?;
    if span < Nanos::secs(1) { Err("1 s is the shortest time".to_owned()) } else { Ok(span) }
}

/// Restore the values before an `apply`, in reverse order. A value that somebody else has changed since is left.
#[derive(Clone, Debug, Args)]
#[command(after_help = crate::exit::RESTORE_HELP)]
pub struct RestoreArgs {
    /// Which changes: `last`, `all`, or the id that `apply` printed
    #[arg(value_name = "ID", default_value = "last")]
    pub which: String,
    /// Restore also what somebody else has changed since
    #[arg(long)]
    pub force: bool,
    /// How the result is shown.
    #[command(flatten)]
    pub output: OutputArgs<TableOrJson>,
    /// The nodes.
    #[command(flatten)]
    pub target: SettingsTarget,
}

/// Measure benchmarks in blocks with and without each setting of a profile that the nodes do not have yet. Each is set
/// only during its measurements; the plan is shown and has to be confirmed.
#[derive(Clone, Debug, Args)]
// --with takes all words up to the next option: the profile goes before it.
#[command(override_usage = "seatrial settings try <PROFILE> --with <BENCH>... [OPTIONS]")]
pub struct TryArgs {
    /// Name of a shipped profile, or a TOML file
    #[arg(value_name = "PROFILE")]
    pub profile: String,
    /// Benchmarks that show what a setting is worth
    #[arg(long = "with", value_name = "BENCH", required = true, num_args = 1..)]
    pub benchmarks: Vec<String>,
    /// Values of a parameter: -p time=5s
    #[arg(short, long = "param", value_name = "NAME=VALUE")]
    pub params: Vec<String>,
    /// How two-node benchmarks pair the nodes
    #[arg(long, value_name = "NAME")]
    pub pattern: Option<String>,
    /// Blocks of each setting; confidence intervals need at least 3 [default: 6]
    #[arg(long, value_name = "COUNT", value_parser = value_parser!(u32).range(1..=1000))]
    pub repeats: Option<u32>,
    /// Seed of the random order [default: 1]
    #[arg(long, value_name = "NUMBER")]
    pub seed: Option<u64>,
    /// Write the settings that pay for one benchmark at least, and hurt none, as a profile
    #[arg(long, value_name = "FILE")]
    pub write: Option<PathBuf>,
    /// Do not ask
    #[arg(long)]
    pub yes: bool,
    /// Print settings, cases and duration, and measure nothing
    #[arg(long)]
    pub plan: bool,
    /// Nodes that have a role of the profile: head=n1
    #[arg(long = "role", value_name = "ROLE=NODES")]
    pub roles: Vec<String>,
    /// How the result is shown.
    #[command(flatten)]
    pub output: OutputArgs<OutputFormat>,
    /// Which nodes to use.
    #[command(flatten)]
    pub nodes: NodeOptions,
    /// Use the simulated nodes of this script
    #[arg(long, hide = true, value_name = "FILE")]
    pub script: Option<PathBuf>,
}

/// Nodes whose settings are changed.
#[derive(Clone, Debug, Args)]
pub struct SettingsTarget {
    /// Which nodes to use.
    #[command(flatten)]
    pub nodes: NodeOptions,
    /// Use the simulated nodes of this script
    #[arg(long, hide = true, value_name = "FILE")]
    pub script: Option<PathBuf>,
    /// Change the files below this folder instead of /
    #[arg(long, hide = true, value_name = "DIR")]
    pub sysroot: Option<PathBuf>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_may_be_in_hours() {
        assert_eq!(span("2h"), Ok(Nanos::secs(7200)));
        assert_eq!(span("90 min"), Ok(Nanos::secs(5400)));
        assert!(span("10 ms").is_err() && span("h").is_err() && span("5").is_err());
    }
}
