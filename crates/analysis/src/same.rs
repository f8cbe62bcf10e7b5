//! Which cases measure the same thing, on one node or on several.

use seatrial_model::record::CaseRecord;
use seatrial_model::{Value, Verification};

/// What went on beside a case: the step of a pattern with concurrent cases, and the load of another test.
pub(crate) fn company(case: &CaseRecord) -> Company {
    let step = case.origin.step.map(|step| (step, case.origin.pattern.clone()));
    let beside = case.origin.beside.as_ref();
    (step, beside.map(|beside| (beside.test.clone(), beside.load.clone(), beside.percent, beside.is_load)))
}

/// See [`company`].
pub(crate) type Company = (Option<(u64, Option<String>)>, Option<(String, String, u32, bool)>);

/// Whether two cases measure the same: benchmark, parameters, what went on beside them, and the repeat of a study. Versions
/// are compared by the caller, because a difference in them is reported.
pub(crate) fn is_same_question(a: &CaseRecord, b: &CaseRecord) -> bool {
    let repeat = |case: &CaseRecord| {
        let study = case.origin.study.as_ref()?;
        Some((study.repeat, study.block.as_ref().map(|block| (block.setting.clone(), block.place))))
    };
    a.bench == b.bench && asked(a).eq(asked(b)) && company(a) == company(b) && repeat(a) == repeat(b)
}

/// The parameters that two cases must have in common to measure the same. Those of versions without `verify` verified in full.
fn asked(case: &CaseRecord) -> impl Iterator<Item = (&str, &Value)> {
    let is_full = Verification::of(&case.params) == Verification::Full;
    case.params.iter().filter(move |(name, _)| !(is_full && *name == Verification::PARAM))
}

/// The same as text.
pub(crate) fn asked_text(case: &CaseRecord) -> String {
    asked(case).map(|(name, value)| format!("{name}={value},")).collect()
}

/// Whether two cases are about the same subject on the same nodes. The stable key decides where both have one:
/// devices are renumbered.
pub(crate) fn is_same_thing(a: &CaseRecord, b: &CaseRecord) -> bool {
    let same_subject = match (&a.key, &b.key) {
        (Some(a), Some(b)) => a == b,
        _ => a.subject == b.subject,
    };
    a.nodes == b.nodes && same_subject
}

/// Whether two cases are about subjects of the same name on any nodes: `eth0` of one node and `eth0` of another.
pub(crate) fn is_same_class(a: &CaseRecord, b: &CaseRecord) -> bool {
    class_of(a) == class_of(b)
}

/// The subject without the names of the case's own nodes: `n1/eth0->n2/eth0` is `eth0->eth0`.
pub(crate) fn class_of(case: &CaseRecord) -> String {
    let end = |end: &str| match end.split_once('/') {
        Some((node, rest)) if case.nodes.iter().any(|known| known == node) => rest.to_owned(),
        _ => end.to_owned(),
    };
    case.subject.as_str().split("->").map(end).collect::<Vec<_>>().join("->")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::fixture::case;

    #[test]
    fn the_key_decides_before_the_name() {
        let mut a = case("n1", "disk:sda");
        let mut b = case("n1", "disk:sdb");
        assert!(!is_same_thing(&a, &b));
        a.key = Some("wwn-1".to_owned());
        assert!(!is_same_thing(&a, &b), "one key alone says nothing");
        b.key = Some("wwn-1".to_owned());
        assert!(is_same_thing(&a, &b));
        b.subject = a.subject.clone();
        b.key = Some("wwn-2".to_owned());
        assert!(!is_same_thing(&a, &b), "another disk under the old name");
        b.key = a.key.clone();
        b.nodes = vec!["n2".to_owned()];
        assert!(!is_same_thing(&a, &b));
    }

    #[test]
    fn a_class_has_no_node_names() {
        let mut a = case("n1", "n1/eth0->n2/eth0");
        a.nodes.push("n2".to_owned());
        let mut b = case("n3", "n3/eth0->n4/eth0");
        b.nodes.push("n4".to_owned());
        assert!(is_same_class(&a, &b));
        assert!(is_same_class(&case("n1", "fs:/scratch"), &case("n2", "fs:/scratch")));
        assert!(!is_same_class(&case("n1", "numa:0->1"), &case("n2", "numa:0->0")));
    }
}
