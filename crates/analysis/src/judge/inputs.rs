//! The inputs of a judgement, besides the profile.

use jiff::civil::Date;
use seatrial_model::Site;
use seatrial_model::record::CaseRecord;
use seatrial_model::setting::SettingAbout;

use super::Assignment;

#[derive(Clone, Copy, Debug)]
pub struct JudgeInputs<'a> {
    /// The profile as named after `check`.
    pub typed: &'a str,
    pub nodes: &'a Assignment,
    pub records: &'a [CaseRecord],
    /// The cases of the reference run, if one was named.
    pub reference: Option<&'a [CaseRecord]>,
    /// The nodes as they were when the run began, with the settings of their hosts.
    pub site: &'a Site,
    /// All known settings, with the commands that change them.
    pub settings: &'a [&'static SettingAbout],
    pub today: Date,
}
