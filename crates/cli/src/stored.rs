//! A stored run as reports and exports show it.

use seatrial_model::profile::Profile;
use seatrial_model::record::Document;
use seatrial_store::StoredRun;

use crate::error::CliError;

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
