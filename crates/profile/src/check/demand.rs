//! Checks roles and waivers against existing names.

use std::collections::{BTreeMap, BTreeSet};

use seatrial_model::profile::{Role, Waiver};

use super::Names;
use crate::Diagnostics;
use crate::layer::{Layer, RoleEntry};

pub(super) fn roles(entries: Vec<RoleEntry>) -> BTreeMap<String, Role> {
    let role = |entry: RoleEntry| (entry.id.value, Role { nodes: entry.nodes, expect: entry.expect });
    entries.into_iter().map(role).collect()
}

/// The waivers; warns of those that ended before `today`, whose shortfalls count again.
pub(super) fn waivers(
    layer: &Layer,
    today: jiff::civil::Date,
    names: &Names<'_>,
    found: &mut Diagnostics,
) -> Vec<Waiver> {
    let criteria = layer.criteria.iter().map(|entry| entry.id.value.as_str());
    let known: BTreeSet<&str> =
        criteria.chain(layer.settings.iter().map(|entry| entry.id.value.as_str())).collect();
    let mut waivers = Vec::new();
    for entry in &layer.waivers {
        if !known.contains(entry.criterion.value.as_str()) {
            names.missing("criterion", &entry.criterion, known.iter().copied(), found);
        }
        if entry.until.value < today {
            let title = format!("the waiver of '{}' has expired and excuses nothing", entry.criterion.value);
            found.warning(entry.until.at, title).label(format!("today is {today}"));
        }
        waivers.push(Waiver {
            criterion: entry.criterion.value.clone(),
            nodes: entry.nodes.clone(),
            owner: entry.owner.clone(),
            reason: entry.reason.clone(),
            until: entry.until.value,
        });
    }
    waivers
}
