//! Findings about a gain that paired measurements tell.

use seatrial_model::{Finding, Severity, Subject, Unit};
use seatrial_stats::{Interval, PairedRatio};

use super::Rule;
use crate::number::{quantity, significant};

/// What was measured: the nodes, the part, and the group and metric as evidence.
pub(super) struct PairedStudy<'a> {
    pub nodes: &'a [String],
    pub subject: &'a Subject,
    pub group: &'a str,
    pub metric: &'a str,
}

pub(super) fn finding(rule: &Rule, of: &PairedStudy<'_>, gain: Option<PairedRatio>, text: String) -> Finding {
    let ci95 = gain.and_then(|gain| gain.ci95);
    Finding {
        node: match of.nodes {
            [node] => Some(node.clone()),
            _ => None,
        },
        value: gain.and_then(|gain| quantity(gain.ratio, Unit::Ratio)),
        ci95: ci95.map(|interval| (interval.low, interval.high)),
        evidence: vec![of.group.to_owned(), of.metric.to_owned()],
        ..Finding::new(rule.kind, Severity::Info, of.subject.clone(), text)
    }
}

/// `1.1 to 1.3`.
pub(super) fn range(interval: Interval) -> String {
    format!("{} to {}", significant(interval.low), significant(interval.high))
}

/// `: why it is not known`, where that is told.
pub(super) fn because(reason: Option<&str>) -> String {
    reason.map(|why| format!(": {why}")).unwrap_or_default()
}
