//! `lossy-node`: the node at whose end packets are lost.
//!
//! A flow with losses does not tell at which end. The node is the one that loses packets with most of its partners,
//! while these lose nothing with others.

use std::collections::{BTreeMap, BTreeSet};

use seatrial_model::record::CaseRecord;
use seatrial_model::{Fact, Finding, FlowLoss, LastFlows, LossShare, Outcome, Severity, Subject, Unit};
use seatrial_stats::fisher_exact;

use super::Rule;
use super::confidence;
use super::matrix::{SlowSide, sides};
use super::speeds::is_named_slow;
use crate::number::{quantity, significant};

pub(super) const RULE: Rule = Rule {
    kind: "lossy-node",
    doc: "A node loses packets, be it few, or half of the acknowledgements, duplicates packets or changes their order with most \
          of its partners, at least two of which have nothing of the kind with other nodes; twice the share that a quarter of all \
          pairs have at most is needed, and, unless the loss limits the flows, 80 % of its pairs and an excess over the other pairs \
          that chance brings once in 100 times at most (Fisher's exact test). If `slow-node` names the node, that finding tells it.",
    find,
};

/// The finding of a benchmark whose flows were limited by packet loss.
const OF_CASE: &str = "limited-by-loss";

/// Smallest number of partners that a node lost packets with: with one partner either end may be the cause.
const FEWEST_PARTNERS: usize = 2;

/// What is lost of the flows of a pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lost {
    /// Nothing; data comes twice.
    Duplicates,
    /// Nothing; data comes so long after later data that it is sent again.
    Order,
    /// Data, so much that it limits the flows.
    Segments,
    /// The answers of the receiver; a flow bears many such losses.
    Acknowledgements,
    /// Data, but too little to limit flows of short round trips.
    FewSegments,
}

/// Share and least number of lost segments of a flow that chance does not explain: on a machine with five times as many
/// programs as CPUs, sound flows sent up to 0.06 % again.
const FEW: f64 = 0.0008;
const FEWEST_SEGMENTS: u64 = 8;

/// Share of the acknowledgements that no two ends differ by because they count at different moments: on the same machine up
/// to 0.41 in single flows.
const ACKNOWLEDGEMENTS: f64 = 0.5;

/// Share of the segments that come twice, or so late that they were sent again: beside compilers sound flows had 0.1 % of them
/// at most, and flows of a node that gets one in ten packets twice 0.4 % of late ones.
const DISTURBED: f64 = 0.005;

/// Share of its pairs with which a node has what also a busy machine brings: all of three, as two of three are soon met by chance.
const MOST_PAIRS: f64 = 0.8;

/// Largest probability that chance puts so many of the pairs with losses at one node, where pairs of other nodes have them too. On a
/// machine of two CPUs with eight nodes and BBR, half of all sound pairs had data that came late.
const CHANCE: f64 = 0.01;

/// A share that is so many times the usual one is that of an end, not of the network: where all paths lose 0.1 %, flows of a
/// second lost up to 0.12 %.
const UNUSUAL: f64 = 2.0;

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Lossy<'a> {
    pub group: &'a str,
    pub node: &'a str,
    /// Where it loses them, in pairs that were measured in both directions.
    pub side: SlowSide,
    pub what: Lost,
    /// Its pairs with losses, and all its pairs.
    lost: Vec<&'a CaseRecord>,
    pairs: usize,
}

fn find(records: &[CaseRecord]) -> Vec<Finding> {
    let is_told = |lossy: &Lossy<'_>| is_named_slow(records, lossy.group, lossy.node, lossy.side);
    nodes(records).iter().filter(|lossy| !is_told(lossy)).map(Lossy::finding).collect()
}

pub(super) fn nodes<'a>(records: &'a [CaseRecord]) -> Vec<Lossy<'a>> {
    let mut questions: BTreeMap<(&str, String), Vec<&CaseRecord>> = BTreeMap::new();
    for case in records.iter().filter(|case| case.outcome == Outcome::Measured) {
        if matches!(case.nodes.as_slice(), [one, other] if one != other) {
            questions.entry((&case.group, case.params.to_string())).or_default().push(case);
        }
    }
    let of_cases = |cases: &Vec<&'a CaseRecord>| {
        // Where data is lost, the acknowledgements that miss are those of the data; what comes twice or late looks like a loss
        // to the sender.
        let all = [Lost::Duplicates, Lost::Order, Lost::Segments, Lost::Acknowledgements, Lost::FewSegments];
        all.into_iter()
            .map(|what| of_question(cases, what))
            .find(|found| !found.is_empty())
            .unwrap_or_default()
    };
    questions.values().flat_map(of_cases).collect()
}

