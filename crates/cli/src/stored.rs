//! A stored run as reports and exports show it.

use seatrial_model::profile::Profile;
use seatrial_model::record::Document;
use seatrial_report::terminal::Content;
use seatrial_store::{Home, RunFolder, StoredRun};

use crate::error::CliError;
use crate::output;

/// The run in `home` that `typed` names; warns of its damage.
pub fn open(home: &Home, typed: &str) -> Result<StoredRun, CliError> {
    let run = RunFolder::open(&home.find(typed)?)?;
    for damage in &run.damage {
        output::warn(&damage.to_string());
    }
    Ok(run)
}

/// The document of `run` with the limits that its profile states, and the profile. The run folder has the derived
/// limits alone, which `verify` computes again.
pub fn document(run: &StoredRun) -> Result<(Document, Option<Profile>), CliError> {
    let mut document = run.document()?;
    let profile = run.profile()?.into_present();
    if let Some(profile) = &profile {
        seatrial_analysis::state_limits(profile, &mut document.results);
    }
    Ok((document, profile))
}

/// The tables of the document of `profile`, for `--source-tables`.
pub fn source_tables(profile: Option<&Profile>) -> Result<Content<'_>, CliError> {
    let no_tables = match profile {
        None => "the run has no profile, whose document could have tables".to_owned(),
        Some(profile) if profile.source_tables.is_empty() => {
            format!("profile {} has no [[table]]; docs/profiles.md shows how to write one", profile.id)
        }
        Some(profile) => return Ok(Content::SourceTables(profile)),
    };
    Err(CliError::Usage(format!("--source-tables: {no_tables}")))
}
