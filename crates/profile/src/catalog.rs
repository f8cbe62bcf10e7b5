//! What a profile may name: the benchmarks, settings and patterns of this build.

use seatrial_model::setting::SettingAbout;
use seatrial_model::{About, Alias, Planned};

/// What a profile may name. The command line fills it from the registry; tests bring their own.
#[derive(Clone, Copy, Debug, Default)]
pub struct Catalog<'a> {
    /// Benchmarks that can run.
    pub abouts: &'a [&'static About],
    /// Benchmarks still to come: they may be named, and judge as unknown.
    pub planned: &'a [Planned],
    pub settings: &'a [&'static SettingAbout],
    pub patterns: &'a [&'a str],
    /// Benchmarks under a pattern that have a name of their own.
    pub aliases: &'a [Alias],
}

/// What stands behind the id of a benchmark.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Known<'a> {
    Here(&'static About),
    /// It is still to come.
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

    /// What the name `id` stands for, if it is one.
    pub(crate) fn alias(&self, id: &str) -> Option<&'a Alias> {
        self.aliases.iter().find(|alias| alias.id == id)
    }

    /// Ids of all benchmarks, those that can run first.
    pub(crate) fn benchmarks(&self) -> impl Iterator<Item = &'a str> + Clone {
        let planned = self.planned.iter().map(|planned| planned.id);
        self.abouts
            .iter()
            .map(|about| about.id)
            .chain(self.aliases.iter().map(|alias| alias.id))
            .chain(planned)
    }
}
