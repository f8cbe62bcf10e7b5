//! `kernel-warnings`: the kernel logged warnings or errors during trials.

use seatrial_model::record::CaseRecord;
use seatrial_model::{Finding, Severity};

use super::Rule;
use super::probes::{self, Seen};

pub(super) const RULE: Rule =
    Rule { kind: "kernel-warnings", doc: "The kernel logged warnings or errors during trials.", find };

/// Distinct lines that the sentence quotes; all kept lines are in the evidence.
const MOST_QUOTED: usize = 3;

fn find(records: &[CaseRecord]) -> Vec<Finding> {
    probes::find(records, "kernel_log", of_node)
}

fn of_node(case: &CaseRecord, seen: &Seen) -> Option<Finding> {
    let lines: Vec<(Severity, &str)> =
        seen.reading.lines.iter().map(|line| (severity(&line.level), line.text.as_str())).collect();
    let worst = lines.iter().map(|(severity, _)| *severity).max()?;
    let count = lines.len() as u64 + seen.reading.lines_left_out;
    // The most severe first, in their order, each sentence once.
    let mut quoted: Vec<(Severity, &str)> = Vec::new();
    for line in &lines {
        if !quoted.contains(line) {
            quoted.push(*line);
        }
    }
    quoted.sort_by_key(|(severity, _)| std::cmp::Reverse(*severity));
    let different = quoted.len();
    let quotes: Vec<String> = quoted.iter().take(MOST_QUOTED).map(|(_, text)| format!("'{text}'")).collect();
    let more = if different > MOST_QUOTED { ", and others" } else { "" };
    let node = seen.node;
    let times = if count == 1 { "once".to_owned() } else { format!("{count} times") };
    let text = format!(
        "the kernel of {node} logged warnings or errors {times} during the trials: {}{more}",
        quotes.join(", ")
    );
    Some(seen.finding(case, RULE.kind, worst, text, count))
}

/// A kernel warning seldom concerns what is measured; an error may; anything worse (a machine check, an imminent
/// panic) speaks against the machine.
fn severity(level: &str) -> Severity {
    match level {
        "emerg" | "alert" | "crit" => Severity::Problem,
        "err" => Severity::Warning,
        _ => Severity::Info,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::super::probes::fixture::case;
    use super::*;

    fn log(lines: &[(&str, &str)], left_out: u64) -> Vec<Finding> {
        let lines: Vec<Value> = lines
            .iter()
            .map(|(level, text)| json!({ "sequence": 1, "level": level, "text": text }))
            .collect();
        find(&[case("kernel_log", &json!({ "lines": lines, "lines_left_out": left_out }))])
    }

    #[test]
    fn the_gravest_lines_are_quoted_first_and_once() {
        let found = log(
            &[
                ("warning", "slow"),
                ("err", "I/O error"),
                ("err", "I/O error"),
                ("warning", "b"),
                ("warning", "c"),
            ],
            45,
        );
        let [finding] = found.as_slice() else { panic!("{found:?}") };
        assert_eq!(finding.severity, Severity::Warning);
        assert_eq!(
            finding.text,
            "the kernel of n1 logged warnings or errors 50 times during the trials: 'I/O error', 'slow', 'b', \
             and others"
        );
        assert_eq!(finding.value.map(seatrial_model::Quantity::value), Some(50.0));
    }

    #[test]
    fn a_machine_check_is_a_problem_and_a_warning_good_to_know() {
        assert_eq!(log(&[("crit", "mce: fire")], 0)[0].severity, Severity::Problem);
        let mild = &log(&[("warning", "odd")], 0)[0];
        assert_eq!(mild.severity, Severity::Info);
        assert_eq!(mild.text, "the kernel of n1 logged warnings or errors once during the trials: 'odd'");
    }

    #[test]
    fn a_quiet_log_gives_nothing() {
        assert!(log(&[], 0).is_empty());
    }
}
