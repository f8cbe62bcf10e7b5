//! Merges the entries of several files.
//!
//! An entry replaces the whole entry of the same name in earlier files, and keeps its position in the order: half of
//! an old criterion under a new bound would be a criterion that nobody wrote. Entries have the same name when their
//! `id` is the same (given or derived); settings when `id`, `on` and roles are; waivers when criterion and nodes are;
//! limits when test, metric and `where` are; prices when `on` is. Title, description and time are those of the last
//! file.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use crate::Diagnostics;
use crate::diagnostic::Position;
use crate::layer::{
    CriterionEntry, Layer, LimitEntry, PriceEntry, RoleEntry, SettingEntry, SourceTableEntry, TestEntry,
    WaiverEntry, plain,
};

/// Merges the layers in order, an extended layer before the one that extends it.
pub(crate) fn merge(layers: Vec<Layer>) -> Layer {
    layers.into_iter().fold(Layer::default(), |base, layer| Layer {
        tests: replace(base.tests, layer.tests),
        criteria: replace(base.criteria, layer.criteria),
        settings: replace(base.settings, layer.settings),
        roles: replace(base.roles, layer.roles),
        waivers: replace(base.waivers, layer.waivers),
        limits: replace(base.limits, layer.limits),
        prices: replace(base.prices, layer.prices),
        source_tables: replace(base.source_tables, layer.source_tables),
        ..layer
    })
}

/// An entry with a name that a later file may replace.
pub(crate) trait Named {
    fn name(&self) -> String;

    /// The position of the name, or of the entry that it derives from.
    fn named_at(&self) -> Position;
}

fn replace<T: Named>(mut base: Vec<T>, later: Vec<T>) -> Vec<T> {
    let mut places: HashMap<String, usize> =
        base.iter().enumerate().map(|(place, entry)| (entry.name(), place)).collect();
    for entry in later {
        match places.entry(entry.name()) {
            Entry::Occupied(place) => base[*place.get()] = entry,
            Entry::Vacant(place) => {
                place.insert(base.len());
                base.push(entry);
            }
        }
    }
    base
}

/// Reports entries of one file with the same name; `what` they are, `advice` how to tell them apart.
pub(crate) fn refuse_twins<T: Named>(entries: &[T], what: &str, advice: &str, found: &mut Diagnostics) {
    let mut first: HashMap<String, Position> = HashMap::new();
    for entry in entries {
        match first.entry(entry.name()) {
            Entry::Occupied(twin) => {
                let title = format!("two {what} are called '{}'", twin.key());
                found.error(entry.named_at(), title).also(*twin.get(), "the first one").help(advice);
            }
            Entry::Vacant(place) => drop(place.insert(entry.named_at())),
        }
    }
}

impl Named for TestEntry {
    fn name(&self) -> String {
        self.id.value.clone()
    }

    fn named_at(&self) -> Position {
        self.id.at
    }
}

impl Named for CriterionEntry {
    fn name(&self) -> String {
        self.id.value.clone()
    }

    fn named_at(&self) -> Position {
        self.id.at
    }
}

/// One setting may have different demands for other subjects and nodes.
impl Named for SettingEntry {
    fn name(&self) -> String {
        let mut name = self.id.value.clone();
        if !self.on.is_empty() {
            name += &format!("[{}]", plain(&self.on));
        }
        if !self.roles.is_empty() {
            let mut roles: Vec<&str> = self.roles.iter().map(|role| role.value.as_str()).collect();
            roles.sort_unstable();
            name += &format!(" of {}", roles.join(","));
        }
        name
    }

    fn named_at(&self) -> Position {
        self.id.at
    }
}

impl Named for RoleEntry {
    fn name(&self) -> String {
        self.id.value.clone()
    }

    fn named_at(&self) -> Position {
        self.id.at
    }
}

impl Named for WaiverEntry {
    fn name(&self) -> String {
        format!("{} on {}", self.criterion.value, self.nodes)
    }

    fn named_at(&self) -> Position {
        self.criterion.at
    }
}

impl Named for LimitEntry {
    fn name(&self) -> String {
        format!("{}.{}[{}]", self.test.value, self.metric.value, plain(&self.cases))
    }

    fn named_at(&self) -> Position {
        self.metric.at
    }
}

impl Named for PriceEntry {
    fn name(&self) -> String {
        let share = self.share.as_ref().map_or(String::new(), |share| format!(" {}", share.of));
        format!("{}{share}", plain(&self.on))
    }

    fn named_at(&self) -> Position {
        self.at
    }
}

impl Named for SourceTableEntry {
    fn name(&self) -> String {
        self.id.value.clone()
    }

    fn named_at(&self) -> Position {
        self.id.at
    }
}