fn of_question<'a>(cases: &[&'a CaseRecord], what: Lost) -> Vec<Lossy<'a>> {
    let usual = what.usual_share(cases);
    let is_unusual = |case: &CaseRecord| what.share(case).is_none_or(|share| share >= UNUSUAL * usual);
    let loses = |case: &CaseRecord| what.is_in(case) && is_unusual(case);
    let all_lost = cases.iter().filter(|case| loses(case)).count();
    if all_lost == 0 {
        return Vec::new();
    }
    let nodes: BTreeSet<&'a str> = cases.iter().flat_map(|case| &case.nodes).map(String::as_str).collect();
    let is_good =
        |node: &str| cases.iter().any(|case| SlowSide::Both.has_node(node, &case.nodes) && !loses(case));
    let sides = sides(cases);
    let of = |node: &'a str, side: SlowSide| {
        // Of a pair that nothing was counted of, nothing is known.
        let is_known = |case: &CaseRecord| !what.is_of_busy_machines() || what.is_counted(case);
        let is_own = |case: &&CaseRecord| side.has_node(node, &case.nodes) && is_known(case);
        let own = cases.iter().copied().filter(is_own);
        let (lost, kept): (Vec<&'a CaseRecord>, Vec<&'a CaseRecord>) = own.partition(|case| loses(case));
        let pairs = lost.len() + kept.len();
        let partners = lost.iter().flat_map(|case| &case.nodes).filter(|one| *one != node);
        let good: BTreeSet<&String> = partners.filter(|partner| is_good(partner)).collect();
        let elsewhere = all_lost - lost.len();
        let is_chance = || {
            (lost.len() as f64) < MOST_PAIRS * pairs as f64
                || elsewhere > 0
                    && fisher_exact((lost.len(), pairs), (elsewhere, cases.len() - pairs)) > CHANCE
        };
        let is_most = lost.len() > kept.len() && !(what.is_of_busy_machines() && is_chance());
        (good.len() >= FEWEST_PARTNERS && is_most).then(|| Lossy {
            group: &lost[0].group,
            node,
            side,
            what,
            pairs,
            lost,
        })
    };
    // A node that loses on both sides does so as a whole.
    nodes.into_iter().filter_map(|node| sides.iter().find_map(|side| of(node, *side))).collect()
}

impl Lost {
    fn is_in(self, case: &CaseRecord) -> bool {
        match self {
            Self::Segments => case.findings.iter().any(|finding| finding.kind == OF_CASE),
            Self::Acknowledgements => self.share(case).is_some_and(|share| share >= ACKNOWLEDGEMENTS),
            Self::Duplicates | Self::Order => self.share(case).is_some_and(|share| share >= DISTURBED),
            Self::FewSegments => LastFlows::of(&case.evidence).is_some_and(|flows| {
                let is_enough = |shares: &LossShare| {
                    shares.lost.is_some_and(|lost| lost >= FEW) && shares.lost_segments >= FEWEST_SEGMENTS
                };
                flows.0.iter().any(|flow| is_enough(&flow.shares))
            }),
        }
    }

    /// Whether the kernels count such losses of the case.
    pub fn is_counted(self, case: &CaseRecord) -> bool {
        self.share(case).is_some()
    }

    /// The share that all pairs have but for the best ones: the lower quartile.
    fn usual_share(self, cases: &[&CaseRecord]) -> f64 {
        let mut shares: Vec<f64> = cases.iter().map(|case| self.share(case).unwrap_or(0.0)).collect();
        shares.sort_by(f64::total_cmp);
        shares.get(shares.len().saturating_sub(1) / 4).copied().unwrap_or(0.0)
    }

    /// Whether sound pairs have it where programs wait for CPUs.
    const fn is_of_busy_machines(self) -> bool {
        !matches!(self, Self::Segments)
    }

