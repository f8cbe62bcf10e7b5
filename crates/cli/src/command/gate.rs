//! `seatrial gate`.

use std::fs;
use std::path::PathBuf;
use std::process::exit;
use std::thread;
use std::time::Duration;

use seatrial_model::Nanos;
use seatrial_model::record::{LauncherChoice, NodeOptions, RunOptions};
use seatrial_store::{Home, HomeEnv};
use signal_hook::consts::SIGTERM;
use signal_hook::low_level::raise;

use super::check::chosen;
use crate::args::{ColorChoice, GateArgs, MeasureArgs, OutputArgs, OutputFormat, Unknown};
use crate::error::CliError;
use crate::exit::Exit;
use crate::only_line::{self, Told};
use crate::session::{self, Job};
use crate::signals::Signals;

/// Time of the start and the inventory, which no case has.
const START: Nanos = Nanos::millis(1000);

/// Time of the judgement. So long before the end the cases that still run are stopped, and what is known is judged.
const JUDGEMENT: Nanos = Nanos::millis(1000);

pub fn run(args: &GateArgs) -> Result<Exit, CliError> {
    let kept = args.keep.then(|| Home::resolve(&HomeEnv::of_process())).transpose()?;
    // Removed at the end with the run in it.
    let passing =
        tempfile::tempdir().map_err(|error| CliError::Usage(format!("no place for files: {error}")))?;
    // From here on a signal ends the cases only.
    let _signals = Signals::listen()?;
    watch(args, passing.path().to_owned());
    let home = kept.unwrap_or_else(|| Home::at(passing.path()));
    let (profile, name) = chosen(&args.profile, ColorChoice::Never)?;
    let tests = profile.tests.clone();
    let job = Job { profile: Some((profile, name)), ..Job::of(tests) };
    // In a job's prologue too only this node is looked at.
    let nodes = NodeOptions { launcher: Some(LauncherChoice::Local), ..NodeOptions::default() };
    let options = RunOptions { nodes, time_budget: Some(NO_REPEATS), ..RunOptions::default() };
    let measure = MeasureArgs {
        plan: false,
        resume: None,
        details: false,
        output: OutputArgs { output: OutputFormat::Table, color: ColorChoice::Never },
        options: options.clone(),
        script: args.script.clone(),
    };
    let found = session::gate(job, &measure, options, &home, args.within.since(START).since(JUDGEMENT))?;
    Ok(counted(found, args.unknown))
}

/// A gate has no time for trials beyond the plan.
const NO_REPEATS: Nanos = Nanos(1);

/// Stops the cases before the time is over, and the process with an unknown result when it is. Agent and workers end with it.
#[expect(clippy::exit, reason = "what hangs cannot be asked to return")]
fn watch(args: &GateArgs, passing: PathBuf) {
    let (within, unknown) = (args.within, args.unknown);
    thread::spawn(move || {
        thread::sleep(Duration::from(within.since(JUDGEMENT)));
        // Ignored: if it cannot be raised, the end comes below.
        let _ = raise(SIGTERM);
        thread::sleep(Duration::from(within.min(JUDGEMENT)));
        let line = format!("unknown: no result within {within}");
        // Ignored where it cannot be printed: the exit code tells the same as the line.
        let found = match only_line::print(&line, Exit::INCOMPLETE) {
            Ok(()) | Err(Told::NotPrinted(_)) => Exit::INCOMPLETE,
            Err(Told::Before(found)) => {
                // The judgement was first, and its process may end by itself.
                thread::sleep(Duration::from(JUDGEMENT));
                found
            }
        };
        // Ignored: what stays is a folder for temporary files.
        let _ = fs::remove_dir_all(passing);
        exit(counted(found, unknown).0.into());
    });
}

const fn counted(found: Exit, unknown: Option<Unknown>) -> Exit {
    match (found, unknown) {
        (Exit::INCOMPLETE, Some(Unknown::Pass)) => Exit::MET,
        (Exit::INCOMPLETE, Some(Unknown::Fail)) => Exit::NOT_MET,
        _ => found,
    }
}
