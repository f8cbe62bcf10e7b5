//! What follows from a look at a subject that hung before.

use seatrial_model::record::CaseRecord;
use seatrial_model::{Cause, Nanos};

use super::{Finished, RunError, Runner};
use crate::quarantine::LivenessCheck;
use crate::round::Round;
use crate::running_case::RunningCase;
use crate::trial::TrialEnd;

impl Runner<'_> {
    /// Goes on with the case that waited for `look`: it is recorded as hung when that hung, as lost when a node of it is
    /// gone, and starts otherwise. What else came of the look the case will meet with itself.
    #[expect(
        clippy::too_many_arguments,
        reason = "what the loop holds, and the four things that a check consists of"
    )]
    pub(super) fn liveness_checked(
        &mut self,
        round: &mut Round,
        key: u64,
        check: LivenessCheck,
        active: RunningCase,
        end: TrialEnd,
        now: Nanos,
        finished: &mut Finished,
    ) -> Result<(), RunError> {
        let number = active.co_run;
        if let Some(co_run) = round.co_runs.get_mut(&number) {
            co_run.running.remove(&key);
        }
        if !self.is_stopping(round) {
            match &end.reason {
                Some(reason) if reason.cause == Cause::Hang => {
                    let record = active.still_hung(&check, &end, now);
                    self.keep(record, finished)?;
                }
                Some(reason)
                    if matches!(reason.cause, Cause::Vanished | Cause::PartnerLost | Cause::Interrupted) =>
                {
                    let record = CaseRecord::without_numbers(&check.case, reason);
                    self.keep(CaseRecord { lost: end.lost, ..record }, finished)?;
                }
                _ => self.begin(round, number, check.case, active.nodes, None)?,
            }
        }
        self.advance(round, number, now, finished)
    }
}
