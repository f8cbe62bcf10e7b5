//! Which cases a test judges, and on which nodes cases are missing.

use std::collections::{BTreeSet, HashMap};

use seatrial_model::profile::{Absence, Criterion, Expect, Profile, Requirement, Test};
use seatrial_model::record::CaseRecord;
use seatrial_model::{CaseId, Cause, Outcome, Subject, Verdict, VerdictRecord};

use super::case::{Ruling, judge_case};
use super::judged_nodes::{judged_nodes, tested_nodes};
use super::level::CriterionContext;
use super::peers::Peers;
use super::{Assignment, JudgeInputs};

/// Every ruling on one test: its cases, and nodes that should have had cases.
pub(super) fn judge_test<'a>(
    test: &'a Test,
    profile: &'a Profile,
    inputs: &'a JudgeInputs<'a>,
    peers: &'a Peers<'a>,
) -> Vec<Ruling> {
    let criteria: Vec<&Criterion> = profile.criteria_of(&test.id).collect();
    if test.planned {
        return on_each(test, &criteria, None, &planned_only(test)).collect();
    }
    let own: Vec<&CaseRecord> =
        inputs.records.iter().filter(|case| is_judged(case, test, inputs.nodes)).collect();
    // For a pair that was never planned, because one of the two nodes was not reached, the parameters are unknown.
    let is_chosen = |case: &&CaseRecord| {
        Requirement::selects(&test.on, &case.facts) || (is_unplanned(case) && case.nodes.len() == 2)
    };
    let chosen: Vec<&CaseRecord> = own.iter().copied().filter(is_chosen).collect();
    let mut rulings = Vec::new();
    let known: BTreeSet<&CaseId> = chosen.iter().map(|case| &case.case).collect();
    let (stand_ins, cases): (Vec<&CaseRecord>, Vec<&CaseRecord>) =
        chosen.iter().partition(|case| case.retry_of.as_ref().is_some_and(|lost| known.contains(lost)));
    for &case in &cases {
        let mut own = stand_ins.iter().filter(|other| other.retry_of.as_ref() == Some(&case.case));
        let stand_in = own.next_back().filter(|_| !case.lost.is_empty());
        for &criterion in criteria.iter().filter(|criterion| is_about(criterion, case)) {
            let judged = |case| judge_case(test, CriterionContext { inputs, criterion, case, peers });
            rulings.push(match stand_in {
                Some(stand_in) => judged(case).with_stand_in(judged(stand_in), &stand_in.nodes),
                None => judged(case),
            });
        }
    }
    let mut here: HashMap<&str, Vec<&CaseRecord>> = HashMap::new();
    for &case in &chosen {
        // A node that lost its partner is covered by that case, or by the one that stands in for it.
        for node in tested_nodes(test, case) {
            here.entry(node).or_default().push(case);
        }
    }
    // A case without a subject tells what stands in the way of the whole test.
    let mut in_the_way: HashMap<&str, BTreeSet<&str>> = HashMap::new();
    for case in &own {
        for node in &case.nodes {
            in_the_way.entry(node).or_default().extend(case.reason.as_deref());
        }
    }
    for node in inputs.nodes.players(&test.roles) {
        match here.get(node) {
            Some(here) => rulings.extend(missing_on(node, test, &criteria, here)),
            None => {
                let mut why = vec![nothing_here(test)];
                why.extend(in_the_way.get(node).into_iter().flatten().map(|&reason| reason.to_owned()));
                let verdict = if is_inapplicable(node, &own) { test.if_none } else { Absence::Unknown };
                rulings.extend(on_each(test, &criteria, Some(node), &why.join("; ")).map(|mut ruling| {
                    ruling.record.verdict = verdict.verdict();
                    ruling
                }));
            }
        }
    }
    if inputs.nodes.players(&test.roles).next().is_none() {
        rulings.extend(on_each(test, &criteria, None, &test.without_nodes()));
    }
    rulings
}

/// Whether `case` is one of `test` on nodes that the test is for.
pub fn is_judged(case: &CaseRecord, test: &Test, nodes: &Assignment) -> bool {
    case.group == test.id
        && case.bench == test.bench
        && judged_nodes(test, case).all(|node| nodes.plays(node, &test.roles))
        && (case.nodes.is_empty() || judged_nodes(test, case).next().is_some())
}

