//! Findings over a fleet: nodes that are slower than their peers or differ from them.
//!
//! Nodes are compared within a class. A class is identity only: the role and the hardware as bought (system,
//! processor, GPUs, cards). Everything that can go wrong with it (a missing memory module, a narrower link, other
//! firmware, another governor) is an attribute, and a different attribute is a finding. If counts and speeds were
//! part of the class, a node that lost a module would be alone in its class, and nothing would be found.

mod attributes;
mod class;
mod clock_offset;
mod errors_grew;
mod one_kernel;
mod outlier;
mod uniformity;

use seatrial_model::record::CaseRecord;
use seatrial_model::setting::SettingAbout;
use seatrial_model::{Finding, Site};

use crate::finding::explain_outliers;
use crate::judge::Assignment;
pub(crate) use attributes::{attributes, how_to_set, setting_name};
pub(crate) use class::alike;
use class::classes;
pub use errors_grew::{note_counters, note_counters_after};
pub(crate) use outlier::KIND as OUTLIER;
pub(crate) use uniformity::KIND as UNIFORMITY;

pub fn fleet_findings(
    site: &Site,
    roles: &Assignment,
    records: &[CaseRecord],
    settings: &[&'static SettingAbout],
) -> Vec<Finding> {
    let mut found = one_kernel::find(site);
    found.extend(errors_grew::find(site, records, settings));
    found.extend(clock_offset::find(site, settings));
    for class in classes(site, roles) {
        found.extend(outlier::find(&class, records));
        found.extend(uniformity::find(&class, records, settings));
    }
    let is_outlier = |finding: &Finding| finding.kind == outlier::KIND;
    explain_outliers(found.iter_mut().filter(|finding| is_outlier(finding)), records, site, settings);
    // What comes and goes on a kernel that several nodes share says nothing about the node that was measured meanwhile.
    let shares =
        |finding: &Finding| finding.node.as_ref().is_some_and(|node| one_kernel::is_shared(site, node));
    found.retain(|finding| {
        !is_outlier(finding) || finding.cause.is_some() || finding.confidence.is_some() && !shares(finding)
    });
    found
}
