//! The results of a run by the part that they are about.

use seatrial_model::node_names;
use std::cmp::Reverse;
use std::collections::BTreeSet;

use super::super::numbers::JudgedNumber;
use super::super::parts::{Part, ends, of_nodes};
use super::super::shade::Shade;
use super::{MapResult, MapRun};

/// Results of one benchmark on one part; of more only the worst is shown.
const MOST_TESTS: usize = 8;

/// Results that boxes take by name; what no box takes is left.
#[derive(Default)]
pub struct Results {
    entries: Vec<Entry>,
}

struct Entry {
    names: BTreeSet<String>,
    bench: String,
    is_taken: bool,
    result: MapResult,
}

impl Results {
    pub fn new(run: Option<MapRun<'_>>) -> Self {
        let Some(run) = run else { return Self::default() };
        let parts = of_nodes(run.document, run.nodes, MOST_TESTS);
        let entry = |part: &Part<'_>| Entry {
            names: ends(part.worst.case, run.nodes),
            bench: part.worst.case.bench.clone(),
            is_taken: false,
            result: result(part, &run),
        };
        Self { entries: parts.iter().map(entry).collect() }
    }

    /// The results of the part called `name` of the benchmarks that are wanted, the worst first.
    pub fn take(&mut self, name: &str, is_wanted: impl Fn(&str) -> bool) -> Vec<MapResult> {
        let wanted = |entry: &&mut Entry| entry.names.contains(name) && is_wanted(&entry.bench);
        let taken = self.entries.iter_mut().filter(wanted).map(|entry| {
            entry.is_taken = true;
            entry.result.clone()
        });
        sorted(taken.collect())
    }

    /// The results that no box has taken.
    pub fn left(self) -> Vec<MapResult> {
        sorted(self.entries.into_iter().filter(|entry| !entry.is_taken).map(|entry| entry.result).collect())
    }
}

fn sorted(mut results: Vec<MapResult>) -> Vec<MapResult> {
    results.sort_by_key(|result| Reverse(result.shade));
    results
}

fn result(part: &Part<'_>, run: &MapRun<'_>) -> MapResult {
    let has_nodes = run.nodes.len() > 1;
    let median = || part.median().map(|median| format!("median {median}"));
    let over_nodes = || part.bad().into_iter().chain(median()).collect::<Vec<_>>().join("; ");
    let is_judged = run.document.verdict.is_some();
    // Beside verdicts, a share of the limit without one is neither good nor bad.
    let shade = |number: &JudgedNumber<'_>| match Shade::of_number(number) {
        Shade::Share(_) if is_judged => Shade::Measured,
        shade => shade,
    };
    MapResult {
        test: part.test.clone(),
        value: part.value().unwrap_or_else(|| part.badge().word.to_owned()),
        limit: part.limit(),
        percent: part.percent(),
        share: part.worst.share().map(|share| share.min(100.0)),
        shade: shade(&part.worst),
        usual: shade(&part.usual()),
        badge: part.badge(),
        case: part.worst.case.case.to_string(),
        node: has_nodes.then(|| node_names(&part.worst.case.nodes)),
        over_nodes: has_nodes.then(over_nodes),
    }
}
