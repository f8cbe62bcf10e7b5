//! Compares the records of a run with records made again from its samples.

use std::collections::BTreeMap;

use seatrial_model::record::CaseRecord;
use seatrial_model::{Finding, Verdict, VerdictRecord};
use serde::Serialize;
use serde_json::Value;

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Discrepancy {
    /// A case, a criterion on its subject, a finding, or the verdict of the run.
    pub of: String,
    /// Which value, for example `metrics.bandwidth.median`; empty for the whole.
    pub value: String,
    /// The recorded value; null when the record lacks it.
    pub recorded: Value,
    /// The recomputed value; null when there is none.
    pub again: Value,
}

#[derive(Clone, Copy, Debug)]
pub struct Conclusions<'a> {
    /// Over cases and groups.
    pub findings: &'a [Finding],
    pub verdicts: &'a [VerdictRecord],
    pub verdict: Option<Verdict>,
}

/// The largest number of reported discrepancies of one record or conclusion.
const MOST_TOLD: usize = 5;

pub fn record_discrepancies(recorded: &CaseRecord, again: &CaseRecord) -> Vec<Discrepancy> {
    let mut found = Vec::new();
    let of = format!("case {}", recorded.case);
    let mut again = again.clone();
    // Older versions named no headline.
    again.headline = again.headline.filter(|_| recorded.headline.is_some());
    differences(&of, "", &to_value(recorded), &to_value(&again), &mut found);
    found.truncate(MOST_TOLD);
    found
}

pub fn conclusion_discrepancies(recorded: Conclusions<'_>, again: Conclusions<'_>) -> Vec<Discrepancy> {
    let mut found = Vec::new();
    by_name(&named(recorded.verdicts, name_of_verdict), &named(again.verdicts, name_of_verdict), &mut found);
    by_name(&named(recorded.findings, name_of_finding), &named(again.findings, name_of_finding), &mut found);
    differences("the run", "verdict", &to_value(&recorded.verdict), &to_value(&again.verdict), &mut found);
    if found.is_empty() {
        // The same in another order is no difference.
        let order = |conclusions: Conclusions<'_>| {
            let verdicts = conclusions.verdicts.iter().map(name_of_verdict);
            verdicts.chain(conclusions.findings.iter().map(name_of_finding)).collect::<Vec<_>>()
        };
        let (recorded, again) = (order(recorded), order(again));
        if let Some((one, other)) = recorded.iter().zip(&again).find(|(one, other)| one != other) {
            found.push(Discrepancy {
                of: "the run".to_owned(),
                value: "order of findings and verdicts".to_owned(),
                recorded: one.as_str().into(),
                again: other.as_str().into(),
            });
        }
    }
    found
}

fn name_of_verdict(record: &VerdictRecord) -> String {
    let node = record.node.as_deref().map_or(String::new(), |node| format!("{node}/"));
    format!("criterion {} on {node}{}", record.criterion, record.subject)
}

fn name_of_finding(finding: &Finding) -> String {
    let node = finding.node.as_deref().map_or(String::new(), |node| format!("{node}/"));
    format!("finding {} on {node}{}", finding.kind, finding.subject)
}

/// Each with its name and how many of that name precede it: a criterion judges several cases of a subject.
fn named<T: Serialize>(all: &[T], name: fn(&T) -> String) -> BTreeMap<(String, usize), Value> {
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    let mut found = BTreeMap::new();
    for one in all {
        let name = name(one);
        let count = seen.entry(name.clone()).or_default();
        found.insert((name, *count), to_value(one));
        *count += 1;
    }
    found
}

type Named = BTreeMap<(String, usize), Value>;

fn by_name(recorded: &Named, again: &Named, found: &mut Vec<Discrepancy>) {
    let nothing = Value::Null;
    for (name, value) in recorded {
        let mut here = Vec::new();
        differences(&name.0, "", value, again.get(name).unwrap_or(&nothing), &mut here);
        found.extend(here.into_iter().take(MOST_TOLD));
    }
    for (name, value) in again.iter().filter(|(name, _)| !recorded.contains_key(*name)) {
        differences(&name.0, "", &nothing, value, found);
    }
}

fn differences(of: &str, at: &str, recorded: &Value, again: &Value, found: &mut Vec<Discrepancy>) {
    let below = |name: &str| if at.is_empty() { name.to_owned() } else { format!("{at}.{name}") };
    match (recorded, again) {
        (Value::Object(one), Value::Object(other)) => {
            for (name, value) in one {
                differences(of, &below(name), value, other.get(name).unwrap_or(&Value::Null), found);
            }
            for (name, value) in other.iter().filter(|(name, _)| !one.contains_key(*name)) {
                differences(of, &below(name), &Value::Null, value, found);
            }
        }
        (Value::Array(one), Value::Array(other)) if one.len() == other.len() => {
            for (number, (one, other)) in one.iter().zip(other).enumerate() {
                differences(of, &below(&number.to_string()), one, other, found);
            }
        }
        (one, other) if one == other => {}
        (one, other) => found.push(Discrepancy {
            of: of.to_owned(),
            value: at.to_owned(),
            recorded: one.clone(),
            again: other.clone(),
        }),
    }
}

