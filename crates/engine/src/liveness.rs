//! Liveness checks: after a hang, checks whether the subject still hangs before the next case runs into its
//! deadlines.
//!
//! A phase may take half a minute before it counts as hung, and each further case on a frozen file system would take
//! it again. So a case whose subject hung when last used is preceded by a check: a worker that touches the subject in
//! the cheapest way ([`Benchmark::liveness_check`]). If the check hangs too, the case is recorded as hung; otherwise the case
//! runs as usual. The check runs every time, so that a recovered subject is measured at once.

use seatrial_bench::Benchmark;
use seatrial_model::record::CaseRecord;
use seatrial_model::{Budget, Case, CaseId, Cause, Nanos, Outcome, Reason};

/// Time limit of a check. A working subject answers in milliseconds.
const LIVENESS_TIMEOUT: Nanos = Nanos::secs(2);

/// The evidence that names the first hung case in the record of a case that was not tried.
const AFTER_HANG: &str = "after_hang";

/// A case that runs if its subject answers.
#[derive(Clone, Debug)]
pub struct LivenessCheck {
    pub case: Case,
    /// The first case that hung on the same subject.
    pub first: CaseId,
}

impl LivenessCheck {
    /// The check before `case` after the records `done`; `None` if nothing hung or the benchmark has no check.
    /// Depends on records alone, so that a resumed run does the same.
    pub fn before(case: &Case, bench: &Benchmark, done: &[CaseRecord]) -> Option<Self> {
        case.places.first().and_then(|place| (bench.liveness_check)(case, place))?;
        let first = hung_before(case, done)?;
        Some(Self { case: case.clone(), first })
    }

    /// The case as sent to workers that only check.
    pub fn sent(&self) -> Case {
        let mut case = self.case.clone();
        case.origin.liveness_check = true;
        case.budget =
            Budget { warm_up: Nanos(0), measure: Nanos(0), connect: LIVENESS_TIMEOUT, ..case.budget };
        case
    }

    pub fn hung(&self) -> CaseRecord {
        let text = format!(
            "{} still does not answer within {LIVENESS_TIMEOUT} after {} hung on it; the case was not started",
            self.case.subject, self.first
        );
        let mut record = CaseRecord::without_numbers(&self.case, &Reason::new(Cause::Hang, text));
        record.evidence.insert(AFTER_HANG.to_owned(), self.first.as_str().into());
        record
    }
}

fn hung_before(case: &Case, done: &[CaseRecord]) -> Option<CaseId> {
    for record in done.iter().rev().filter(|record| is_same(case, record)) {
        match (record.outcome, record.cause) {
            (Outcome::Failed, Some(Cause::Hang)) => {
                let first = record.evidence.get(AFTER_HANG).and_then(|first| first.as_str());
                return first.map_or_else(|| Some(record.case.clone()), |first| first.parse().ok());
            }
            // It answered, if only with an error.
            (Outcome::Measured | Outcome::Failed, _) => return None,
            (Outcome::Unmeasured | Outcome::Skipped, _) => {}
        }
    }
    None
}

/// Whether a record is about the subject of `case`: by the stable key, else by name and node.
fn is_same(case: &Case, record: &CaseRecord) -> bool {
    match (&case.key, &record.key) {
        (Some(one), Some(other)) => one == other,
        _ => case.subject == record.subject && case.nodes == record.nodes,
    }
}

#[cfg(test)]
mod tests {
    use seatrial_model::{Params, Site};

    use super::*;

    fn case(directory: &str) -> Case {
        let bench = seatrial_registry::REGISTRY.find("storage.metadata").expect("a benchmark");
        let about = bench.about;
        let mut params: Params = about.defaults();
        params.set("directory", directory);
        let site = Site { nodes: vec![seatrial_testkit::node("n1", 1)] };
        bench.plan(&params, &site).expect("a plan").remove(0)
    }

    fn ended(case: &Case, cause: Option<Cause>) -> CaseRecord {
        cause.map_or_else(
            || CaseRecord::measured(case),
            |cause| CaseRecord::without_numbers(case, &Reason::new(cause, "")),
        )
    }

    fn before(case: &Case, done: &[CaseRecord]) -> Option<String> {
        let bench = seatrial_registry::REGISTRY.find(&case.bench).expect("a benchmark");
        LivenessCheck::before(case, bench, done).map(|check| check.first.to_string())
    }

    #[test]
    fn a_subject_is_looked_at_after_a_hang_until_something_works_on_it_again() {
        let (one, other) = (case("/a"), case("/b"));
        let hung = ended(&one, Some(Cause::Hang));
        let first = Some(one.id.to_string());
        assert_eq!(before(&one, &[]), None);
        assert_eq!(before(&one, std::slice::from_ref(&hung)), first);
        assert_eq!(before(&other, std::slice::from_ref(&hung)), None, "another file system");
        assert_eq!(before(&one, &[hung.clone(), ended(&one, None)]), None, "it was measured since");
        assert_eq!(
            before(&one, &[hung.clone(), ended(&one, Some(Cause::IoError))]),
            None,
            "it answered since"
        );
        for says_nothing in [Cause::NotTried, Cause::Denied, Cause::Inapplicable] {
            assert_eq!(
                before(&one, &[hung.clone(), ended(&one, Some(says_nothing))]),
                first,
                "{says_nothing:?}"
            );
        }
        assert_eq!(before(&one, &[ended(&one, None), hung]), first);
    }

    #[test]
    fn however_many_looks_hang_they_name_the_case_that_hung_first() {
        let one = case("/a");
        let mut second = ended(&one, Some(Cause::Hang));
        let Ok(id) = "the second".parse();
        second.case = id;
        second.evidence.insert(AFTER_HANG.to_owned(), "the first".into());
        assert_eq!(before(&one, &[second]).as_deref(), Some("the first"));
        let Ok(first) = "the first".parse();
        let check = LivenessCheck { case: one.clone(), first };
        let record = check.hung();
        assert_eq!((record.outcome, record.cause), (Outcome::Failed, Some(Cause::Hang)));
        assert_eq!(record.evidence[AFTER_HANG], "the first");
        assert!(!record.origin.liveness_check && check.sent().origin.liveness_check);
    }

    #[test]
    fn devices_are_told_by_their_keys_wherever_they_are_named_otherwise() {
        let hung = CaseRecord { key: Some("uuid-1".to_owned()), ..ended(&case("/a"), Some(Cause::Hang)) };
        let same = Case { key: Some("uuid-1".to_owned()), ..case("/b") };
        assert!(before(&same, std::slice::from_ref(&hung)).is_some());
        let another = Case { key: Some("uuid-2".to_owned()), ..case("/a") };
        assert!(before(&another, &[hung]).is_none());
    }

    #[test]
    fn a_benchmark_that_cannot_look_is_not_held_up() {
        let bench = seatrial_registry::REGISTRY.find("mem.bandwidth").expect("a benchmark");
        let case = Case { bench: "mem.bandwidth".to_owned(), ..case("/a") };
        assert!(LivenessCheck::before(&case, bench, &[ended(&case, Some(Cause::Hang))]).is_none());
    }
}
