//! What remains open where a finding names a node with low confidence.

use seatrial_model::profile::fold;
use seatrial_model::record::CaseRecord;
use seatrial_model::{Confidence, Finding};

/// How many times as far as chance explains a node is away at least for a high confidence.
const FAR: f64 = 2.0;

/// Smallest number of partners that speak against a node with high confidence.
const MANY_PARTNERS: usize = 3;

/// Trials of a case that tells two explanations apart: three times as many as usual.
const TRIALS: u32 = 9;

/// Of a distance so many times what chance explains.
pub fn of_margin(margin: f64) -> Confidence {
    if margin >= FAR { Confidence::High } else { Confidence::Low }
}

/// Of so many partners.
pub const fn of_partners(partners: usize) -> Confidence {
    if partners >= MANY_PARTNERS { Confidence::High } else { Confidence::Low }
}

/// `finding` with its confidence; where that is low, with what else may be, and the command on all nodes of `cases`, which
/// measured what the finding is about, that tells.
pub fn with(finding: Finding, confidence: Confidence, other: &str, cases: &[&CaseRecord]) -> Finding {
    let mut finding = Finding { confidence: Some(confidence), ..finding };
    if let (Confidence::Low, Some(first)) = (confidence, cases.first()) {
        let node = finding.node.as_deref().unwrap_or("the node");
        let mut nodes: Vec<&str> = cases.iter().flat_map(|case| &case.nodes).map(String::as_str).collect();
        nodes.sort_unstable();
        nodes.dedup();
        let pattern =
            first.origin.pattern.as_ref().map_or(String::new(), |pattern| format!(" --pattern {pattern}"));
        finding.text += &format!(
            "; either {node} is at fault, or {other}: `seatrial run {}{pattern} -w {} -p trials={TRIALS} -p \
             max_trials={TRIALS}` tells",
            first.bench,
            fold(&nodes),
        );
    }
    finding
}

#[cfg(test)]
mod tests {
    use seatrial_model::{Severity, Subject};

    use super::*;
    use crate::judge::fixture::case;

    #[test]
    fn a_low_confidence_says_what_else_may_be_and_how_to_tell() {
        let mut pair = case("n1", "n1->n3");
        pair.nodes.push("n3".to_owned());
        pair.origin.pattern = Some("matchings".to_owned());
        pair.bench = "net.tcp_stream".to_owned();
        let about = Finding {
            node: Some("n3".to_owned()),
            ..Finding::new("k", Severity::Problem, Subject::node(), "n3 fails")
        };
        let low = with(about.clone(), of_margin(1.5), "its two links", &[&pair]);
        assert_eq!(
            low.text,
            "n3 fails; either n3 is at fault, or its two links: `seatrial run net.tcp_stream --pattern matchings -w n[1,3] \
             -p trials=9 -p max_trials=9` tells"
        );
        let high = with(about, of_partners(3), "its two links", &[&pair]);
        assert_eq!((high.text.as_str(), high.confidence), ("n3 fails", Some(Confidence::High)));
        assert_eq!((of_margin(2.0), of_partners(2)), (Confidence::High, Confidence::Low));
    }
}
