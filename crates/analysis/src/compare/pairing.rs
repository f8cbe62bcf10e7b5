//! Which case of one run answers which of the other.

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
    let mut left: Vec<&CaseRecord> = a.iter().collect();
    let mut right: Vec<&CaseRecord> = b.iter().collect();
    let mut pairs = Vec::new();
    take(&mut left, &mut right, &mut pairs, is_same_thing);
    if is_one_node(a) && is_one_node(b) {
        take(&mut left, &mut right, &mut pairs, is_same_class);
    }
    let place = |case: &CaseRecord| a.iter().position(|other| std::ptr::eq(other, case));
    pairs.sort_by_key(|(case, _)| place(case));
    Pairs { pairs, only_a: left, only_b: right }
}

fn take<'a>(
    left: &mut Vec<&'a CaseRecord>,
    right: &mut Vec<&'a CaseRecord>,
    pairs: &mut Vec<(&'a CaseRecord, &'a CaseRecord)>,
    is_same: fn(&CaseRecord, &CaseRecord) -> bool,
) {
    left.retain(|case| {
        let partner = right.iter().position(|other| is_same_question(case, other) && is_same(case, other));
        if let Some(place) = partner {
            pairs.push((case, right.remove(place)));
        }
        partner.is_none()
    });
}

fn is_one_node(records: &[CaseRecord]) -> bool {
    records.iter().all(|case| case.nodes.len() == 1 && case.nodes == records[0].nodes)
}
