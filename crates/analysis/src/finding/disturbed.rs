//! `disturbed`: trials during which something else used the machine.

use seatrial_model::record::CaseRecord;
use seatrial_model::{Finding, Severity, Unit};

use super::{Rule, about};
use crate::number::quantity;

pub(super) const RULE: Rule = Rule {
    kind: "disturbed",
    doc: "The probes saw something else use the machine during trials, for example a hypervisor that took CPU time.",
    find,
};

/// The engine's list of disturbed trials, in words.
const TRIALS: &str = "disturbed_trials";
/// How many of them it repeated and left out of the numbers.
const REPEATED: &str = "repeated_trials";

fn find(records: &[CaseRecord]) -> Vec<Finding> {
    records.iter().filter_map(of_case).collect()
}

fn of_case(case: &CaseRecord) -> Option<Finding> {
    let list = case.evidence.get(TRIALS)?.as_array()?;
    let trials: Vec<&str> = list.iter().filter_map(serde_json::Value::as_str).collect();
    if trials.is_empty() {
        return None;
    }
    let repeated = case.evidence.get(REPEATED).and_then(serde_json::Value::as_u64).unwrap_or(0);
    let kept = (trials.len() as u64).saturating_sub(repeated);
    let (severity, effect) = match kept {
        0 => (Severity::Info, "all of them were repeated, and the numbers are without them".to_owned()),
        kept => (
            Severity::Warning,
            format!("{kept} of them are in the numbers: measure again on a quiet machine"),
        ),
    };
    let text = format!("{} trials were disturbed ({}); {effect}", trials.len(), trials.join("; "));
    let finding = Finding::new(RULE.kind, severity, case.subject.clone(), text);
    let value = quantity(trials.len() as f64, Unit::Count);
    Some(about(case, Finding { value, evidence: vec![TRIALS.to_owned()], ..finding }))
}

#[cfg(test)]
mod tests {
    use seatrial_model::Quantity;
    use serde_json::json;

    use super::*;
    use crate::judge::fixture::measured;

    fn disturbed(trials: &[&str], repeated: u64) -> CaseRecord {
        let mut case = measured("n1");
        case.evidence.insert(TRIALS.to_owned(), json!(trials));
        case.evidence.insert(REPEATED.to_owned(), json!(repeated));
        case
    }

    #[test]
    fn repeated_trials_are_information_and_kept_ones_a_warning() {
        let why = "trial 1: 12.0 % of the CPU time was stolen by the hypervisor";
        let repeated = find(&[disturbed(&[why], 1)]).remove(0);
        assert_eq!(repeated.severity, Severity::Info);
        assert!(repeated.text.contains(why) && repeated.text.contains("without them"), "{}", repeated.text);
        let kept = find(&[disturbed(&[why, why, why], 2)]).remove(0);
        assert_eq!((kept.severity, kept.value.map(Quantity::value)), (Severity::Warning, Some(3.0)));
        assert!(kept.text.contains("1 of them are in the numbers"), "{}", kept.text);
    }

    #[test]
    fn quiet_cases_and_strange_evidence_give_nothing() {
        assert!(find(&[measured("n1"), disturbed(&[], 0)]).is_empty());
        let mut strange = measured("n1");
        strange.evidence.insert(TRIALS.to_owned(), json!("many"));
        assert!(find(&[strange]).is_empty());
    }
}
