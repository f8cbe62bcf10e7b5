//! What the probes of all workers saw, brought together by node.

use std::collections::{BTreeMap, BTreeSet};

use seatrial_model::PartRecord;
use serde_json::{Map, Value, json};

/// What one probe saw on one node.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Seen {
    /// How far each counter advanced.
    pub counts: BTreeMap<String, u64>,
    levels: BTreeMap<String, Value>,
    /// Lines of a log by their number, under which all workers of a node see the same line.
    lines: BTreeMap<u64, Value>,
    lines_left_out: u64,
    backwards: BTreeSet<String>,
    unreadable: BTreeSet<String>,
}

/// By node and probe.
pub type ByNode = BTreeMap<String, BTreeMap<String, Seen>>;

/// What was seen in all trials together: counters added up, levels as they were last, lines once each.
pub fn over_trials(parts: &[PartRecord]) -> ByNode {
    let mut trials: BTreeMap<u32, Vec<&PartRecord>> = BTreeMap::new();
    for part in parts {
        trials.entry(part.trial).or_default().push(part);
    }
    let mut all = ByNode::new();
    for parts in trials.into_values() {
        for (node, probes) in in_trial(parts) {
            let known = all.entry(node).or_default();
            for (id, seen) in probes {
                known.entry(id).or_default().merge(seen, |_, earlier, later| earlier.saturating_add(later));
            }
        }
    }
    all
}

/// What was seen in one trial. The workers of a node watch the same counters at nearly the same time, so the most that
/// any of them saw counts; only what is a worker's own, `own_...`, is added up.
pub fn in_trial<'a>(parts: impl IntoIterator<Item = &'a PartRecord>) -> ByNode {
    let mut all = ByNode::new();
    for part in parts {
        let Some(probes) = part.evidence.get("probes").and_then(Value::as_object) else { continue };
        let known = all.entry(part.node.clone()).or_default();
        for (id, document) in probes {
            known.entry(id.clone()).or_default().merge(Seen::read(document), |name, one, other| {
                if name.starts_with("own_") { one.saturating_add(other) } else { one.max(other) }
            });
        }
    }
    all
}

/// The form that records show.
pub fn document(all: &ByNode) -> Value {
    let of_node = |probes: &BTreeMap<String, Seen>| {
        Value::Object(probes.iter().map(|(id, seen)| (id.clone(), seen.write())).collect())
    };
    Value::Object(all.iter().map(|(node, probes)| (node.clone(), of_node(probes))).collect())
}

impl Seen {
    /// Of a worker's evidence; what is not of its form is left out.
    fn read(document: &Value) -> Self {
        let map = |name: &str| document.get(name).and_then(Value::as_object).into_iter().flatten();
        let list = |name: &str| document.get(name).and_then(Value::as_array).into_iter().flatten();
        let words = |name: &str| list(name).filter_map(Value::as_str).map(str::to_owned).collect();
        Self {
            counts: map("counts").filter_map(|(name, count)| Some((name.clone(), count.as_u64()?))).collect(),
            levels: map("levels").map(|(name, level)| (name.clone(), level.clone())).collect(),
            lines: list("lines")
                .filter_map(|line| Some((line.get("sequence")?.as_u64()?, line.clone())))
                .collect(),
            lines_left_out: document.get("lines_left_out").and_then(Value::as_u64).unwrap_or(0),
            backwards: words("backwards"),
            unreadable: words("unreadable"),
        }
    }

    /// Takes in what was seen beside or after it; `both` says what two counts of one name come to.
    fn merge(&mut self, other: Self, both: impl Fn(&str, u64, u64) -> u64) {
        for (name, count) in other.counts {
            let known = self.counts.get(&name).copied();
            let count = known.map_or(count, |known| both(&name, known, count));
            self.counts.insert(name, count);
        }
        self.lines_left_out = both("lines_left_out", self.lines_left_out, other.lines_left_out);
        self.levels.extend(other.levels);
        self.lines.extend(other.lines);
        self.backwards.extend(other.backwards);
        self.unreadable.extend(other.unreadable);
    }

    fn write(&self) -> Value {
        let Self { counts, levels, lines, lines_left_out, backwards, unreadable } = self;
        let mut document = Map::new();
        document.insert("counts".to_owned(), json!(counts));
        document.insert("levels".to_owned(), json!(levels));
        document.insert("backwards".to_owned(), json!(backwards));
        document.insert("unreadable".to_owned(), json!(unreadable));
        if !lines.is_empty() {
            document.insert("lines".to_owned(), lines.values().cloned().collect());
            document.insert("lines_left_out".to_owned(), json!(lines_left_out));
        }
        Value::Object(document)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use seatrial_model::{Evidence, Integrity};

    fn part(node: &str, index: u32, trial: u32, probes: Value) -> PartRecord {
        PartRecord {
            part: "worker".to_owned(),
            index,
            node: node.to_owned(),
            trial,
            samples: Vec::new(),
            integrity: Integrity::Verified { checked: 0 },
            evidence: Evidence::from([("probes".to_owned(), probes)]),
        }
    }

    fn heat(count: u64) -> Value {
        json!({ "throttle": { "counts": { "core_throttles": count }, "levels": { "now": count } } })
    }

    #[test]
    fn trials_add_up_and_workers_of_one_node_see_the_same() {
        let parts = [
            part("n1", 0, 0, heat(5)),
            part("n1", 1, 0, heat(6)),
            part("n2", 2, 0, heat(1)),
            part("n1", 0, 1, heat(10)),
        ];
        let all = over_trials(&parts);
        assert_eq!(all["n1"]["throttle"].counts["core_throttles"], 6 + 10);
        assert_eq!(all["n2"]["throttle"].counts["core_throttles"], 1);
        let document = document(&all);
        assert_eq!(document["n1"]["throttle"]["levels"]["now"], 10);
        assert!(document["n1"]["throttle"].get("lines").is_none());
    }

    #[test]
    fn a_line_that_two_workers_saw_stands_once() {
        let lines = |numbers: &[u64]| {
            let lines: Vec<_> =
                numbers.iter().map(|number| json!({ "sequence": number, "text": "t" })).collect();
            json!({ "kernel_log": { "lines": lines, "lines_left_out": 4, "unreadable": ["why"] } })
        };
        let parts = [
            part("n1", 0, 0, lines(&[7, 8])),
            part("n1", 1, 0, lines(&[8, 9])),
            part("n1", 0, 1, lines(&[12])),
        ];
        let log = &document(&over_trials(&parts))["n1"]["kernel_log"];
        let numbers: Vec<_> = log["lines"].as_array().unwrap().iter().map(|line| &line["sequence"]).collect();
        assert_eq!(numbers, [7, 8, 9, 12]);
        assert_eq!((&log["lines_left_out"], &log["unreadable"]), (&json!(4 + 4), &json!(["why"])));
    }

    #[test]
    fn what_is_a_worker_s_own_adds_up_and_strange_evidence_is_left_out() {
        let load =
            |own: u64| json!({ "load": { "counts": { "busy_ns": 100, "own_ns": own, "odd": "many" } } });
        let mut silent = part("n1", 2, 0, Value::Null);
        silent.evidence.clear();
        let parts =
            [part("n1", 0, 0, load(40)), part("n1", 1, 0, load(50)), silent, part("n1", 3, 0, json!([]))];
        let seen = &in_trial(&parts)["n1"]["load"];
        assert_eq!(seen.counts, BTreeMap::from([("busy_ns".to_owned(), 100), ("own_ns".to_owned(), 90)]));
    }
}