    /// The largest share over the flows of the case.
    fn share(self, case: &CaseRecord) -> Option<f64> {
        let flows = LastFlows::of(&case.evidence)?.0;
        let of_flow = |flow: &FlowLoss| match self {
            Self::Segments | Self::FewSegments => flow.shares.lost,
            Self::Acknowledgements => flow.shares.acknowledgements_lost,
            Self::Duplicates => flow.shares.duplicated,
            Self::Order => flow.shares.reordered,
        };
        flows.iter().filter_map(of_flow).reduce(f64::max)
    }

    const fn words(self) -> &'static str {
        match self {
            Self::Acknowledgements => "acknowledgements",
            _ => "segments",
        }
    }

    /// What becomes of them.
    const fn fate(self) -> &'static str {
        match self {
            Self::Duplicates => "come twice",
            Self::Order => "come after later ones and were sent again without need",
            _ => "are lost",
        }
    }

    /// What a node does to them.
    const fn deed(self) -> &'static str {
        match self {
            Self::Segments | Self::FewSegments => "loses packets",
            Self::Acknowledgements => "loses acknowledgements",
            Self::Duplicates => "duplicates packets",
            Self::Order => "changes the order of packets",
        }
    }

    /// The rule that tells the cause.
    const fn cause(self) -> &'static str {
        match self {
            Self::Segments | Self::FewSegments => "loss",
            Self::Acknowledgements => "lost-acknowledgements",
            Self::Duplicates => "duplicates",
            Self::Order => "reordering",
        }
    }
}

