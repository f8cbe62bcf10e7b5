//! `cargo xtask TASK`: what the workspace needs done besides compiling, one file a task.

#![expect(clippy::print_stderr, reason = "a task talks to the person who started it")]

use std::process::ExitCode;

use clap::{Parser, Subcommand};
use xtask::{ci, faults, fresh, fuzz, generate, guest, instructions, lab, test, versus};

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
    Fresh(fresh::Args),
    Fuzz(fuzz::Args),
    Versus(versus::Args),
    Bare(versus::bare::Args),
    Lab(lab::Args),
    Faults(faults::Args),
    Guest(guest::Args),
    Instructions(instructions::Args),
}

fn succeeded((): ()) -> ExitCode {
    ExitCode::SUCCESS
}

fn main() -> ExitCode {
    let done = match Cli::parse().task {
        // Its exit status is that of the command in the guest.
        Task::Guest(args) => guest::run(&args).map(ExitCode::from),
        Task::Test(args) => test::run(&args).map(succeeded),
        Task::Generate(args) => generate::run(&args).map(succeeded),
        Task::Ci(args) => ci::run(&args).map(succeeded),
        Task::Fresh(args) => fresh::run(&args).map(succeeded),
        Task::Fuzz(args) => fuzz::run(&args).map(succeeded),
        Task::Versus(args) => versus::run(&args).map(succeeded),
        Task::Bare(args) => versus::bare::run(&args).map(succeeded),
        Task::Lab(args) => lab::run(&args).map(succeeded),
        Task::Instructions(args) => instructions::run(&args).map(succeeded),
        Task::Faults(args) => faults::run(&args).map(succeeded),
    };
    match done {
        Ok(code) => code,
        Err(error) => {
            // Without the backtrace that RUST_BACKTRACE would add: what failed is a tool, not this code.
            eprintln!("cargo xtask: {error:#}");
            ExitCode::FAILURE
        }
    }
}