/// Whether the plan found nothing on `node` that the test is for, as opposed to a test that could not be made.
fn is_inapplicable(node: &str, own: &[&CaseRecord]) -> bool {
    let mut here = own.iter().filter(|case| case.nodes.iter().any(|name| name == node));
    let is_skipped = |case: &&CaseRecord| case.outcome == Outcome::Skipped;
    own.iter().any(is_skipped) && here.all(is_skipped)
}

/// Why a test of a planned benchmark has no cases.
pub fn planned_only(test: &Test) -> String {
    format!("{} is planned: this version cannot measure it yet", test.bench)
}

/// Why a node has no cases of `test`.
pub fn nothing_here(test: &Test) -> String {
    match test.on.is_empty() {
        true => "nothing was run".to_owned(),
        false => format!("nothing here has {}", test.on),
    }
}

/// Whether a case was never planned because one of its nodes was not reached.
fn is_unplanned(case: &CaseRecord) -> bool {
    case.cause == Some(Cause::NeverReached) && case.facts.is_empty()
}

fn is_about(criterion: &Criterion, case: &CaseRecord) -> bool {
    Requirement::selects(&criterion.cases, &case.params)
}

/// What should have been measured on `node` beside the cases `here`.
fn missing_on(node: &str, test: &Test, criteria: &[&Criterion], here: &[&CaseRecord]) -> Vec<Ruling> {
    let mut rulings = Vec::new();
    for criterion in criteria.iter().filter(|criterion| !here.iter().any(|case| is_about(criterion, case))) {
        let why = format!("no case was run with {}", criterion.cases);
        rulings.push(unknown(test, &criterion.id, &criterion.bounds.to_string(), Some(node), why));
    }
    let subjects: BTreeSet<_> = here
        .iter()
        .filter(|case| case.outcome != Outcome::Skipped && !is_unplanned(case))
        .map(|case| &case.subject)
        .collect();
    // A device that is not measured is a row of each criterion; without criteria it is one of the test.
    let is_every = test.expect.is_some_and(|expect| expect.all) && criteria.is_empty();
    for case in here.iter().filter(|case| is_every && case.outcome == Outcome::Unmeasured) {
        let why = case.reason.clone().unwrap_or_default();
        let mut row = unknown(test, &test.id, ALL, Some(node), why);
        row.record.subject = case.subject.clone();
        rulings.push(row);
    }
    if let Some(expect) = test.expect.filter(|expect| !expect.met_by(subjects.len() as u64)) {
        let wanted = expect_words(expect);
        let having = if test.on.is_empty() { String::new() } else { format!(" with {}", test.on) };
        let why = format!("{} found{having}, {wanted} expected", subjects.len());
        rulings.push(unknown(test, &test.id, &wanted, Some(node), why));
    }
    rulings
}

/// The bound of a test that expects every device.
const ALL: &str = "all";

pub(super) fn expect_words(expect: Expect) -> String {
    let words = [
        expect.all.then(|| ALL.to_owned()),
        expect.at_least.map(|least| format!("at least {least}")),
        expect.exactly.map(|exact| format!("exactly {exact}")),
    ];
    words.into_iter().flatten().collect::<Vec<_>>().join(" and ")
}

/// Unknown by every criterion; by the test itself when it has no criteria but expects something.
fn on_each<'a>(
    test: &'a Test,
    criteria: &'a [&Criterion],
    node: Option<&'a str>,
    why: &'a str,
) -> impl Iterator<Item = Ruling> + 'a {
    let expected = test.expect.filter(|_| criteria.is_empty()).map(|expect| (&test.id, expect_words(expect)));
    let each = criteria.iter().map(|criterion| (&criterion.id, criterion.bounds.to_string()));
    each.chain(expected).map(move |(id, bound)| unknown(test, id, &bound, node, why.to_owned()))
}

fn unknown(test: &Test, criterion: &str, bound: &str, node: Option<&str>, reason: String) -> Ruling {
    let record = VerdictRecord::new(criterion, &test.id, Subject::node(), Verdict::Unknown, bound);
    VerdictRecord { node: node.map(str::to_owned), reason: Some(reason), ..record }.into()
}