impl Lossy<'_> {
    /// The cause as a sentence: `1.02 % of the segments are lost in 3 of its 3 pairs`.
    pub fn cause(&self) -> String {
        let what = self.what.words();
        let share = self.percent().map_or(what.to_owned(), |percent| {
            format!("{} % of the {what}", significant((100.0 * percent).round() / 100.0))
        });
        format!("{share} {} in {} of its {} pairs", self.what.fate(), self.lost.len(), self.pairs)
    }

    /// The share of lost segments, in percent: the median over the pairs with losses.
    fn percent(&self) -> Option<f64> {
        let mut shares: Vec<f64> = self.lost.iter().filter_map(|case| self.what.share(case)).collect();
        shares.sort_by(f64::total_cmp);
        shares.get(shares.len() / 2).map(|share| 100.0 * share)
    }

    fn finding(&self) -> Finding {
        // Who sends data gets acknowledgements.
        let is_sent = match self.what {
            Lost::Acknowledgements => SlowSide::Receives,
            _ => SlowSide::Sends,
        };
        let whose = match self.side {
            SlowSide::Both => "with its partners",
            side if side == is_sent => "that it sends to its partners",
            _ => "that its partners send to it",
        };
        let severity = if self.what == Lost::Segments { Severity::Problem } else { Severity::Warning };
        let text = format!("{} {} {whose}: {}", self.node, self.what.deed(), self.cause());
        let finding = Finding {
            node: Some(self.node.to_owned()),
            value: self.percent().and_then(|percent| quantity(percent, Unit::Percent)),
            evidence: self.lost.iter().map(|case| case.case.to_string()).collect(),
            cause: Some(self.what.cause().to_owned()),
            ..Finding::new(RULE.kind, severity, Subject::node(), text)
        };
        // A pair that loses nothing speaks for the node.
        let against = if self.lost.len() == self.pairs { self.pairs } else { 0 };
        let other = "the links of these pairs are";
        confidence::with(finding, confidence::of_partners(against), other, &self.lost)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::fixture::{case, metric, no_limit};

    /// Every pair of four nodes at `rate`, pairs with `n3` at their own, with a loss of 1 % where `loses` says so.
    fn pairs(rate: impl Fn(u32, u32) -> f64, loses: impl Fn(u32, u32) -> bool) -> Vec<CaseRecord> {
        let all = (1..=4).flat_map(|one| (one + 1..=4).map(move |other| (one, other)));
        let pair = |(one, other)| {
            let mut case = case(&format!("n{one}"), &format!("n{one}->n{other}"));
            case.nodes.push(format!("n{other}"));
            let value = rate(one, other);
            case.metrics.insert("throughput".to_owned(), metric(value, (value, value), no_limit()));
            if loses(one, other) {
                let shares = LossShare { lost: Some(0.0102), ..LossShare::default() };
                LastFlows(vec![FlowLoss { shares, ..FlowLoss::default() }]).put(&mut case.evidence);
                let text = "0: 1.02 % of the segments were lost";
                case.findings.push(Finding::new(OF_CASE, Severity::Warning, case.subject.clone(), text));
            }
            case
        };
        all.map(pair).collect()
    }

    fn has_n3(one: u32, other: u32) -> bool {
        one == 3 || other == 3
    }

    /// A loss that costs less than the rates scatter.
    fn noisy(one: u32, other: u32) -> f64 {
        match (one, other) {
            (1, 3) => 3.9,
            (2, 3) => 5.22,
            (3, 4) => 3.0,
            (1, 2) => 8.0,
            (1, 4) => 6.6,
            _ => 5.2,
        }
    }

    #[test]
    fn the_node_at_whose_end_packets_are_lost_is_named_however_the_rates_scatter() {
        let records = pairs(noisy, has_n3);
        assert!(crate::matrices(&records)[0].slow_nodes(2).is_empty(), "the rates alone name nobody");
        let found = find(&records);
        let [finding] = found.as_slice() else { panic!("{found:?}") };
        assert_eq!((finding.node.as_deref(), finding.severity), (Some("n3"), Severity::Problem));
        assert!(
            finding.text.starts_with(
                "n3 loses packets with its partners: 1.02 % of the segments are lost in 3 of its 3 pairs"
            ),
            "{}",
            finding.text
        );
    }

    #[test]
    fn few_losses_are_a_warning_where_they_are_more_than_chance() {
        let told = |lost: f64, lost_segments: u64| {
            let mut records = pairs(noisy, |_, _| false);
            for case in &mut records {
                let is_bad = case.nodes.iter().any(|node| node == "n3");
                let shares = match is_bad {
                    true => LossShare { lost: Some(lost), lost_segments, ..LossShare::default() },
                    false => LossShare { lost: Some(0.0), ..LossShare::default() },
                };
                LastFlows(vec![FlowLoss { shares, ..FlowLoss::default() }]).put(&mut case.evidence);
            }
            find(&records)
        };
        let found = told(0.001, 60);
        let [finding] = found.as_slice() else { panic!("{found:?}") };
        assert_eq!((finding.node.as_deref(), finding.severity), (Some("n3"), Severity::Warning));
        assert!(
            finding.text.contains("0.1 % of the segments are lost in 3 of its 3 pairs"),
            "{}",
            finding.text
        );
        assert_eq!((told(0.001, 2), told(0.000_1, 60)), (vec![], vec![]));
    }

    #[test]
    fn where_all_paths_lose_the_node_with_a_little_more_is_not_named() {
        let told = |of_n3: f64| {
            let mut records = pairs(noisy, has_n3);
            for case in &mut records {
                let is_of_n3 = case.nodes.iter().any(|node| node == "n3");
                let lost = Some(if is_of_n3 { of_n3 } else { 0.001 });
                let shares = LossShare { lost, lost_segments: 60, ..LossShare::default() };
                LastFlows(vec![FlowLoss { shares, ..FlowLoss::default() }]).put(&mut case.evidence);
            }
            find(&records).len()
        };
        assert_eq!((told(0.0012), told(0.01)), (0, 1));
    }

    /// All ordered pairs of eight nodes, with so much of late data.
    fn with_late_data(share: impl Fn(u32, u32) -> f64) -> Vec<CaseRecord> {
        let all = (1..=8).flat_map(|one| (1..=8).map(move |other| (one, other)));
        let pair = |(one, other)| {
            let mut case = case(&format!("n{one}"), &format!("n{one}->n{other}"));
            case.nodes.push(format!("n{other}"));
            let shares = LossShare { reordered: Some(share(one, other)), ..LossShare::default() };
            LastFlows(vec![FlowLoss { shares, ..FlowLoss::default() }]).put(&mut case.evidence);
            case
        };
        all.filter(|(one, other)| one != other).map(pair).collect()
    }

    #[test]
    fn late_data_of_a_busy_machine_names_no_node_and_that_of_one_node_does() {
        // Half of all pairs have it; of n2 three in four.
        let by_lot = |one: u32, other: u32| {
            let drawn = (7 * one + 5 * other) % 4;
            let least = if one == 2 || other == 2 { 1 } else { 2 };
            if drawn >= least { 0.012 } else { 0.001 }
        };
        assert!(find(&with_late_data(by_lot)).is_empty());
        let of_n3 = |one: u32, other: u32| match has_n3(one, other) || (one + other).is_multiple_of(5) {
            true => 0.012,
            false => 0.001,
        };
        let named: Vec<_> = find(&with_late_data(of_n3)).into_iter().map(|finding| finding.node).collect();
        assert_eq!(named, [Some("n3".to_owned())]);
    }

    #[test]
    fn packets_that_come_twice_or_late_are_told_before_what_seems_lost() {
        let told = |shares: LossShare| {
            let mut records = pairs(noisy, has_n3);
            for case in &mut records {
                let shares =
                    if case.nodes.iter().any(|node| node == "n3") { shares } else { LossShare::default() };
                LastFlows(vec![FlowLoss { shares, ..FlowLoss::default() }]).put(&mut case.evidence);
            }
            let found = find(&records);
            let [finding] = found.as_slice() else { panic!("{found:?}") };
            (finding.cause.clone().unwrap_or_default(), finding.text.clone())
        };
        let (cause, text) = told(LossShare { duplicated: Some(0.02), ..LossShare::default() });
        assert_eq!(cause, "duplicates");
        assert!(
            text.starts_with(
                "n3 duplicates packets with its partners: 2 % of the segments come twice in 3 of its 3 pairs"
            ),
            "{text}"
        );
        let (cause, text) = told(LossShare { reordered: Some(0.03), ..LossShare::default() });
        assert_eq!(cause, "reordering");
        assert!(text.contains("3 % of the segments come after later ones"), "{text}");
        assert_eq!(told(LossShare { reordered: Some(0.001), ..LossShare::default() }).0, "loss");
    }

    #[test]
    fn a_slow_node_is_told_with_what_it_loses_and_only_once() {
        let records = pairs(|one, other| if has_n3(one, other) { 20.0 } else { 100.0 }, has_n3);
        let mut found = crate::findings(&records);
        crate::explain(&mut found, &records, &seatrial_model::Site::default(), &[]);
        let problems: Vec<&Finding> =
            found.iter().filter(|finding| finding.severity == Severity::Problem).collect();
        let [finding] = problems.as_slice() else { panic!("{problems:?}") };
        assert_eq!(finding.kind, "slow-node");
        let says =
            "n3 has 20 % of its peers' throughput: 1.02 % of the segments are lost in 3 of its 3 pairs; ";
        assert!(finding.text.starts_with(says), "{}", finding.text);
        assert_eq!(finding.cause.as_deref(), Some("loss"));
    }

    #[test]
    fn one_pair_that_loses_names_nobody_and_a_majority_is_enough() {
        assert!(find(&pairs(noisy, |one, other| (one, other) == (1, 3))).is_empty());
        let most = find(&pairs(noisy, |one, other| has_n3(one, other) && other != 4));
        assert_eq!(most.len(), 1, "two of three: {most:?}");
        assert!(find(&pairs(noisy, |_, _| true)).is_empty(), "where all lose, no node is the one");
    }

    #[test]
    fn of_pairs_in_both_directions_the_side_that_loses_is_told() {
        let all = (1..=4)
            .flat_map(|one| (1..=4).map(move |other| (one, other)))
            .filter(|(one, other)| one != other);
        let records: Vec<CaseRecord> = all
            .map(|(one, other)| {
                let mut case = case(&format!("n{one}"), &format!("n{one}->n{other}"));
                case.nodes.push(format!("n{other}"));
                if other == 3 {
                    let finding = Finding::new(OF_CASE, Severity::Warning, Subject::node(), "lost");
                    case.findings.push(finding);
                }
                case
            })
            .collect();
        let found = nodes(&records);
        let [lossy] = found.as_slice() else { panic!("{found:?}") };
        assert_eq!((lossy.node, lossy.side, lossy.pairs), ("n3", SlowSide::Receives, 3));
        assert!(lossy.finding().text.starts_with("n3 loses packets that its partners send to it: "));
    }
}
