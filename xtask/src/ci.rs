//! `cargo xtask ci`: everything that a change must pass, as stages with their minutes.

use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use clap::ValueEnum;

use crate::{deny, emulated, fuzz, generate, instructions, test, workspace};

/// Run the stages that a change must pass, or those named.
#[derive(clap::Args)]
pub struct Args {
    /// The stages to run.
    #[arg(value_name = "STAGE", default_values_t = [Stage::Fmt, Stage::Deny, Stage::Clippy, Stage::Doc, Stage::Generate, Stage::Emulated, Stage::Instructions, Stage::Test])]
    pub stages: Vec<Stage>,
}

/// A stage; the tests come last, so that their closing lines end the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Stage {
    /// The code is formatted.
    Fmt,
    /// Licences, bans and sources of the dependencies.
    Deny,
    /// No warnings, in any target.
    Clippy,
    /// The documentation builds without warnings.
    Doc,
    /// Generated files are unchanged.
    Generate,
    /// Unit tests and the binary on emulated processors: x86-64 of 2008 and x86-64-v3.
    Emulated,
    /// The same on an emulated 64-bit Arm. By name only: everything is compiled once more for it.
    Arm,
    /// The hot loops take no more instructions than those kept.
    Instructions,
    /// Twenty seconds of each fuzz target, two at a time. By name only: its instrumented build takes ten minutes, and the
    /// tests read the kept corpus without it.
    Fuzz,
    /// All tests, but those of `guests`.
    Test,
    /// The tests that measure in virtual machines. By name only: their processors are emulated.
    Guests,
}

impl std::fmt::Display for Stage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(match self {
            Stage::Fmt => "fmt",
            Stage::Deny => "deny",
            Stage::Clippy => "clippy",
            Stage::Doc => "doc",
            Stage::Generate => "generate",
            Stage::Emulated => "emulated",
            Stage::Arm => "arm",
            Stage::Instructions => "instructions",
            Stage::Fuzz => "fuzz",
            Stage::Test => "test",
            Stage::Guests => "guests",
        })
    }
}

impl Stage {
    fn run(self) -> Result<()> {
        let cargo = |line: &str| workspace::cargo(line.split_whitespace());
        match self {
            Stage::Fmt => workspace::run(&mut cargo("fmt --all --check")),
            Stage::Deny => deny::check(),
            Stage::Clippy => {
                workspace::run(&mut cargo("clippy --locked --workspace --all-targets -- -D warnings"))
            }
            Stage::Doc => {
                workspace::run(cargo("doc --locked --workspace --no-deps").env("RUSTDOCFLAGS", "-D warnings"))
            }
            Stage::Generate => generate::run(&generate::Args { check: true }),
            Stage::Emulated => emulated::as_x86(),
            Stage::Arm => emulated::as_arm(),
            Stage::Instructions => instructions::run(&instructions::Args { keep: false }),
            Stage::Fuzz => {
                fuzz::run(&fuzz::Args { targets: Vec::new(), runs: None, seconds: 20, seed: 1, keep: false })
            }
            Stage::Test => test::run(&test::Args { args: Vec::new() }),
            Stage::Guests => test::run(&test::Args { args: test::guests()? }),
        }
    }
}

/// Runs the stages, all of them whatever the earlier ones said, and prints the minutes of each.
///
/// # Errors
/// When a stage failed; names all that did.
pub fn run(args: &Args) -> Result<()> {
    let mut times = Vec::new();
    let mut failed = Vec::new();
    for &stage in &args.stages {
        eprintln!("== {stage}");
        let started = Instant::now();
        if let Err(error) = stage.run().with_context(|| format!("stage {stage}")) {
            eprintln!("{error:#}");
            failed.push(stage.to_string());
        }
        times.push((stage, started.elapsed()));
    }
    println!("{}", minutes(&times));
    if failed.is_empty() {
        return Ok(());
    }
    bail!("failed: {}", failed.join(", "))
}

/// One line, so that the closing lines of the tests stay in sight.
fn minutes(times: &[(Stage, Duration)]) -> String {
    let part = |name: &str, time: Duration| format!("{name} {:.1}", time.as_secs_f64() / 60.0);
    let total = times.iter().map(|(_, time)| *time).sum();
    let stages = times.iter().map(|(stage, time)| part(&stage.to_string(), *time));
    let parts: Vec<String> = stages.chain([part("total", total)]).collect();
    format!("minutes: {}", parts.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_minutes_of_every_stage_and_their_sum_stand_in_one_line() {
        let times = [(Stage::Fmt, Duration::from_secs(6)), (Stage::Test, Duration::from_secs(120))];
        assert_eq!(minutes(&times), "minutes: fmt 0.1, test 2.0, total 2.1");
    }
}
