//! Checks the names of facts, by which a profile selects subjects and states in which state they must be: a name that no
//! subject has would select nothing, and a requirement on it would never be met.

use std::collections::BTreeMap;

use seatrial_model::machine::Device;
use seatrial_model::profile::Requirement;
use seatrial_model::{Params, Value};

use crate::Diagnostics;
use crate::diagnostic::At;
use crate::layer::{Pairs, TestEntry, plain};

/// `on` as written; reports kinds that do not exist, and facts that no subject of the kind has.
pub(super) fn on(pairs: &Pairs<At<Value>>, found: &mut Diagnostics) -> Params {
    if let Some(kind) = kind(pairs)
        && Device::facts_of(&kind.value.to_string()).is_none()
    {
        let word = kind.value.to_string();
        found.error(kind.at, format!("there is no kind '{word}' of subjects")).suggest(&word, kinds());
    }
    exist(pairs, pairs.iter().map(|(name, _)| name), found);
    plain(pairs)
}

/// `require` of a test as written; reports facts that no subject of the kind in its `on` has.
pub(super) fn require(entry: &TestEntry, found: &mut Diagnostics) -> BTreeMap<String, Requirement> {
    exist(&entry.on, entry.require.iter().map(|(name, _)| name), found);
    entry.require.iter().map(|(name, requirement)| (name.value.clone(), requirement.clone())).collect()
}

fn kinds() -> impl Iterator<Item = &'static str> + Clone {
    Device::KINDS.into_iter().chain(Device::OTHER_KINDS)
}

fn kind(on: &Pairs<At<Value>>) -> Option<&At<Value>> {
    on.iter().find(|(name, _)| name.value == "kind").map(|(_, kind)| kind)
}

/// Reports the names that are no facts of the kind in `on`, or, without a kind, of any subject.
fn exist<'a>(on: &Pairs<At<Value>>, names: impl Iterator<Item = &'a At<String>>, found: &mut Diagnostics) {
    let word = kind(on).map(|kind| kind.value.to_string());
    let facts: Vec<&str> = match &word {
        // A kind that does not exist is reported already.
        Some(word) => Device::facts_of(word).unwrap_or_default(),
        None => kinds().filter_map(Device::facts_of).flatten().collect(),
    };
    for name in names.filter(|name| name.value != "kind" && !facts.is_empty()) {
        if !facts.contains(&name.value.as_str()) {
            let of = word.as_ref().map_or(String::new(), |word| format!(" of a {word}"));
            let title = format!("there is no fact '{}'{of}", name.value);
            found.error(name.at, title).suggest(&name.value, facts.iter().copied());
        }
    }
}
