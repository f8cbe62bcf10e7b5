//! `seatrial export`.

use std::io;
use std::path::Path;

use seatrial_report::export::{Material, put};
use seatrial_store::{Home, HomeEnv, State};

use crate::args::{ExportArgs, STANDARD_OUTPUT};
use crate::error::CliError;
use crate::exit::Exit;
use crate::{output, samples, stored};

/// Writes a run in the requested formats. Exits with 0 when all were written, or with the exit code of a format on
/// standard output that has one.
pub fn run(args: &ExportArgs) -> Result<Exit, CliError> {
    written(args).or_else(|error| {
        let mut printed = args.targets.0.iter().filter(|(_, file)| file == STANDARD_OUTPUT);
        let Some((line, exit)) = printed.find_map(|(export, _)| export.failed(&error.to_string())) else {
            return Err(error);
        };
        output::warn(&error.to_string());
        // The exit code says the same if the line cannot be printed.
        let _ = output::fill(|out| writeln!(out, "{line}"));
        Ok(Exit(exit))
    })
}

fn written(args: &ExportArgs) -> Result<Exit, CliError> {
    let targets = &args.targets.0;
    let printed: Vec<_> = targets.iter().filter(|(_, file)| file == STANDARD_OUTPUT).collect();
    if let [(first, _), (second, _), ..] = printed.as_slice() {
        return Err(CliError::Usage(format!(
            "--{} and --{} cannot both go to standard output: give one of them a file",
            first.about().flag,
            second.about().flag
        )));
    }
    let run = stored::open(&Home::resolve(&HomeEnv::of_process())?, &args.run)?;
    if run.state == State::Running {
        output::warn("the run has not ended: what it measured so far is written");
    }
    let (mut document, profile) = stored::document(&run)?;
    samples::put_back(&run, &mut document.results);
    let site = run.site()?;
    let material = Material {
        document: &document,
        site: &site,
        profile: profile.as_ref(),
        folder: run.files().folder(),
    };
    let mut exit = Exit::MET;
    for (export, file) in targets {
        if file == STANDARD_OUTPUT {
            output::fill(|out| export.write(&material, out))?;
            exit = export.exit(&material).map_or(exit, Exit);
        } else {
            let written = put(Path::new(file), |out| export.write(&material, out));
            written.map_err(|error| {
                io::Error::new(error.kind(), format!("--{} {file}: {error}", export.about().flag))
            })?;
        }
    }
    Ok(exit)
}