fn to_value<T: Serialize>(value: &T) -> Value {
    // Records hold only what JSON can represent.
    serde_json::to_value(value).unwrap_or_default()
}

impl std::fmt::Display for Discrepancy {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { of, value, recorded, again } = self;
        f.write_str(of)?;
        if !value.is_empty() {
            write!(f, ", {value}")?;
        }
        match (recorded, again) {
            (Value::Null, again) => write!(f, ": not recorded, but the samples give {}", short(again)),
            (recorded, Value::Null) => {
                write!(f, ": recorded {}, but the samples give nothing", short(recorded))
            }
            (recorded, again) => {
                write!(f, ": recorded {}, the samples give {}", short(recorded), short(again))
            }
        }
    }
}

/// Characters of a value that are shown.
const SHOWN: usize = 100;

fn short(value: &Value) -> String {
    let text = value.to_string();
    match text.char_indices().nth(SHOWN) {
        Some((at, _)) => format!("{} ...", &text[..at]),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use seatrial_model::{Severity, Subject};
    use serde_json::json;

    use super::*;

    fn verdict(criterion: &str, verdict: Verdict) -> VerdictRecord {
        let record = VerdictRecord::new(criterion, "t", Subject::node(), verdict, "at least 1 GB/s");
        VerdictRecord { node: Some("n1".to_owned()), margin_percent: Some(-3.5), ..record }
    }

    fn told(recorded: &[VerdictRecord], again: &[VerdictRecord]) -> Vec<String> {
        let of = |verdicts| Conclusions { findings: &[], verdicts, verdict: None };
        conclusion_discrepancies(of(recorded), of(again)).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_verdict_that_comes_out_otherwise_is_named_with_both() {
        let recorded = [verdict("read", Verdict::Pass), verdict("copy", Verdict::Pass)];
        let again = [verdict("read", Verdict::Pass), verdict("copy", Verdict::Fail)];
        assert_eq!(told(&recorded, &recorded), [""; 0]);
        assert_eq!(
            told(&recorded, &again),
            ["criterion copy on n1/node, verdict: recorded \"pass\", the samples give \"fail\""]
        );
    }

    #[test]
    fn a_verdict_too_many_or_too_few_is_named_once() {
        let (one, other) = (verdict("read", Verdict::Pass), verdict("copy", Verdict::Pass));
        let few = told(std::slice::from_ref(&one), &[one.clone(), other.clone()]);
        assert_eq!(few.len(), 1, "{few:?}");
        assert!(few[0].starts_with("criterion copy on n1/node: not recorded, but"), "{few:?}");
        let many = told(&[one.clone(), one.clone()], std::slice::from_ref(&one));
        assert_eq!(many.len(), 1, "{many:?}");
        assert!(many[0].ends_with("but the samples give nothing"), "{many:?}");
        let turned = told(&[one.clone(), other.clone()], &[other, one]);
        assert_eq!(turned.len(), 1, "{turned:?}");
        assert!(turned[0].contains("order of findings and verdicts"), "{turned:?}");
    }

    #[test]
    fn findings_and_the_roll_up_are_held_against_each_other_too() {
        let finding = |text: &str| Finding::new("knee", Severity::Info, Subject::node(), text);
        let (one, other) = ([finding("saturated at 4")], [finding("saturated at 8")]);
        let of = |findings, verdict| Conclusions { findings, verdicts: &[], verdict };
        let found = conclusion_discrepancies(of(&one, Some(Verdict::Pass)), of(&other, Some(Verdict::Warn)));
        let values: Vec<_> = found.iter().map(|one| (one.of.as_str(), one.value.as_str())).collect();
        assert_eq!(values, [("finding knee on node", "text"), ("the run", "verdict")]);
        assert_eq!((&found[1].recorded, &found[1].again), (&json!("pass"), &json!("warn")));
    }

    #[test]
    fn a_record_that_names_no_headline_is_not_held_against_it() {
        let named = |headline: Option<&str>| CaseRecord {
            headline: headline.map(str::to_owned),
            ..crate::judge::fixture::case("n1", "node")
        };
        assert_eq!(record_discrepancies(&named(None), &named(Some("bandwidth"))), []);
        let found = record_discrepancies(&named(Some("traffic")), &named(Some("bandwidth")));
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!(found[0].value, "headline");
    }
}
