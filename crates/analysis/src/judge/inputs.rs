//! What a judgement rests on.

use jiff::civil::Date;
use seatrial_model::Site;
use seatrial_model::record::CaseRecord;
use seatrial_model::setting::SettingAbout;

use super::Assignment;

/// What a judgement rests on, besides the profile.
#[derive(Clone, Copy, Debug)]
pub struct JudgeInputs<'a> {
    /// The nodes of the run and their roles.
    pub nodes: &'a Assignment,
    pub records: &'a [CaseRecord],
    /// What a run that counts as the reference measured, if one was named.
    pub reference: Option<&'a [CaseRecord]>,
    /// The nodes as they were when the run began, with the settings of their hosts.
    pub site: &'a Site,
    /// The settings there are, for how to change one that is not as wanted.
    pub settings: &'a [&'static SettingAbout],
    /// The day, for waivers.
    pub today: Date,
}
