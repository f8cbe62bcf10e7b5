//! `disturbed`: trials during which other processes used the machine.

use seatrial_model::record::CaseRecord;
use seatrial_model::{DisturbedTrials, Fact, Finding, RepeatedTrials, Severity, Unit};

use super::{Rule, about};
use crate::number::quantity;

pub(super) const RULE: Rule = Rule {
    kind: "disturbed",
    doc: "Something else used the machine during trials, for example a hypervisor that took CPU time.",
    find,
};

fn find(records: &[CaseRecord]) -> Vec<Finding> {
    records.iter().filter_map(of_case).collect()
}

fn of_case(case: &CaseRecord) -> Option<Finding> {
    let trials: Vec<String> =
        DisturbedTrials::of(&case.evidence)?.0.iter().map(ToString::to_string).collect();
    if trials.is_empty() {
        return None;
    }
    let repeated = RepeatedTrials::of(&case.evidence).unwrap_or_default().0;
    let kept = trials.len().saturating_sub(repeated as usize);
    let (severity, effect) = match kept {
        0 => (Severity::Info, "all of them were repeated and are not in the numbers".to_owned()),
        kept => (
            Severity::Warning,
            format!("{kept} of them were not repeated and count: measure again on a quiet machine"),
        ),
    };
    let text = format!("{} trials were disturbed ({}); {effect}", trials.len(), trials.join("; "));
    let finding = Finding::new(RULE.kind, severity, case.subject.clone(), text);
    let value = quantity(trials.len() as f64, Unit::Count);
    Some(about(case, Finding { value, evidence: vec![DisturbedTrials::NAME.to_owned()], ..finding }))
}

#[cfg(test)]
mod tests {
    use seatrial_model::{DisturbedTrial, Quantity};
    use serde_json::json;

    use super::*;
    use crate::judge::fixture::measured;

    fn disturbed(trials: &[&str], repeated: u32) -> CaseRecord {
        let mut case = measured("n1");
        let trials = trials.iter().map(|why| DisturbedTrial { trial: 1, why: (*why).to_owned() });
        DisturbedTrials(trials.collect()).put(&mut case.evidence);
        RepeatedTrials(repeated).put(&mut case.evidence);
        case
    }

    #[test]
    fn repeated_trials_are_information_and_kept_ones_a_warning() {
        let why = "12.0 % of the CPU time was stolen by the hypervisor";
        let repeated = find(&[disturbed(&[why], 1)]).remove(0);
        assert_eq!(repeated.severity, Severity::Info);
        assert!(
            repeated.text.contains(why) && repeated.text.contains("not in the numbers"),
            "{}",
            repeated.text
        );
        let kept = find(&[disturbed(&[why, why, why], 2)]).remove(0);
        assert_eq!((kept.severity, kept.value.map(Quantity::value)), (Severity::Warning, Some(3.0)));
        assert!(kept.text.contains("1 of them were not repeated and count"), "{}", kept.text);
    }

    #[test]
    fn quiet_cases_and_strange_evidence_give_nothing() {
        assert!(find(&[measured("n1"), disturbed(&[], 0)]).is_empty());
        let mut strange = measured("n1");
        strange.evidence.insert(DisturbedTrials::NAME.to_owned(), json!("many"));
        assert!(find(&[strange]).is_empty());
    }
}
