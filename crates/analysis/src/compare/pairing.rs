//! Which case of one run corresponds to which case of the other.

use std::collections::HashMap;

use seatrial_model::record::CaseRecord;

use super::cases::ComparedCases;
use crate::same::{asked_text, is_same_class, is_same_question, is_same_thing};

pub(super) struct Pairs<'a> {
    pub pairs: Vec<(&'a CaseRecord, &'a CaseRecord)>,
    pub only_a: Vec<&'a CaseRecord>,
    pub only_b: Vec<&'a CaseRecord>,
}

/// Benchmark, parameters and, where they must be the same, nodes.
type Key = (String, String, String);

/// Pairs cases by benchmark, parameters, node, and the stable key or name of the subject, in the order of `a`. If
/// each run has one node only, the remaining cases are paired by name alone: two machines are compared.
pub(super) fn pair<'a>(a: &ComparedCases<'a>, b: &ComparedCases<'a>) -> Pairs<'a> {
    let (first, second) = (a.questions(), b.questions());
    let mut left: Vec<usize> = (0..first.len()).collect();
    let mut right: Vec<bool> = vec![true; second.len()];
    let mut pairs: Vec<(usize, usize)> = Vec::new();
    let mut take = |key: fn(&CaseRecord) -> Key, is_same: fn(&CaseRecord, &CaseRecord) -> bool| {
        // A map by key, so that each case of a fleet is not compared with all others.
        let mut asked: HashMap<Key, Vec<usize>> = HashMap::new();
        for (at, case) in second.iter().enumerate() {
            asked.entry(key(case)).or_default().push(at);
        }
        left.retain(|at| {
            let case = first[*at];
            let fits =
                |at: &usize| right[*at] && is_same_question(case, second[*at]) && is_same(case, second[*at]);
            let partner = asked.get(&key(case)).into_iter().flatten().copied().find(fits);
            if let Some(partner) = partner {
                right[partner] = false;
                pairs.push((*at, partner));
            }
            partner.is_none()
        });
    };
    take(|case| (case.bench.clone(), asked_text(case), case.nodes.join("+")), is_same_thing);
    if is_one_node(&first) && is_one_node(&second) {
        take(|case| (case.bench.clone(), asked_text(case), String::new()), is_same_class);
    }
    pairs.sort_by_key(|(at, _)| *at);
    let rest = (0..second.len()).filter(|at| right[*at]);
    Pairs {
        pairs: pairs.into_iter().map(|(at, partner)| (a.cases[at], b.cases[partner])).collect(),
        only_a: left.into_iter().map(|at| a.cases[at]).collect(),
        only_b: rest.map(|at| b.cases[at]).collect(),
    }
}

fn is_one_node(records: &[&CaseRecord]) -> bool {
    records.iter().all(|case| case.nodes.len() == 1 && case.nodes == records[0].nodes)
}
