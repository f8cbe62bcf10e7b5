//! The agents of a run: this machine's own, or simulated ones.

use seatrial_cluster::{Fleet, LaunchError, Launcher, LocalLauncher, ScriptFile, build_id};

use crate::args::MeasureArgs;
use crate::error::CliError;

/// Starts what `args` ask for.
///
/// # Errors
/// When no agent comes up.
pub fn launch(args: &MeasureArgs) -> Result<Box<dyn Fleet>, CliError> {
    if let Some(path) = &args.script {
        let script = ScriptFile::read(path).map_err(|error| CliError::Usage(error.to_string()))?;
        return Ok(Box::new(script.into_fleet()));
    }
    Ok(LocalLauncher::new(build()?).launch()?)
}

/// What this binary is, so that controller and agent never talk past each other.
///
/// # Errors
/// When the binary cannot read itself.
pub fn build() -> Result<String, CliError> {
    build_id(env!("CARGO_PKG_VERSION")).map_err(|error| {
        let why = format!("reading its own binary: {error}");
        LaunchError::Start { node: "this machine".to_owned(), why }.into()
    })
}
