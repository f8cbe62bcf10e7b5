//! The names that a profile may use: benchmarks, settings and patterns of this build.

use seatrial_model::setting::SettingAbout;
use seatrial_model::{About, Alias, Planned};

/// The names that a profile may use. The command line fills the catalog from the registry; tests bring their own.
#[derive(Clone, Copy, Debug, Default)]
pub struct Catalog<'a> {
    pub abouts: &'a [&'static About],
    /// Planned benchmarks: profiles may name them, their verdict is unknown.
    pub planned: &'a [Planned],
    pub settings: &'a [&'static SettingAbout],
    pub patterns: &'a [&'a str],
    /// Names for a benchmark under a pattern or with parameters.
    pub aliases: &'a [Alias],
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Known<'a> {
    Here(&'static About),
    Planned(&'a Planned),
}

impl<'a> Catalog<'a> {
    pub(crate) fn find(&self, id: &str) -> Option<Known<'a>> {
        let here = self.abouts.iter().find(|about| about.id == id).map(|about| Known::Here(about));
        here.or_else(|| self.planned.iter().find(|planned| planned.id == id).map(Known::Planned))
    }

    pub(crate) fn setting(&self, id: &str) -> Option<&'static SettingAbout> {
        self.settings.iter().copied().find(|about| about.id == id)
    }

    pub(crate) fn alias(&self, id: &str) -> Option<&'a Alias> {
        self.aliases.iter().find(|alias| alias.id == id)
    }

    /// Ids of all benchmarks, planned ones last.
    pub(crate) fn benchmarks(&self) -> impl Iterator<Item = &'a str> + Clone {
        let planned = self.planned.iter().map(|planned| planned.id);
        self.abouts
            .iter()
            .map(|about| about.id)
            .chain(self.aliases.iter().map(|alias| alias.id))
            .chain(planned)
    }
}
