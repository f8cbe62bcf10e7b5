//! From a source to a checked profile, with everything that it extends.

use std::collections::HashSet;

use seatrial_model::profile::Profile;

use crate::check::check;
use crate::diagnostic::At;
use crate::layer::Layer;
use crate::merge::merge;
use crate::read::read;
use crate::source::{Opened, Refusal};
use crate::{Catalog, Diagnostics, Shipped, Source};

/// The largest number of files that extend each other in a chain.
const LONGEST_CHAIN: usize = 32;

#[derive(Clone, Debug, PartialEq)]
pub struct Loaded {
    /// The profile, merged with everything that it extends.
    pub profile: Profile,
    /// Warnings for the user, such as expired waivers.
    pub warnings: Diagnostics,
}

/// Reads `source` and what it extends, and checks it against `catalog`. Waivers that ended before `today` are left
/// out, with a warning.
pub fn load(
    source: &Source,
    shipped: &[Shipped],
    catalog: &Catalog<'_>,
    today: jiff::civil::Date,
) -> Result<Loaded, Diagnostics> {
    let mut loader = Loader { shipped, is_whole: true, ..Loader::default() };
    match source.open(shipped) {
        Ok(opened) => loader.add(opened),
        Err(Refusal { why, help }) => loader.found.error_nowhere(why).help = help,
    }
    let Loader { mut found, layers, merged, is_whole, .. } = loader;
    // Nearest first: the profile itself is merged last.
    let extends = merged.into_iter().rev().skip(1).collect();
    let profile = check(merge(layers), extends, catalog, today, is_whole, &mut found);
    found.sort();
    if found.has_errors() { Err(found) } else { Ok(Loaded { profile, warnings: found }) }
}

#[derive(Default)]
struct Loader<'a> {
    shipped: &'a [Shipped],
    found: Diagnostics,
    /// Whether every file and every entry could be read.
    is_whole: bool,
    layers: Vec<Layer>,
    merged: Vec<String>,
    seen: HashSet<String>,
    /// Identity and name of the sources being read, the outermost first.
    chain: Vec<(String, String)>,
}

impl Loader<'_> {
    /// Adds the layers of what `opened` extends, then its own. A source that several others extend is merged once, at
    /// its first mention, so that a second mention does not undo entries in between.
    fn add(&mut self, opened: Opened) {
        self.seen.insert(opened.identity.clone());
        let file = self.found.add_text(&opened.name, &opened.text);
        let layer = read(file, &opened.stem, &opened.text, &mut self.found);
        self.is_whole &= layer.as_ref().is_some_and(|layer| layer.is_whole);
        let Some(layer) = layer else { return };
        self.chain.push((opened.identity, opened.name));
        for name in &layer.extends {
            self.extend(name, opened.folder.as_deref());
        }
        self.chain.pop();
        self.merged.push(layer.id.clone());
        self.layers.push(layer);
    }

    fn extend(&mut self, name: &At<String>, folder: Option<&std::path::Path>) {
        let opened = Source::extended(&name.value, folder).and_then(|source| source.open(self.shipped));
        let opened = match opened {
            Ok(opened) => opened,
            Err(Refusal { why, help }) => {
                self.found.error(name.at, why).help = help;
                self.is_whole = false;
                return;
            }
        };
        if let Some(start) = self.chain.iter().position(|(identity, _)| *identity == opened.identity) {
            let circle = self.chain[start..].iter().map(|(_, name)| name.as_str());
            let circle: Vec<_> = circle.chain([self.chain[start].1.as_str()]).collect();
            self.found.error(name.at, "profiles extend each other in a circle").help(circle.join(" -> "));
        } else if self.chain.len() >= LONGEST_CHAIN {
            self.is_whole = false;
            self.found.error(name.at, format!("more than {LONGEST_CHAIN} profiles extend one another"));
        } else if !self.seen.contains(&opened.identity) {
            self.add(opened);
        }
    }
}
