//! Cases of a run that have no number yet.

use std::collections::HashSet;

use seatrial_model::record::{CaseRecord, RunInfo};
use seatrial_model::{Case, CaseId, Cause, Reason};
use seatrial_report::repeat_command;

/// Records of the planned cases that had not ended when a gate was stopped: nothing is known of them.
pub fn not_ended(plan: &[Case], done: &[CaseRecord]) -> Vec<CaseRecord> {
    let done: HashSet<&CaseId> = done.iter().map(|record| &record.case).collect();
    let why = Reason::new(Cause::Interrupted, "the time was over before it ended");
    let open = plan.iter().filter(|case| !done.contains(&case.id));
    open.map(|case| CaseRecord::without_numbers(case, &why)).collect()
}

/// The message when cases were interrupted, or never ran because a job or node ended: once, with how to resume.
pub fn still_open(records: &[CaseRecord], planned: &HashSet<&CaseId>, info: &RunInfo) -> Option<String> {
    let is_open = |record: &&CaseRecord| record.is_open(|case| planned.contains(case));
    let open: Vec<&CaseRecord> = records.iter().filter(is_open).collect();
    let why = open.first()?.reason.as_deref().unwrap_or("the run was stopped");
    let count = if open.len() == 1 { "1 case is".to_owned() } else { format!("{} cases are", open.len()) };
    Some(format!("{count} still to be measured: {why}\nresume with: {}", repeat_command::resume(info)))
}

#[cfg(test)]
mod tests {
    use seatrial_model::Outcome;

    use super::*;
    use crate::fixture::case;

    #[test]
    fn what_a_gate_did_not_end_could_not_be_measured() {
        let plan = ["n1", "n2"].map(|node| case("toy", node));
        let found = not_ended(&plan, &[CaseRecord::measured(&plan[0])]);
        let [open] = &found[..] else { panic!("{found:?}") };
        assert_eq!((&open.case, open.outcome), (&plan[1].id, Outcome::Unmeasured));
    }
}
