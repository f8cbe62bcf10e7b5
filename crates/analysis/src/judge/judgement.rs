//! All verdicts of a run, and the verdict over all.

use seatrial_model::profile::Profile;
use seatrial_model::{Verdict, VerdictRecord};

use super::advice::{MissingLimit, state_limits};
use super::peers::Peers;
use super::scope::judge_test;
use super::{JudgeInputs, demand, setting, waiver};

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Judgement {
    /// One per criterion and case; one per criterion and node without a case; settings; roles.
    pub verdicts: Vec<VerdictRecord>,
    /// The heaviest verdict; `None` when there was nothing to judge. `skip` and `None` both mean that nothing was
    /// judged: no pass, and incomplete for an exit code.
    pub verdict: Option<Verdict>,
    /// The limits whose absence made criteria unknown, each once.
    pub missing_limits: Vec<MissingLimit>,
}

impl Judgement {
    pub fn has_judged_something(&self) -> bool {
        self.verdicts
            .iter()
            .any(|record| matches!(record.verdict, Verdict::Pass | Verdict::Warn | Verdict::Fail))
    }
}

/// Judges the measured cases by `profile`. Pure: the same inputs give the same judgement.
///
/// The rules, in the order in which they are tried for one criterion and case:
/// 1. a failed case is `fail`, an unmeasured one `unknown`, a skipped one `skip`;
/// 2. a fact that the test requires and that does not hold makes the case `unknown`;
/// 3. a case whose path the counters of the interfaces contradict is `unknown`: path unconfirmed;
/// 4. a result beyond 101 % of its limit is `unknown`: limit or measurement wrong;
/// 5. a bar without a number (no limit, no reference, too small a fleet) makes the case `unknown`;
/// 6. an interval on one side of the bound is `pass` or `fail`; across the bound, `warn` when the statistic meets it
///    and `unknown` when it does not;
/// 7. a `fail` becomes `unknown` where others demonstrably used the part: see
///    [`disturbance`](seatrial_model::disturbance).
///
/// A case that stands in for one that lost its partner is judged together with that one: the number of verdicts does
/// not depend on which node was lost.
///
/// A test that measured nothing on a node, or less than it expects, is `unknown` there; so is a benchmark that is
/// only planned. A partner is never judged. A setting that differs is `fail`, a setting that is absent or unreadable
/// `unknown`, or `skip` where the rule says so. A criterion or rule with `missed = "warn"` is `warn` where it would be
/// `fail`. A waiver turns `fail` into `warn`.
pub fn judge(profile: &Profile, inputs: &JudgeInputs<'_>) -> Judgement {
    let peers = Peers::new(inputs.records);
    let rulings = profile.tests.iter().flat_map(|test| judge_test(test, profile, inputs, &peers));
    let mut judgement = Judgement::default();
    let mut without_limit = Vec::new();
    for ruling in rulings {
        without_limit.extend(ruling.missing.is_some().then_some(judgement.verdicts.len()));
        judgement.verdicts.push(ruling.record);
        judgement.missing_limits.extend(ruling.missing);
    }
    judgement.missing_limits.sort();
    judgement.missing_limits.dedup();
    for at in without_limit {
        judgement.verdicts[at].remedy = Some(state_limits(&judgement.missing_limits, inputs.typed));
    }
    for record in &mut judgement.verdicts {
        waiver::apply(record, &profile.waivers, inputs.today);
    }
    judgement.verdicts.extend(setting::judge_settings(profile, inputs).map(|ruling| ruling.record));
    judgement.verdicts.extend(demand::roles(profile, inputs));
    judgement.verdict = Verdict::roll_up(judgement.verdicts.iter().map(|record| record.verdict));
    judgement
}
