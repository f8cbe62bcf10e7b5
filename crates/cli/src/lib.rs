//! The binary `seatrial`: wiring and exit codes, no logic of its own.

mod args;
mod command;
mod demand;
mod directories;
mod earlier;
mod error;
pub mod exit;
#[cfg(test)]
mod fixture;
mod fleet;
mod judge;
mod only_line;
mod open_cases;
mod options;
mod output;
mod params;
mod progress;
#[doc(hidden)]
pub mod recomputed;
mod roles;
mod samples;
mod session;
mod signals;
mod stored;
mod time_account;
mod usage;

use std::io::stderr;
use std::process::ExitCode;

use clap::{CommandFactory, Parser};

use crate::args::{Cli, Command};
#[doc(hidden)]
pub use crate::command::check::load as load_profile;
use crate::error::CliError;
use crate::exit::Exit;

pub fn command() -> clap::Command {
    Cli::command()
}

pub fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            // Help and version are not errors; all else exits with 2.
            let words: Vec<String> =
                std::env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned()).collect();
            let error = usage::with_hint(error, &words);
            let _ = error.print();
            return ExitCode::from(if error.use_stderr() { Exit::USAGE.0 } else { Exit::MET.0 });
        }
    };
    trace();
    let ended = match &cli.command {
        Command::Check(args) => command::check::run(args).map(Exit::into),
        Command::Run(args) => command::run::run(args).map(Exit::into),
        Command::Gate(args) => command::gate::run(args).map(Exit::into),
        Command::Inventory(args) => command::inventory::run(args).map(Exit::into),
        Command::List(args) => command::list::run(args).map(Exit::into),
        Command::Settings(args) => command::settings::run(args).map(Exit::into),
        Command::Compare(args) => command::compare::run(args).map(Exit::into),
        Command::History(args) => command::history::run(args).map(Exit::into),
        Command::Report(args) => command::report::run(args).map(Exit::into),
        Command::Export(args) => command::export::run(args).map(Exit::into),
        Command::Profile(args) => command::profile::run(args).map(Exit::into),
        Command::Verify(args) => command::verify::run(args).map(Exit::into),
        Command::Clean(args) => command::clean::run(args).map(Exit::into),
        Command::Copy(args) => command::copy::run(args).map(Exit::into),
        Command::CopyReceiver => command::copy::receive().map(Exit::into),
        Command::Agent(args) => command::supervise::agent(args),
        Command::Worker(args) => command::supervise::worker(args),
        Command::MpiRank => {
            Ok(seatrial_mpi_job::serve_worker(&seatrial_registry::RANK_PROGRAMS.concat(), |_| ()))
        }
        Command::MpiLaunch { words } => Ok(seatrial_mpi_job::launch(words)),
        Command::MpiRemoteShell { words } => Ok(seatrial_mpi_job::remote_shell(words)),
    };
    match ended {
        Ok(code) => code,
        Err(error) => {
            match &error {
                // Rendered in colour, with headings.
                CliError::Profile(text) => output::tell(text),
                error => output::warn(&format!("seatrial: {error}")),
            }
            ExitCode::from(error.exit().0)
        }
    }
}

/// Diagnostics on standard error: warnings and errors, or what SEATRIAL_LOG selects (for example `debug`).
fn trace() {
    use tracing_subscriber::filter::Targets;
    use tracing_subscriber::fmt::layer;
    use tracing_subscriber::prelude::*;
    let asked = std::env::var("SEATRIAL_LOG").ok().and_then(|text| text.parse::<Targets>().ok());
    // Only this function sets a subscriber.
    let _ = match asked {
        Some(targets) => tracing_subscriber::registry()
            .with(layer().with_writer(stderr).with_filter(targets))
            .try_init()
            .is_ok(),
        None => tracing_subscriber::fmt()
            .with_max_level(tracing::Level::WARN)
            .without_time()
            .with_target(false)
            .with_writer(stderr)
            .try_init()
            .is_ok(),
    };
}
