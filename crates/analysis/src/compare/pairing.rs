//! Which case of one run answers which of the other.

use std::collections::HashMap;

use seatrial_model::record::CaseRecord;

use crate::same::{is_same_class, is_same_question, is_same_thing};

/// Cases that measured the same thing, and those without a partner.
pub(super) struct Pairs<'a> {
    pub pairs: Vec<(&'a CaseRecord, &'a CaseRecord)>,
    pub only_a: Vec<&'a CaseRecord>,
    pub only_b: Vec<&'a CaseRecord>,
}

/// Pairs cases by benchmark, parameters, node, and the stable key or name of the subject, in the order of `a`.
///
/// What is left over is paired by name alone when each run is of one node only: two machines against each other.
pub(super) fn pair<'a>(a: &'a [CaseRecord], b: &'a [CaseRecord]) -> Pairs<'a> {
    let mut left: Vec<usize> = (0..a.len()).collect();
    let mut right: Vec<Option<&CaseRecord>> = b.iter().map(Some).collect();
    // Cases that ask the same, so that a fleet's case is not held against all others.
    let mut asked: HashMap<(&str, String), Vec<usize>> = HashMap::new();
    for (at, case) in b.iter().enumerate() {
        asked.entry((&case.bench, case.params.to_string())).or_default().push(at);
    }
    let mut pairs: Vec<(usize, &CaseRecord)> = Vec::new();
    let mut take = |left: &mut Vec<usize>, is_same: fn(&CaseRecord, &CaseRecord) -> bool| {
        left.retain(|at| {
            let case = &a[*at];
            let candidates = asked.get(&(case.bench.as_str(), case.params.to_string()));
            let fits = |other: &&usize| {
                right[**other].is_some_and(|other| is_same_question(case, other) && is_same(case, other))
            };
            let partner = candidates.into_iter().flatten().find(fits).and_then(|other| right[*other].take());
            pairs.extend(partner.map(|partner| (*at, partner)));
            partner.is_none()
        });
    };
    take(&mut left, is_same_thing);
    if is_one_node(a) && is_one_node(b) {
        take(&mut left, is_same_class);
    }
    pairs.sort_by_key(|(at, _)| *at);
    Pairs {
        pairs: pairs.into_iter().map(|(at, partner)| (&a[at], partner)).collect(),
        only_a: left.into_iter().map(|at| &a[at]).collect(),
        only_b: right.into_iter().flatten().collect(),
    }
}

fn is_one_node(records: &[CaseRecord]) -> bool {
    records.iter().all(|case| case.nodes.len() == 1 && case.nodes == records[0].nodes)
}
