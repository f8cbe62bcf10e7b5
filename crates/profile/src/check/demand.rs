//! Settings, roles and waivers against the names that exist.

use std::collections::{BTreeMap, BTreeSet};

use seatrial_model::profile::{Role, SettingRule, Waiver};

use super::Names;
use crate::layer::{Layer, RoleEntry, SettingEntry};
use crate::{Catalog, Diagnostics};

pub(super) fn settings(
    entries: &[SettingEntry],
    catalog: &Catalog<'_>,
    names: &Names<'_>,
    found: &mut Diagnostics,
) -> Vec<SettingRule> {
    let mut rules = Vec::new();
    for entry in entries {
        if !catalog.settings.contains(&entry.id.value.as_str()) {
            let title = format!("there is no setting '{}'", entry.id.value);
            found.error(entry.id.at, title).suggest(&entry.id.value, catalog.settings.iter().copied());
        }
        rules.push(SettingRule {
            id: entry.id.value.clone(),
            require: entry.require.clone(),
            roles: names.roles(&entry.roles, found),
        });
    }
    rules
}

pub(super) fn roles(entries: Vec<RoleEntry>) -> BTreeMap<String, Role> {
    let role = |entry: RoleEntry| (entry.id.value, Role { nodes: entry.nodes, expect: entry.expect });
    entries.into_iter().map(role).collect()
}

/// The waivers that hold `today`; those that ended are warned of, for what they excused counts again.
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
            continue;
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
