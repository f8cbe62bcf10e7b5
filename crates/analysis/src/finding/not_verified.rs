//! `not-verified`: a case whose data was not, or not fully, checked, because its parameter `verify` says so.

use seatrial_model::record::CaseRecord;
use seatrial_model::{Actor, Finding, Outcome, Remedy, Severity, Verification};

use super::{Rule, about};

pub(super) const RULE: Rule = Rule {
    kind: "not-verified",
    doc: "The data of a case was not, or not fully, checked, as its parameter `verify` asks for.",
    find,
};

const MEASURE_VERIFIED: Remedy = Remedy::new(Actor::User, "measure with -p verify=full, the default");

fn find(records: &[CaseRecord]) -> Vec<Finding> {
    records.iter().filter(|case| case.outcome == Outcome::Measured).filter_map(of_case).collect()
}

fn of_case(case: &CaseRecord) -> Option<Finding> {
    let left_out = Verification::of(&case.params).left_out()?;
    let text = format!("{left_out}: the rate may be that of wrong data");
    let finding = Finding::new(RULE.kind, Severity::Warning, case.subject.clone(), text);
    Some(about(case, finding.with_remedy(MEASURE_VERIFIED)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::fixture::{case, measured};

    #[test]
    fn a_measured_case_says_what_was_not_checked_and_one_in_full_or_without_numbers_says_nothing() {
        let texts = |word: &str, mut case: CaseRecord| -> Vec<String> {
            case.params.set(Verification::PARAM, word);
            find(&[case]).into_iter().map(|finding| finding.text).collect()
        };
        let of_none = "contents were not checked (verify=none): the rate may be that of wrong data";
        assert_eq!(texts("none", measured("n1")), [of_none]);
        assert!(texts("header", measured("n1"))[0].starts_with("only the headers of blocks were checked"));
        assert!(texts("full", measured("n1")).is_empty());
        let mut skipped = case("n1", "node");
        skipped.outcome = Outcome::Skipped;
        assert!(texts("none", skipped).is_empty());
    }
}
