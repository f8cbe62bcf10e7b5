//! `cargo xtask TASK`: what the workspace needs done besides compiling, one file a task.

#![expect(clippy::print_stderr, reason = "a task talks to the person who started it")]

use std::process::ExitCode;

use clap::{Parser, Subcommand};
use xtask::{ci, generate, lab, test, versus};

/// Tasks of the Seatrial workspace.
#[derive(Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask", version, max_term_width = 100)]
struct Cli {
    #[command(subcommand)]
    task: Task,
}

#[derive(Subcommand)]
enum Task {
    Test(test::Args),
    Generate(generate::Args),
    Ci(ci::Args),
    Versus(versus::Args),
    Bare(versus::bare::Args),
    Lab(lab::Args),
}

fn main() -> ExitCode {
    let done = match Cli::parse().task {
        Task::Test(args) => test::run(&args),
        Task::Generate(args) => generate::run(&args),
        Task::Ci(args) => ci::run(&args),
        Task::Versus(args) => versus::run(&args),
        Task::Bare(args) => versus::bare::run(&args),
        Task::Lab(args) => lab::run(&args),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // Without the backtrace that RUST_BACKTRACE would add: what failed is a tool, not this code.
            eprintln!("cargo xtask: {error:#}");
            ExitCode::FAILURE
        }
    }
}
