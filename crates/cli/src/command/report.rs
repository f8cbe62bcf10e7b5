//! `seatrial report`.

use seatrial_store::{Home, HomeEnv, RunFolder};

use crate::args::ReportArgs;
use crate::error::CliError;
use crate::exit::Exit;
use crate::output;

/// Shows a run again.
pub fn run(args: &ReportArgs) -> Result<Exit, CliError> {
    let home = Home::resolve(&HomeEnv::of_process())?;
    let path = home.find(&args.run)?;
    let run = RunFolder::open(&path)?;
    for damage in &run.damage {
        output::warn(&damage.to_string());
    }
    output::document(&run.document()?, &args.output, Some(&path))?;
    Ok(Exit::MET)
}
