//! `crossed-rails`: the counter-test of rails, from each rail of a node to the next one of another node. Rails that are joined
//! carry it, mostly through the switches above, and separate ones do not.

use std::collections::{BTreeMap, BTreeSet};

use seatrial_model::record::CaseRecord;
use seatrial_model::{Cause, Finding, Outcome, Params, Quantity, Severity, Unit};

use super::{Rule, about};
use crate::number::{in_unit, significant};

pub(super) const RULE: Rule = Rule {
    kind: "crossed-rails",
    doc: "Rails were measured to the same rail of another node and to the next one: they are joined, or separate.",
    find,
};

/// Parameters that say which rails are used.
const OF_WAY: [&str; 5] = ["rails", "interface", "peer_interface", "device", "peer_device"];

/// The names of the rails at both ends, of a case over several.
fn rails(case: &CaseRecord) -> Option<[Vec<&str>; 2]> {
    let ends = [["port", "peer_port"], ["interface", "peer_interface"]];
    ends.into_iter().find_map(|names| {
        let [Some(own), Some(peer)] = names.map(|name| case.planned(name)) else { return None };
        let [own, peer] = [own, peer].map(|list| list.split('+').collect::<Vec<_>>());
        (case.nodes.len() == 2 && own.len() > 1 && own.len() == peer.len()).then_some([own, peer])
    })
}

/// Whether each rail of the first node is measured to another one of the second.
pub(super) fn is_crossed(case: &CaseRecord) -> bool {
    rails(case).is_some_and(|[own, peer]| {
        let is_apart = own.iter().zip(&peer).all(|(own, peer)| own != peer);
        is_apart && own.iter().collect::<BTreeSet<_>>() == peer.iter().collect()
    })
}

/// Benchmark, nodes, rails of the first node, and all other parameters.
type Question<'a> = (&'a str, &'a [String], Vec<&'a str>, String);

