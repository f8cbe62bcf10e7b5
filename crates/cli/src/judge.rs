//! Findings and verdicts of a document.

use std::borrow::Cow;
use std::collections::BTreeMap;

use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use seatrial_analysis::{Assignment, JudgeInputs};
use seatrial_model::Site;
use seatrial_model::profile::Profile;
use seatrial_model::record::{CaseRecord, Document, ProfileRef};

/// Day of a judgement: of the end of the run, in UTC, so that it is the same on every machine.
pub fn day_of(ended: Timestamp) -> Date {
    ended.to_zoned(TimeZone::UTC).date()
}

/// Adds findings, and verdicts if there is a profile, as of the day `today` and with the records of a `reference`
/// run. Returns a message when nothing could be judged.
pub fn judge(
    document: &mut Document,
    profile: Option<&Profile>,
    site: &Site,
    today: Date,
    reference: Option<&[CaseRecord]>,
) -> Option<String> {
    if let Some(profile) = profile {
        seatrial_analysis::state_limits(profile, &mut document.results);
    }
    document.findings.extend(seatrial_analysis::findings(&document.results));
    let settings: Vec<_> = seatrial_settings::registry().abouts().collect();
    seatrial_analysis::explain(&mut document.findings, &document.results, site, &settings);
    let abouts: Vec<_> = seatrial_registry::REGISTRY.abouts().collect();
    document.findings.extend(seatrial_analysis::load_findings(&document.results, &abouts));
    // Roles of the command line are in the profile already.
    let nobody = Profile::default();
    let nodes = Assignment::new(profile.unwrap_or(&nobody), &document.run.nodes, &BTreeMap::new());
    document.findings.extend(seatrial_analysis::fleet_findings(site, &nodes, &document.results, &settings));
    seatrial_analysis::fill_all(&mut document.findings, &document.results, site);
    let profile = profile?;
    document.findings.extend(seatrial_analysis::cost_findings(profile, &document.results));
    let demanded = demanded(&document.results);
    let typed = document.run.profile.as_ref().map_or("", ProfileRef::typed);
    let inputs =
        JudgeInputs { typed, nodes: &nodes, records: &demanded, reference, site, settings: &settings, today };
    let judgement = seatrial_analysis::judge(profile, &inputs);
    let advice = judgement.advice(profile, typed);
    document.verdicts = judgement.verdicts;
    document.verdict = judgement.verdict;
    advice
}

/// Cases that the profile asked for, without those of a load search, the groups of a bisection, and those that load another
/// test.
fn demanded(records: &[CaseRecord]) -> Cow<'_, [CaseRecord]> {
    let is_other = |record: &CaseRecord| {
        let origin = &record.origin;
        origin.load_sweep.is_some() || origin.is_group() || origin.is_load()
    };
    if records.iter().any(is_other) {
        records.iter().filter(|record| !is_other(record)).cloned().collect()
    } else {
        Cow::Borrowed(records)
    }
}
