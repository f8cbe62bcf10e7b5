//! Waivers: shortfalls that are excused for a time, and still shown.

use jiff::civil::Date;
use seatrial_model::profile::Waiver;
use seatrial_model::{Verdict, VerdictRecord};

/// Attaches the waiver that covers `record`. A `fail` becomes `warn` while the waiver holds; every other verdict
/// stays: a waiver excuses a shortfall and not a lack of knowledge.
pub(super) fn apply(record: &mut VerdictRecord, waivers: &[Waiver], today: Date) {
    let covering =
        || waivers.iter().filter(|waiver| waiver.covers(&record.criterion, record.node.as_deref()));
    if let Some(waiver) = covering().find(|waiver| today <= waiver.until) {
        record.waiver = Some(format!("waived by {} until {}: {}", waiver.owner, waiver.until, waiver.reason));
        if record.verdict == Verdict::Fail {
            record.verdict = Verdict::Warn;
        }
    } else if let Some(waiver) = covering().max_by_key(|waiver| waiver.until) {
        let ended = format!("the waiver by {} ended on {}", waiver.owner, waiver.until);
        let reasons = record.reason.take().into_iter().chain([ended]);
        record.reason = Some(reasons.collect::<Vec<_>>().join("; "));
    }
}
