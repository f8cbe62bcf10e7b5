//! Findings and verdicts of a document.

use std::collections::BTreeMap;

use jiff::Zoned;
use seatrial_analysis::{Assignment, Grounds};
use seatrial_model::Site;
use seatrial_model::profile::Profile;
use seatrial_model::record::Document;

/// Adds findings, and verdicts if there is a profile. Returns what to tell a person when nothing could be judged.
pub fn judge(document: &mut Document, profile: Option<&Profile>, site: &Site) -> Option<String> {
    if let Some(profile) = profile {
        seatrial_analysis::state_limits(profile, &mut document.results);
    }
    document.findings.extend(seatrial_analysis::findings(&document.results));
    // Roles given on the command line stand in the profile by now.
    let nobody = Profile::default();
    let nodes = Assignment::new(profile.unwrap_or(&nobody), &document.run.nodes, &BTreeMap::new());
    document.findings.extend(seatrial_analysis::fleet_findings(site, &nodes, &document.results));
    let profile = profile?;
    let settings: Vec<_> = seatrial_settings::registry().abouts().collect();
    let grounds = Grounds {
        nodes: &nodes,
        records: &document.results,
        reference: None,
        site,
        settings: &settings,
        today: Zoned::now().date(),
    };
    let judgement = seatrial_analysis::judge(profile, &grounds);
    let advice = judgement.advice(profile);
    document.verdicts = judgement.verdicts;
    document.verdict = judgement.verdict;
    advice
}
