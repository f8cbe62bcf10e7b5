//! All verdicts of a run, and the one they roll up to.

use seatrial_model::profile::Profile;
use seatrial_model::{Verdict, VerdictRecord};

use super::advice::MissingLimit;
use super::peers::Peers;
use super::scope::judge_test;
use super::{JudgeInputs, demand, setting, waiver};

/// All verdicts of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Judgement {
    /// One a criterion and case; one a criterion and node where no case was found; settings; roles.
    pub verdicts: Vec<VerdictRecord>,
    /// The heaviest of them; none when there was nothing to judge.
    ///
    /// `skip` and none both mean that nothing at all was judged: no pass, and incomplete for an exit code.
    pub verdict: Option<Verdict>,
    /// The limits without which criteria came out unknown, each once.
    pub missing_limits: Vec<MissingLimit>,
}

impl Judgement {
    /// Whether one criterion at least came to a verdict of its own: pass, warn or fail.
    pub fn has_judged_something(&self) -> bool {
        self.verdicts
            .iter()
            .any(|record| matches!(record.verdict, Verdict::Pass | Verdict::Warn | Verdict::Fail))
    }
}

/// Judges what was measured by what `profile` demands. Pure: the same inputs give the same judgement.
///
/// The rules, in the order in which they are tried for one criterion and case:
/// 1. a failed case is `fail`, an unmeasured one `unknown`, a skipped one `skip`;
/// 2. a fact that the test requires and that is not so makes it `unknown`;
/// 3. a case whose path the counters of the interfaces contradict is `unknown`: path unconfirmed;
/// 4. a result beyond 101 % of its limit is `unknown`: limit or measurement wrong;
/// 5. a bar that comes to no number (no limit, no reference, too small a fleet) makes it `unknown`;
/// 6. the interval on one side of the bound is `pass` or `fail`; across it, `warn` when the statistic meets the bound
///    and `unknown` when it does not;
/// 7. what would be `fail` is `unknown` where others demonstrably used the part: see [`disturbance`](seatrial_model::disturbance).
///
/// A case that stands in for one that lost its partner is judged with that one: a run has the same number of verdicts
/// whoever was lost.
///
/// A test that found nothing to measure on a node, or less than it expects, is `unknown` there; so is a benchmark
/// that is only planned. A partner is never judged. A setting that differs is `fail`, one that is not there or could
/// not be read `unknown`. A waiver turns `fail` into `warn`.
pub fn judge(profile: &Profile, inputs: &JudgeInputs<'_>) -> Judgement {
    let peers = Peers::new(inputs.records);
    let rulings = profile.tests.iter().flat_map(|test| judge_test(test, profile, inputs, &peers));
    let mut judgement = Judgement::default();
    for ruling in rulings {
        judgement.verdicts.push(ruling.record);
        judgement.missing_limits.extend(ruling.missing);
    }
    judgement.missing_limits.sort();
    judgement.missing_limits.dedup();
    for record in &mut judgement.verdicts {
        waiver::apply(record, &profile.waivers, inputs.today);
    }
    judgement.verdicts.extend(setting::judge_settings(profile, inputs).map(|ruling| ruling.record));
    judgement.verdicts.extend(demand::roles(profile, inputs));
    judgement.verdict = Verdict::roll_up(judgement.verdicts.iter().map(|record| record.verdict));
    judgement
}
