//! Parameters whose values keep the cases of two runs apart.

use std::collections::{BTreeMap, BTreeSet};

use seatrial_model::Verification;
use seatrial_model::record::CaseRecord;

/// A parameter of a benchmark for which two runs have no value in common.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DifferingParam {
    pub bench: String,
    pub name: String,
    /// Its values in the first run.
    pub a: Vec<String>,
    pub b: Vec<String>,
}

type Values<'a> = BTreeMap<(&'a str, &'a str), BTreeSet<String>>;

/// The parameters without a common value, of the cases without a partner.
pub(super) fn differing(only_a: &[&CaseRecord], only_b: &[&CaseRecord]) -> Vec<DifferingParam> {
    let (first, second) = (values(only_a), values(only_b));
    let listed = |values: &BTreeSet<String>| values.iter().cloned().collect();
    let both = first.iter().filter_map(|(key, a)| Some((key, a, second.get(key)?)));
    both.filter(|(_, a, b)| a.is_disjoint(b))
        .map(|((bench, name), a, b)| DifferingParam {
            bench: (*bench).to_owned(),
            name: (*name).to_owned(),
            a: listed(a),
            b: listed(b),
        })
        .collect()
}

fn values<'a>(cases: &[&'a CaseRecord]) -> Values<'a> {
    let mut values = Values::new();
    for case in cases {
        for (name, value) in case.params.iter() {
            values.entry((&case.bench, name)).or_default().insert(value.to_string());
        }
        // Of versions without the parameter too.
        let verified = Verification::of(&case.params).word();
        values.entry((&case.bench, Verification::PARAM)).or_default().insert(verified.to_owned());
    }
    values
}
