//! `trials-not-made`: trials that were not made because the time of the run was used up.

use seatrial_model::record::{CaseRecord, NotMade};
use seatrial_model::{Actor, Fact, Finding, Remedy, Severity, Subject, Unit};

use super::Rule;
use crate::number::{quantity, significant};

pub(super) const RULE: Rule = Rule {
    kind: "trials-not-made",
    doc: "Disturbed trials were not repeated, or trials were left out, because the time of the run was used \
          up.",
    find,
};

/// One finding over all cases, which shared the time.
fn find(records: &[CaseRecord]) -> Vec<Finding> {
    let all: Vec<NotMade> = records.iter().filter_map(|case| NotMade::of(&case.evidence)).collect();
    let Some(seconds) = all.iter().map(|one| one.seconds).reduce(f64::max) else { return Vec::new() };
    let repeats: u32 = all.iter().map(|one| one.repeats).sum();
    let planned: u32 = all.iter().map(|one| one.planned).sum();
    let wide = u32::try_from(all.iter().filter(|one| one.precision).count()).unwrap_or(u32::MAX);
    let is_whole_run = all.iter().any(|one| one.is_whole_run);
    let count = |count: u32, one: &str, more: &str| match count {
        0 => None,
        1 => Some(format!("1 {one}")),
        count => Some(format!("{count} {more}")),
    };
    let parts: Vec<String> = [
        count(repeats, "disturbed trial was not repeated", "disturbed trials were not repeated"),
        count(planned, "trial of the plan was not made", "trials of the plan were not made"),
        count(wide, "case has a wider interval than asked for", "cases have wider intervals than asked for"),
    ]
    .into_iter()
    .flatten()
    .collect();
    let what = if is_whole_run { "the run" } else { "repeats" };
    let text =
        format!("{}: the time for {what} ({} s a node) was used up", parts.join(", "), significant(seconds));
    let finding = Finding::new(RULE.kind, Severity::Warning, Subject::node(), text);
    let value = quantity(f64::from(repeats) + f64::from(planned), Unit::Count);
    let remedy = Some(Remedy::new(Actor::User, "give the run more time with --time-budget"));
    vec![Finding { value, evidence: vec![NotMade::NAME.to_owned()], remedy, ..finding }]
}

#[cfg(test)]
mod tests {

    use super::*;
    use crate::judge::fixture::measured;

    #[test]
    fn one_line_tells_what_all_cases_went_without_and_what_gives_more() {
        let case = |repeats, planned, precision| {
            let mut case = measured("n1");
            let not_made = NotMade { repeats, planned, precision, seconds: 90.0, is_whole_run: true };
            not_made.put(&mut case.evidence);
            case
        };
        let found = find(&[case(2, 0, false), measured("n2"), case(1, 1, true)]);
        let [finding] = found.as_slice() else { panic!("{found:?}") };
        assert_eq!(
            finding.text,
            "3 disturbed trials were not repeated, 1 trial of the plan was not made, 1 case has a wider interval than asked \
             for: the time for the run (90 s a node) was used up"
        );
        assert!(find(&[measured("n1")]).is_empty());
    }
}
