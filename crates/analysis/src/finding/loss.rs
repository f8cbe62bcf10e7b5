//! How much of the numbers of its peers a node has, in words.

use seatrial_model::Finding;

use super::slow;
use crate::fleet::{OUTLIER, UNIFORMITY};
use crate::number::significant;

/// `12 % of its peers' throughput`, `3.2 times its peers' latency`: of a number that is `percent` above that of the peers.
pub(crate) fn beside_peers(percent: f64, metric: &str) -> String {
    let share = 100.0 + percent;
    match percent < 0.0 {
        true if share >= 10.0 => format!("{share:.0} % of its peers' {metric}"),
        true => format!("{} % of its peers' {metric}", significant((100.0 * share).round() / 100.0)),
        false => format!("{} times its peers' {metric}", significant(share.round() / 100.0)),
    }
}

/// The same of a finding that names a node for its numbers.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_shares_and_times_are_multiples() {
        let told = [(-88.27, "11"), (-8.0, "92"), (-99.625, "0.38"), (220.4, "3.2")];
        assert_eq!(beside_peers(told[0].0, "rate"), "12 % of its peers' rate");
        assert_eq!(beside_peers(told[1].0, "rate"), "92 % of its peers' rate");
        assert_eq!(beside_peers(told[2].0, "rate"), "0.38 % of its peers' rate");
        assert_eq!(beside_peers(told[3].0, "latency"), "3.2 times its peers' latency");
    }
}
