//! What a judgement rests on.

use jiff::civil::Date;
use seatrial_model::Value;
use seatrial_model::record::CaseRecord;

use super::Assignment;

/// What a judgement rests on, besides the profile.
#[derive(Clone, Copy, Debug)]
pub struct Grounds<'a> {
    /// The nodes of the run and their roles.
    pub nodes: &'a Assignment,
    /// What was measured.
    pub records: &'a [CaseRecord],
    /// What a run that counts as the reference measured, if one was named.
    pub reference: Option<&'a [CaseRecord]>,
    /// Host settings as read.
    pub readings: &'a [Reading],
    /// The day, for waivers.
    pub today: Date,
}

/// One host setting of one node, as read.
#[derive(Clone, Debug, PartialEq)]
pub struct Reading {
    /// The node.
    pub node: String,
    /// The setting's id.
    pub setting: String,
    /// Its value, or why it could not be read.
    pub value: Result<Value, String>,
}
