//! Checks settings against their definitions: values and subjects.

use seatrial_model::profile::{Requirement, SettingRule};
use seatrial_model::setting::{SettingAbout, UNLIMITED};
use seatrial_model::{Quantity, Value};

use super::Names;
use crate::diagnostic::{At, Position};
use crate::layer::{Pairs, SettingBound, SettingEntry, plain};
use crate::{Catalog, Diagnostics};

pub(super) fn settings(
    entries: &[SettingEntry],
    catalog: &Catalog<'_>,
    names: &Names<'_>,
    found: &mut Diagnostics,
) -> Vec<SettingRule> {
    let mut rules = Vec::new();
    for entry in entries {
        let roles = names.roles(&entry.roles, found);
        let Some(about) = catalog.setting(&entry.id.value) else {
            let title = format!("there is no setting '{}'", entry.id.value);
            let known = catalog.settings.iter().map(|about| about.id);
            found.error(entry.id.at, title).suggest(&entry.id.value, known);
            continue;
        };
        on(&entry.on, about, found);
        rules.push(SettingRule {
            id: entry.id.value.clone(),
            require: require(entry, about, found),
            on: plain(&entry.on),
            roles,
            why: entry.why.clone(),
            missed: entry.missed,
            without_value: entry.without_value,
        });
    }
    rules
}

/// Reports facts that no subject of the setting can have: such a rule would judge nothing.
fn on(pairs: &Pairs<At<Value>>, about: &SettingAbout, found: &mut Diagnostics) {
    for (name, value) in pairs {
        if name.value == "kind" {
            let kind = value.value.to_string();
            if kind != about.subject {
                let title = format!("{} is a setting of a {}, not of a {kind}", about.id, about.subject);
                found.error(value.at, title);
            }
        } else if !about.facts.contains(&name.value.as_str()) {
            let title = format!("'on' of {} has no key '{}'", about.id, name.value);
            let known = ["kind"].into_iter().chain(about.facts.iter().copied());
            found.error(name.at, title).suggest(&name.value, known);
        }
    }
}

fn require(entry: &SettingEntry, about: &SettingAbout, found: &mut Diagnostics) -> Vec<Requirement> {
    let mut require = vec![Requirement::default(); about.count()];
    if let [first, second, ..] = entry.bounds.as_slice()
        && first.key == "equals"
    {
        let title = format!("a [[setting]] takes 'equals' or '{}', not both", second.key);
        found.error(second.at, title).also(first.at, "the first one");
    }
    for bound in &entry.bounds {
        if bound.key == "none_of" {
            none_of(&mut require, bound, about, found);
            continue;
        }
        let Some(values) = values(bound, about, found) else { continue };
        for (require, value) in require.iter_mut().zip(values) {
            set(require, bound.key, value, about, found);
        }
    }
    refuse_empty(&require, entry, about, found);
    require
}

/// The values of a bound in canonical form, as many as the setting has.
fn values(bound: &SettingBound, about: &SettingAbout, found: &mut Diagnostics) -> Option<Vec<At<Value>>> {
    let typed: Vec<At<String>> = match bound.values.as_slice() {
        // `"262144 327680 393216"`, as sysctl(8) writes it.
        [one] => {
            let text = one.value.to_string();
            about.split(&text).into_iter().map(|part| At { value: part.to_owned(), at: one.at }).collect()
        }
        some => some.iter().map(|one| At { value: one.value.to_string(), at: one.at }).collect(),
    };
    if typed.len() != about.count() {
        let title = match about.fields {
            [] => format!("{} has one value, not {}", about.id, typed.len()),
            fields => {
                format!(
                    "{} has {} values ({}), not {}",
                    about.id,
                    fields.len(),
                    fields.join(", "),
                    typed.len()
                )
            }
        };
        let advice = match about.fields {
            [] => format!("write {} = VALUE", bound.key),
            fields => format!("write {} = [{}]", bound.key, fields.join(", ").to_uppercase()),
        };
        found.error(bound.at, title).help(advice);
        return None;
    }
    let parse =
        |typed: At<String>| Some(At { value: parsed(&typed.value, typed.at, about, found)?, at: typed.at });
    typed.into_iter().map(parse).collect()
}

/// Each value that `none_of` refuses; only for settings with one value.
fn none_of(require: &mut [Requirement], bound: &SettingBound, about: &SettingAbout, found: &mut Diagnostics) {
    let [require] = require else {
        found.error(bound.at, format!("{} has several values, and none_of is for one", about.id));
        return;
    };
    for value in &bound.values {
        require.none_of.extend(parsed(&value.value.to_string(), value.at, about, found));
    }
}

fn parsed(typed: &str, at: Position, about: &SettingAbout, found: &mut Diagnostics) -> Option<Value> {
    let parsed = about.parse(typed);
    if let Err(why) = &parsed {
        found.error(at, format!("setting '{}': {why}", about.id));
    }
    parsed.ok()
}

fn set(
    require: &mut Requirement,
    key: &str,
    value: At<Value>,
    about: &SettingAbout,
    found: &mut Diagnostics,
) {
    if key == "equals" {
        require.equals = Some(value.value);
        return;
    }
    if !about.is_ordered() {
        let title = format!("the values of {} have no order", about.id);
        found.error(value.at, title).help(format!("write equals instead of {key}"));
        return;
    }
    let Ok(quantity) = value.value.to_string().parse::<Quantity>() else {
        let title = format!("'{UNLIMITED}' is not a bound of {}", about.id);
        found.error(value.at, title).help(format!("write equals = \"{UNLIMITED}\""));
        return;
    };
    match key {
        "at_least" => require.at_least = Some(quantity),
        _ => require.at_most = Some(quantity),
    }
}

fn refuse_empty(
    require: &[Requirement],
    entry: &SettingEntry,
    about: &SettingAbout,
    found: &mut Diagnostics,
) {
    let is_empty = |require: &Requirement| {
        let (Some(low), Some(high)) = (require.at_least, require.at_most) else { return false };
        high.to(low.unit()).is_ok_and(|high| low.value() > high.value())
    };
    if require.iter().any(is_empty)
        && let Some(bound) = entry.bounds.last()
    {
        let title = format!("at_most of {} is below its at_least", about.id);
        found.error(bound.at, title).label("below at_least");
    }
}
