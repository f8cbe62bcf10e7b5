//! `seatrial settings try`.

use std::path::{Path, PathBuf, absolute};

use seatrial_engine::Factors;
use seatrial_model::record::{BenchmarkOptions, RunOptions};

use super::tried::{WantedSettings, of_profile};
use crate::args::{MeasureArgs, TryArgs};
use crate::command::{check, run as measured};
use crate::error::CliError;
use crate::exit::Exit;
use crate::session::{self, Job};
use crate::{params, roles};

pub fn run(args: &TryArgs) -> Result<Exit, CliError> {
    let bench = BenchmarkOptions {
        benchmarks: args.benchmarks.clone(),
        params: params::parse(&args.params)?,
        pattern: args.pattern.clone(),
        yes: args.yes,
        ..BenchmarkOptions::default()
    };
    let write = args.write.as_deref().map(wherever_resumed);
    let options = RunOptions { bench, write, nodes: args.nodes.clone(), ..RunOptions::default() };
    let measure = MeasureArgs {
        plan: args.plan,
        resume: None,
        details: true,
        output: args.output.clone(),
        options: options.clone(),
        script: args.script.clone(),
    };
    session::run(|| job(args, &options.bench), &measure, options.clone(), false)
}

/// The name of `file` from whatever folder the run is resumed. The record holds it as text.
fn wherever_resumed(file: &Path) -> PathBuf {
    let absolute = absolute(file).ok().filter(|path| path.to_str().is_some());
    absolute.unwrap_or_else(|| file.to_owned())
}

fn job(args: &TryArgs, bench: &BenchmarkOptions) -> Result<Job, CliError> {
    let (mut profile, _) = check::chosen(&args.profile, args.output.color)?;
    roles::give(&mut profile, &args.roles)?;
    if profile.settings.is_empty() {
        return Err(CliError::Usage(format!("profile {} has no [[setting]]", profile.id)));
    }
    let settings = WantedSettings {
        settings: of_profile(&profile),
        typed: false,
        repeats: args.repeats.unwrap_or(Factors::REPEATS),
        seed: args.seed.unwrap_or(Factors::SEED),
    };
    Ok(Job { settings: Some(settings), ..measured::job(bench)? })
}
