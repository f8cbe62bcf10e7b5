//! What remains open where a finding names a node with low confidence.

use std::collections::BTreeSet;

use seatrial_model::record::CaseRecord;
use seatrial_model::{Confidence, Finding, quoted};

use crate::command::{named_params, nodes_word};

/// How many times as far as chance explains a node is away at least for a high confidence.
const FAR: f64 = 2.0;

/// Smallest number of partners that speak against a node with high confidence.
const MANY_PARTNERS: usize = 3;

/// Trials of a case that tells two explanations apart: three times as many as usual.
const TRIALS: u64 = 9;

/// Of a distance so many times what chance explains.
pub fn of_margin(margin: f64) -> Confidence {
    if margin >= FAR { Confidence::High } else { Confidence::Low }
}

/// Of so many partners.
pub const fn of_partners(partners: usize) -> Confidence {
    if partners >= MANY_PARTNERS { Confidence::High } else { Confidence::Low }
}

/// Of a distance so many times what chance explains, by the trials of these cases: so many trials as a command that tells
/// makes leave no doubt.
pub fn of_trials(margin: f64, cases: &[&CaseRecord]) -> Confidence {
    let fewest = cases.iter().filter_map(|case| Some(case.headline()?.1.trials)).min();
    if fewest.is_some_and(|trials| trials >= TRIALS) { Confidence::High } else { of_margin(margin) }
}

/// `finding` with its confidence; where that is low, with what else may be, and the command on all nodes of `cases`, which
/// measured what the finding is about, that tells.
pub fn with(finding: Finding, confidence: Confidence, other: &str, cases: &[&CaseRecord]) -> Finding {
    let pattern = cases.first().and_then(|first| first.origin.pattern.as_deref());
    let trials = format!(" -p trials={TRIALS} -p max_trials={TRIALS}");
    with_doubt(finding, confidence, other, || Some(format!("{} tells", command(cases, pattern, &trials)?)))
}

/// The same of a node that has no result with so many partners: more partners tell, not more trials.
pub fn with_partners(finding: Finding, partners: usize, other: &str, cases: &[&CaseRecord]) -> Finding {
    let pairs: BTreeSet<BTreeSet<&String>> = cases.iter().map(|case| case.nodes.iter().collect()).collect();
    let count = nodes(cases).len();
    let has_all = 2 * pairs.len() >= count * count.saturating_sub(1);
    with_doubt(finding, of_partners(partners), other, || match has_all {
        true => Some(format!("only {partners} partners speak against it; more nodes in the run tell")),
        false => Some(format!("{} tells", command(cases, Some("all-pairs"), "")?)),
    })
}

fn with_doubt(
    finding: Finding,
    confidence: Confidence,
    other: &str,
    tells: impl FnOnce() -> Option<String>,
) -> Finding {
    let mut finding = Finding { confidence: Some(confidence), ..finding };
    if let Some(tells) = tells().filter(|_| confidence == Confidence::Low) {
        let node = finding.node.as_deref().unwrap_or("the node");
        finding.text += &format!("; either {node} is at fault, or {other}: {tells}");
    }
    finding
}

fn nodes<'a>(cases: &[&'a CaseRecord]) -> Vec<&'a str> {
    let mut nodes: Vec<&str> = cases.iter().flat_map(|case| &case.nodes).map(String::as_str).collect();
    nodes.sort_unstable();
    nodes.dedup();
    nodes
}

/// The command that measures what the first of `cases` did, on the nodes of all.
fn command(cases: &[&CaseRecord], pattern: Option<&str>, trials: &str) -> Option<String> {
    let first = cases.first()?;
    let pattern = pattern.map_or(String::new(), |pattern| format!(" --pattern {pattern}"));
    let is_of_trials = |pair: &str| matches!(pair.split('=').next(), Some("trials" | "max_trials"));
    let params = named_params(first).into_iter().filter(|pair| !is_of_trials(pair));
    let params: String = params.map(|pair| format!(" -p {}", quoted(&pair))).collect();
    let nodes = nodes_word(&nodes(cases));
    Some(format!("`seatrial run {}{pattern} -w {nodes}{params}{trials}`", first.bench))
}

#[cfg(test)]
mod tests {
    use seatrial_model::{Severity, Subject};

    use super::*;
    use crate::judge::fixture::{case, metric, no_limit};

    #[test]
    fn a_low_confidence_says_what_else_may_be_and_how_to_tell() {
        let mut pair = case("n1", "n1->n3");
        pair.nodes.push("n3".to_owned());
        pair.origin.pattern = Some("matchings".to_owned());
        pair.bench = "net.tcp_stream".to_owned();
        pair.params =
            [("flows".to_owned(), 4_u64.into()), ("trials".to_owned(), 2_u64.into())].into_iter().collect();
        let Ok(id) = "net.tcp_stream@n1+n3/n1->n3[flows=4,trials=2]".parse();
        pair.case = id;
        let about = Finding {
            node: Some("n3".to_owned()),
            ..Finding::new("k", Severity::Problem, Subject::node(), "n3 fails")
        };
        let low = with(about.clone(), of_margin(1.5), "its two links", &[&pair]);
        assert_eq!(
            low.text,
            "n3 fails; either n3 is at fault, or its two links: `seatrial run net.tcp_stream --pattern matchings -w \
             'n[1,3]' -p flows=4 -p trials=9 -p max_trials=9` tells"
        );
        let high = with(about, of_partners(3), "its two links", &[&pair]);
        assert_eq!((high.text.as_str(), high.confidence), ("n3 fails", Some(Confidence::High)));
        let measured = |trials: u64| {
            let mut pair = pair.clone();
            let metric = metric(1.0, (1.0, 1.0), no_limit());
            pair.metrics.insert("rate".to_owned(), seatrial_model::record::MetricRecord { trials, ..metric });
            of_trials(1.5, &[&pair])
        };
        assert_eq!(measured(2), Confidence::Low);
        assert_eq!(measured(9), Confidence::High, "the command that tells was run");
        assert_eq!((of_margin(2.0), of_partners(2)), (Confidence::High, Confidence::Low));
    }

    #[test]
    fn a_node_without_results_is_told_by_more_partners_and_not_by_more_trials() {
        let pair = |one: &str, other: &str| {
            let mut case = case(one, &format!("{one}->{other}"));
            case.nodes.push(other.to_owned());
            case.bench = "net.tcp_stream".to_owned();
            case
        };
        let told = |pairs: &[CaseRecord], partners: usize| {
            let finding = Finding {
                node: Some("n3".to_owned()),
                ..Finding::new("k", Severity::Problem, Subject::node(), "n3 fails")
            };
            with_partners(finding, partners, "both links to it are", &pairs.iter().collect::<Vec<_>>())
        };
        let mut pairs = vec![pair("n1", "n3"), pair("n2", "n3"), pair("n1", "n4"), pair("n2", "n4")];
        let open = "n3 fails; either n3 is at fault, or both links to it are: ";
        let command = "`seatrial run net.tcp_stream --pattern all-pairs -w 'n[1-4]'` tells";
        assert_eq!(told(&pairs, 2).text, format!("{open}{command}"));
        pairs.truncate(2);
        pairs.push(pair("n1", "n2"));
        let all = "only 2 partners speak against it; more nodes in the run tell";
        assert_eq!(told(&pairs, 2).text, format!("{open}{all}"));
        assert_eq!(told(&pairs, 3).text, "n3 fails");
    }
}
