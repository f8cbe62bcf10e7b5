//! Merges the probe readings of all workers by node.

use std::collections::BTreeMap;

use seatrial_model::{Fact, LogLine, NodeReadings, PartRecord, ProbeReading, ProbeReadings};

/// Readings over all trials: counters summed, levels as last read, lines once each.
pub fn over_trials(parts: &[PartRecord]) -> NodeReadings {
    let mut trials: BTreeMap<u32, Vec<&PartRecord>> = BTreeMap::new();
    for part in parts {
        trials.entry(part.trial).or_default().push(part);
    }
    let mut all = NodeReadings::default();
    for parts in trials.into_values() {
        for (node, probes) in in_trial(parts).0 {
            let known = all.0.entry(node).or_default();
            merge(known, probes, |_, earlier, later| earlier.saturating_add(later));
        }
    }
    all
}

/// Readings of one trial, of one case or of all that were measured at the same time. The workers of a node read the same
/// counters at nearly the same time, so the largest reading counts; only a worker's own counters, `own_...`, are summed.
pub fn in_trial<'a>(parts: impl IntoIterator<Item = &'a PartRecord>) -> NodeReadings {
    let mut all = NodeReadings::default();
    for part in parts {
        let Some(probes) = ProbeReadings::of(&part.evidence) else { continue };
        let known = all.0.entry(part.node.clone()).or_default();
        merge(known, probes, |name, one, other| {
            if name.starts_with("own_") { one.saturating_add(other) } else { one.max(other) }
        });
    }
    join_kernels(&mut all);
    all
}

/// Nodes on one kernel, such as containers, count the CPU time of all processes alike, but each may see its own processes
/// only. All of them get the largest counts of any, and as ours what the workers of all of them took.
fn join_kernels(nodes: &mut NodeReadings) {
    const ALIKE: [&str; 4] = ["busy_ns", "elapsed_ns", "kernel_ns", OURS];
    let mut kernels: BTreeMap<u64, Vec<&mut ProbeReading>> = BTreeMap::new();
    for load in nodes.0.values_mut().filter_map(|probes| probes.0.get_mut("load")) {
        if let Some(kernel) = load.levels.get("kernel").copied() {
            kernels.entry(kernel).or_default().push(load);
        }
    }
    for mut nodes in kernels.into_values().filter(|nodes| nodes.len() > 1) {
        let count = |node: &&mut ProbeReading, name: &str| node.counts.get(name).copied();
        let own = nodes.iter().filter_map(|node| count(node, "own_ns")).fold(0, u64::saturating_add);
        for name in ALIKE {
            let most = nodes.iter().filter_map(|node| count(node, name)).max();
            let most = if name == OURS { most.max(Some(own)) } else { most };
            for node in &mut nodes {
                node.counts.extend(most.map(|most| (name.to_owned(), most)));
            }
        }
    }
}

/// CPU time of all workers that a node sees.
const OURS: &str = "ours_ns";

/// Merges `others` into `known`; `both` combines two counts of one name.
fn merge(known: &mut ProbeReadings, others: ProbeReadings, both: impl Fn(&str, u64, u64) -> u64) {
    for (id, other) in others.0 {
        let reading = known.0.entry(id).or_default();
        for (name, count) in other.counts {
            let known = reading.counts.get(&name).copied();
            let count = known.map_or(count, |known| both(&name, known, count));
            reading.counts.insert(name, count);
        }
        reading.lines_left_out = both("lines_left_out", reading.lines_left_out, other.lines_left_out);
        reading.levels.extend(other.levels);
        add_lines(reading, other.lines);
        reading.backwards.extend(other.backwards);
        reading.unreadable.extend(other.unreadable);
    }
}

/// All workers of a node see a log line under the same number.
fn add_lines(reading: &mut ProbeReading, lines: Vec<LogLine>) {
    reading.lines.extend(lines);
    reading.lines.sort_by_key(|line| line.sequence);
    reading.lines.dedup_by_key(|line| line.sequence);
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use seatrial_model::Evidence;
    use serde_json::{Value, json};

    use super::*;

    fn part(node: &str, index: u32, trial: u32, probes: Value) -> PartRecord {
        PartRecord {
            index,
            node: node.to_owned(),
            trial,
            evidence: Evidence::from([("probes".to_owned(), probes)]),
            ..seatrial_testkit::part(Vec::new())
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
        let throttle = |node: &str| &all.0[node].0["throttle"];
        assert_eq!(throttle("n1").counts["core_throttles"], 6 + 10);
        assert_eq!(throttle("n2").counts["core_throttles"], 1);
        assert_eq!(throttle("n1").levels["now"], 10);
    }

    #[test]
    fn a_line_that_two_workers_saw_stands_once() {
        let lines = |numbers: &[u64]| {
            let lines: Vec<_> = numbers
                .iter()
                .map(|number| json!({ "sequence": number, "level": "err", "text": "t" }))
                .collect();
            json!({ "kernel_log": { "lines": lines, "lines_left_out": 4, "unreadable": ["why"] } })
        };
        let parts = [
            part("n1", 0, 0, lines(&[7, 8])),
            part("n1", 1, 0, lines(&[8, 9])),
            part("n1", 0, 1, lines(&[12])),
        ];
        let log = &over_trials(&parts).0["n1"].0["kernel_log"];
        let numbers: Vec<u64> = log.lines.iter().map(|line| line.sequence).collect();
        assert_eq!(numbers, [7, 8, 9, 12]);
        assert_eq!((log.lines_left_out, &log.unreadable), (4 + 4, &BTreeSet::from(["why".to_owned()])));
    }

    #[test]
    fn what_is_a_worker_s_own_adds_up_and_strange_evidence_is_left_out() {
        let load = |own: u64| json!({ "load": { "counts": { "busy_ns": 100, "own_ns": own } } });
        let mut silent = part("n1", 2, 0, Value::Null);
        silent.evidence.clear();
        let parts =
            [part("n1", 0, 0, load(40)), part("n1", 1, 0, load(50)), silent, part("n1", 3, 0, json!([]))];
        let seen = &in_trial(&parts).0["n1"].0["load"];
        assert_eq!(seen.counts, BTreeMap::from([("busy_ns".to_owned(), 100), ("own_ns".to_owned(), 90)]));
    }
}
