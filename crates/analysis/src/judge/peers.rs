//! Peers: cases that measured the same question on subjects of the same name, on any node. A fleet median is taken
//! over them.

use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap};

use seatrial_model::Params;
use seatrial_model::profile::Criterion;
use seatrial_model::record::CaseRecord;

use crate::finding::path;
use crate::same::{Company, class_of, company};

/// Smallest number of nodes of a fleet median: the median of two is half the judged node itself.
const FEWEST_NODES: usize = 3;

/// Cases of one key are peers: test, benchmark, parameters, subject without node names, what went on beside them.
type Key = (String, String, String, String, Company);

/// The criterion, the key, and the row of a series.
type Question = (String, Key, Option<String>);

/// The records of a run by question. Every median is computed once, however many nodes are compared with it, so that
/// the cost per node does not grow with the fleet.
pub(super) struct Peers<'a> {
    records: &'a [CaseRecord],
    by_key: RefCell<Option<HashMap<Key, Vec<&'a CaseRecord>>>>,
    medians: RefCell<HashMap<Question, Result<f64, String>>>,
}

impl<'a> Peers<'a> {
    /// `records` are sorted when the first median is needed.
    pub fn new(records: &'a [CaseRecord]) -> Self {
        Self { records, by_key: RefCell::new(None), medians: RefCell::new(HashMap::new()) }
    }

    /// The median over all nodes that measured the question of `case`, of the number that `value` takes from each.
    pub fn median(
        &self,
        case: &CaseRecord,
        criterion: &Criterion,
        at: Option<&Params>,
        value: impl Fn(&CaseRecord) -> Option<f64>,
    ) -> Result<f64, String> {
        let key = key_of(case);
        let question = (criterion.id.clone(), key.clone(), at.map(ToString::to_string));
        if let Some(known) = self.medians.borrow().get(&question) {
            return known.clone();
        }
        let mut by_key = self.by_key.borrow_mut();
        let by_key = by_key.get_or_insert_with(|| {
            let mut by_key: HashMap<Key, Vec<&CaseRecord>> = HashMap::new();
            // A case whose traffic took another path is no peer.
            for record in self.records.iter().filter(|record| path::contradiction(record).is_none()) {
                by_key.entry(key_of(record)).or_default().push(record);
            }
            by_key
        });
        let found = median_of(by_key.get(&key).map_or(&[][..], Vec::as_slice), value);
        self.medians.borrow_mut().insert(question, found.clone());
        found
    }
}

fn key_of(case: &CaseRecord) -> Key {
    (case.group.clone(), case.bench.clone(), case.params.to_string(), class_of(case), company(case))
}

fn median_of(peers: &[&CaseRecord], value: impl Fn(&CaseRecord) -> Option<f64>) -> Result<f64, String> {
    let mut values = Vec::new();
    let mut nodes = BTreeSet::new();
    for peer in peers {
        if let Some(value) = value(peer) {
            values.push(value);
            nodes.insert(&peer.nodes);
        }
    }
    if nodes.len() < FEWEST_NODES {
        return Err(format!(
            "a fleet median needs {FEWEST_NODES} nodes that measured this; there are {}",
            nodes.len()
        ));
    }
    seatrial_stats::median(&values).ok_or_else(|| "a value is no number".to_owned())
}
