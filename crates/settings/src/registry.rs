//! All settings, in the order of lists.

use seatrial_model::name::nearest;
use seatrial_model::setting::SettingAbout;

use crate::Setting;

/// A set of settings; [`crate::registry()`] is the shipped one.
#[derive(Clone, Copy)]
pub struct Registry {
    pub settings: &'static [&'static dyn Setting],
}

impl Registry {
    pub fn find(&self, id: &str) -> Option<&'static dyn Setting> {
        self.settings.iter().copied().find(|setting| setting.about().id == id)
    }

    pub fn abouts(&self) -> impl Iterator<Item = &'static SettingAbout> {
        self.settings.iter().map(|setting| setting.about())
    }

    pub fn nearest(&self, typed: &str) -> Option<&'static str> {
        nearest(typed, self.abouts().map(|about| about.id))
    }
}