fn find(records: &[CaseRecord]) -> Vec<Finding> {
    let mut questions: BTreeMap<Question<'_>, Vec<&CaseRecord>> = BTreeMap::new();
    for case in records {
        let Some([own, _]) = rails(case) else { continue };
        let others = case.params.iter().filter(|(name, _)| !OF_WAY.contains(name));
        let others: Params = others.map(|(name, value)| (name.to_owned(), value.clone())).collect();
        questions.entry((&case.bench, &case.nodes, own, others.to_string())).or_default().push(case);
    }
    let of_question = |cases: &Vec<&CaseRecord>| {
        let is_straight = |case: &&&CaseRecord| rails(case).is_some_and(|[own, peer]| own == peer);
        let (_, straight) = cases.iter().filter(is_straight).find_map(|case| case.headline())?;
        let crossed = cases.iter().find(|case| is_crossed(case))?;
        let [own, _] = rails(crossed)?;
        let rate = in_unit(straight.median, straight.unit);
        let carried = format!(
            "{} carry {rate} from {} to the same rail of {}",
            own.join("+"),
            crossed.nodes[0],
            crossed.nodes[1]
        );
        let (value, text) = match (crossed.outcome, crossed.cause, crossed.headline()) {
            (Outcome::Measured, _, Some((_, metric))) => {
                let ratio = metric.median / straight.median;
                let rate = in_unit(metric.median, metric.unit);
                let text =
                    format!("and {rate} to the next one, {} of it: the rails are joined", significant(ratio));
                (ratio, text)
            }
            (_, Some(Cause::IoError | Cause::PartnerLost | Cause::Hang | Cause::Missing), _) => {
                let why = crossed.reason.as_deref().unwrap_or("the reason is not known");
                (0.0, format!("and nothing comes to the next one: the rails are separate ({why})"))
            }
            _ => return None,
        };
        let text = format!("{carried}, {text}");
        let finding = Finding::new(RULE.kind, Severity::Info, crossed.subject.clone(), text);
        Some(about(crossed, Finding { value: Quantity::new(value, Unit::Ratio).ok(), ..finding }))
    };
    questions.values().filter_map(of_question).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finding::culprit;
    use crate::judge::fixture::{case, metric, no_limit};

    /// A case from the rails `own` of a node to the rails `peer` of another one; `rate` is none where nothing came.
    fn crossing(nodes: [&str; 2], names: [&str; 2], own: &str, peer: &str, rate: Option<f64>) -> CaseRecord {
        let mut case = case(nodes[0], &nodes.join("->"));
        case.nodes.push(nodes[1].to_owned());
        case.layout.set(names[0], own);
        case.layout.set(names[1], peer);
        case.params.set("rails", if own == peer { "2" } else { "cross" });
        match rate {
            Some(rate) => {
                case.metrics.insert("throughput".to_owned(), metric(rate, (rate, rate), no_limit()));
            }
            None => {
                (case.outcome, case.cause) = (Outcome::Failed, Some(Cause::IoError));
                case.reason = Some("the peer cannot be reached".to_owned());
            }
        }
        case
    }

    const NICS: [&str; 2] = ["interface", "peer_interface"];
    const PORTS: [&str; 2] = ["port", "peer_port"];

    fn found(cases: &[CaseRecord]) -> Vec<(f64, String)> {
        let of = |finding: Finding| (finding.value.expect("a ratio").value(), finding.text);
        find(cases).into_iter().map(of).collect()
    }

    #[test]
    fn joined_rails_are_told_with_the_part_of_the_rate_that_is_left() {
        for names in [NICS, PORTS] {
            let of = |peer, rate| crossing(["n1", "n2"], names, "a+b", peer, Some(rate));
            let found = found(&[of("a+b", 20.0), of("b+a", 5.0)]);
            let [(ratio, text)] = found.as_slice() else { panic!("{found:?}") };
            assert!((ratio - 0.25).abs() < 1e-9, "{ratio}");
            let wanted = "a+b carry 20 GB/s from n1 to the same rail of n2, and 5 GB/s to the next one, 0.25 of it: the \
                          rails are joined";
            assert_eq!(text, wanted);
        }
    }

    #[test]
    fn separate_rails_are_told_and_no_node_is_blamed_for_them() {
        let of = |nodes, peer, rate| crossing(nodes, PORTS, "a+b", peer, rate);
        let pairs = [["n1", "n2"], ["n1", "n3"], ["n2", "n3"]];
        let all: Vec<CaseRecord> =
            pairs.iter().flat_map(|pair| [of(*pair, "a+b", Some(20.0)), of(*pair, "b+a", None)]).collect();
        let found = found(&all);
        assert_eq!(found.len(), 3, "{found:?}");
        let wanted = "a+b carry 20 GB/s from n1 to the same rail of n2, and nothing comes to the next one: the rails are \
                      separate (the peer cannot be reached)";
        assert_eq!(found[0], (0.0, wanted.to_owned()));
        // One way of two is missing, so that one node could be it.
        let mut some =
            vec![of(pairs[0], "b+a", None), of(pairs[1], "b+a", None), of(pairs[2], "b+a", Some(20.0))];
        assert_eq!((culprit::RULE.find)(&some), []);
        some.iter_mut().for_each(|case| case.layout.set("peer_port", "a+b"));
        assert_eq!((culprit::RULE.find)(&some).len(), 1, "straight ones do speak against n1");
    }

    #[test]
    fn crossed_rails_alone_or_other_rails_say_nothing() {
        let of = |own, peer, rate| crossing(["n1", "n2"], NICS, own, peer, rate);
        assert_eq!(found(&[of("a+b", "b+a", None)]), []);
        assert_eq!(found(&[of("a+b", "b+a", None), of("a+b", "a+b", None)]), [], "nothing comes at all");
        assert_eq!(found(&[of("a+c", "a+c", Some(9.0)), of("a+b", "b+a", Some(9.0))]), []);
        assert_eq!(found(&[of("a", "a", Some(9.0)), of("a", "b", Some(3.0))]), []);
        // Nodes whose cards have other names.
        assert_eq!(found(&[of("a+b", "c+d", Some(9.0)), of("a+b", "d+c", Some(3.0))]), []);
    }
}
