//! `seatrial check`.

use std::io::{IsTerminal, stderr};

use jiff::Zoned;
use seatrial_engine::Request;
use seatrial_model::record::ProfileRef;
use seatrial_profile::{Catalog, SHIPPED, Source};

use crate::args::CheckArgs;
use crate::error::CliError;
use crate::exit::Exit;
use crate::output;
use crate::session::{self, Job};

/// The profile of a bare `seatrial check`.
const DEFAULT_PROFILE: &str = "host";

/// Measures what a profile demands and judges it.
pub fn run(args: &CheckArgs) -> Result<Exit, CliError> {
    session::run(|| job(args), &args.measure, args.strict)
}

fn job(args: &CheckArgs) -> Result<Job, CliError> {
    let registry = seatrial_bench::registry();
    let abouts: Vec<_> = registry.abouts().collect();
    let catalog = Catalog { abouts: &abouts, planned: registry.planned, settings: &[], patterns: &[] };
    let typed = args.profile.as_deref().unwrap_or(DEFAULT_PROFILE);
    let source = Source::named(typed);
    let color = output::is_colored(args.measure.output.color, stderr().is_terminal());
    let loaded = seatrial_profile::load(&source, SHIPPED, &catalog, Zoned::now().date())
        .map_err(|found| CliError::profile(&found, color))?;
    if !loaded.warnings.is_empty() {
        output::warn(&loaded.warnings.render(color));
    }
    let file = match &source {
        Source::File(path) => Some(path.display().to_string()),
        _ => None,
    };
    let name = ProfileRef { id: loaded.profile.id.clone(), title: loaded.profile.title.clone(), file };
    Ok(Job { requests: Request::of_profile(&loaded.profile), profile: Some((loaded.profile, name)) })
}
