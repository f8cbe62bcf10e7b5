//! What a fleet says that no node says by itself: who falls behind its peers, and who differs from them.
//!
//! Nodes are compared within a class. A class is identity only: the role and what was bought (system, processor, GPUs,
//! cards). Everything that can go wrong with what was bought (a module missing, a link narrower, another firmware, another
//! governor) is an attribute, and a difference in one is a finding. Were counts and speeds part of the class, a node
//! that lost a module would be alone in a class of its own, and nothing would be found.

mod attributes;
mod class;
mod one_kernel;
mod outlier;
mod uniformity;

use seatrial_model::record::CaseRecord;
use seatrial_model::{Finding, Site};

use crate::judge::Assignment;
pub(crate) use attributes::attributes;
pub(crate) use class::alike;
use class::classes;

/// What is found over all nodes of a run.
pub fn fleet_findings(site: &Site, roles: &Assignment, records: &[CaseRecord]) -> Vec<Finding> {
    let mut found = one_kernel::find(site);
    for class in classes(site, roles) {
        found.extend(outlier::find(&class, records));
        found.extend(uniformity::find(&class));
    }
    found
}
