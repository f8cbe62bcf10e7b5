//! How much of the numbers of its peers a node has, in words.

use seatrial_model::Finding;

use super::slow;
use crate::beside_peers::beside_peers;
use crate::fleet::{OUTLIER, UNIFORMITY};

/// What a finding says that names a node for its numbers.
pub fn loss(finding: &Finding) -> Option<String> {
    let metric = match finding.kind.as_str() {
        // Of a bisection the number is that of groups.
        kind if kind == slow::NODE.kind && finding.case.is_none() => finding.evidence.get(1),
        OUTLIER => finding.evidence.first(),
        UNIFORMITY => finding.evidence.last(),
        _ => None,
    };
    Some(beside_peers(finding.value?.value(), metric?))
}
