//! Which cases a test judges, and on which nodes something is missing.

use std::collections::BTreeSet;

use seatrial_model::profile::{Criterion, Expect, Profile, Requirement, Test};
use seatrial_model::record::CaseRecord;
use seatrial_model::{Outcome, Subject, Verdict, VerdictRecord};

use super::Grounds;
use super::case::{Ruling, judge_case};
use super::level::Matter;

/// Every ruling on one test: its cases, and nodes on which there should have been some.
pub(super) fn judge_test(test: &Test, profile: &Profile, grounds: &Grounds<'_>) -> Vec<Ruling> {
    let criteria: Vec<&Criterion> = profile.criteria_of(&test.id).collect();
    if test.planned {
        let why = format!("{} is planned: this version cannot measure it yet", test.bench);
        return on_each(test, &criteria, None, &why).collect();
    }
    let own: Vec<&CaseRecord> =
        grounds.records.iter().filter(|case| is_judged(case, test, grounds)).collect();
    let chosen: Vec<&CaseRecord> =
        own.iter().copied().filter(|case| Requirement::selects(&test.on, &case.facts)).collect();
    let mut rulings = Vec::new();
    for &case in &chosen {
        for &criterion in criteria.iter().filter(|criterion| is_about(criterion, case)) {
            rulings.push(judge_case(test, Matter { profile, grounds, criterion, case }));
        }
    }
    for node in grounds.nodes.players(&test.roles) {
        rulings.extend(missing_on(node, test, &criteria, &own, &chosen));
    }
    if grounds.nodes.players(&test.roles).next().is_none() {
        let why = format!("no node of the run plays {}", test.roles.join(" or "));
        rulings.extend(on_each(test, &criteria, None, &why));
    }
    rulings
}

/// The nodes that a case of `test` speaks about. Where the test names a partner, the first node is the one that is
/// tested and the others only answer it.
fn judged_nodes<'a>(test: &Test, case: &'a CaseRecord) -> &'a [String] {
    if test.partner.is_some() { &case.nodes[..case.nodes.len().min(1)] } else { &case.nodes }
}

/// The node that a case speaks about, when it is one.
pub(super) fn judged_node<'a>(test: &Test, case: &'a CaseRecord) -> Option<&'a str> {
    match judged_nodes(test, case) {
        [node] => Some(node),
        _ => None,
    }
}

fn is_judged(case: &CaseRecord, test: &Test, grounds: &Grounds<'_>) -> bool {
    case.group == test.id
        && case.bench == test.bench
        && judged_nodes(test, case).iter().all(|node| grounds.nodes.plays(node, &test.roles))
}

/// Whether the case has the parameter values of the criterion's `where`.
fn is_about(criterion: &Criterion, case: &CaseRecord) -> bool {
    Requirement::selects(&criterion.cases, &case.params)
}

/// What should have been measured on `node` and was not.
fn missing_on(
    node: &str,
    test: &Test,
    criteria: &[&Criterion],
    own: &[&CaseRecord],
    chosen: &[&CaseRecord],
) -> Vec<Ruling> {
    let is_here = |case: &&&CaseRecord| judged_nodes(test, case).iter().any(|known| known == node);
    let here: Vec<&CaseRecord> = chosen.iter().filter(is_here).copied().collect();
    if here.is_empty() {
        // Whatever stands in the way of the whole test is told by a case that was never given a subject.
        let others = own.iter().filter(is_here).filter_map(|case| case.reason.clone());
        let mut why = vec![match test.on.is_empty() {
            true => "nothing was run".to_owned(),
            false => format!("nothing here has {}", test.on),
        }];
        why.extend(others.collect::<BTreeSet<_>>());
        return on_each(test, criteria, Some(node), &why.join("; ")).collect();
    }
    let mut rulings = Vec::new();
    for criterion in criteria.iter().filter(|criterion| !here.iter().any(|case| is_about(criterion, case))) {
        let why = format!("nothing was run with {}", criterion.cases);
        rulings.push(unknown(test, &criterion.id, &criterion.bounds.to_string(), Some(node), why));
    }
    let subjects: BTreeSet<_> =
        here.iter().filter(|case| case.outcome != Outcome::Skipped).map(|case| &case.subject).collect();
    if let Some(expect) = test.expect.filter(|expect| !expect.met_by(subjects.len() as u64)) {
        let wanted = expect_words(expect);
        let having = if test.on.is_empty() { String::new() } else { format!(" with {}", test.on) };
        let why = format!("{} found{having}, {wanted} expected", subjects.len());
        rulings.push(unknown(test, &test.id, &wanted, Some(node), why));
    }
    rulings
}

pub(super) fn expect_words(expect: Expect) -> String {
    let words = [
        expect.at_least.map(|least| format!("at least {least}")),
        expect.exactly.map(|exact| format!("exactly {exact}")),
    ];
    words.into_iter().flatten().collect::<Vec<_>>().join(" and ")
}

/// Unknown by every criterion; by the test itself when it has none but expects something.
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
    let record = VerdictRecord {
        criterion: criterion.to_owned(),
        test: test.id.clone(),
        case: None,
        node: node.map(str::to_owned),
        subject: Subject::node(),
        verdict: Verdict::Unknown,
        measured: None,
        interval: None,
        bound: bound.to_owned(),
        margin_percent: None,
        reason: Some(reason),
        waiver: None,
    };
    record.into()
}
