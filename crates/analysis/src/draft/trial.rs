//! Tries a drafted profile on the runs that it was derived from.

use std::collections::{BTreeMap, BTreeSet};

use jiff::civil::Date;
use seatrial_model::profile::Criterion;
use seatrial_model::record::CaseRecord;
use seatrial_model::{Outcome, Verdict};

use super::{Draft, DraftRun, Group};
use crate::judge::{Assignment, JudgeInputs, judge};

/// Only waivers depend on the day, and drafts have no waivers.
const ANY_DAY: Date = Date::constant(2000, 1, 1);

pub(super) fn keep_what_passes(draft: &mut Draft, runs: &[DraftRun<'_>], groups: &[Group]) {
    let mut refused: BTreeMap<String, String> = BTreeMap::new();
    let mut remarks: BTreeSet<String> = BTreeSet::new();
    for run in runs {
        let records: Vec<CaseRecord> = groups.iter().flat_map(|group| regrouped(run, group)).collect();
        let names: Vec<String> = run.site.nodes.iter().map(|node| node.name.clone()).collect();
        let nodes = Assignment::new(&draft.profile, &names, &BTreeMap::new());
        let inputs = JudgeInputs {
            typed: &draft.profile.id,
            nodes: &nodes,
            records: &records,
            reference: None,
            site: run.site,
            settings: &[],
            today: ANY_DAY,
        };
        let measured: BTreeSet<&str> = records
            .iter()
            .filter(|case| case.outcome == Outcome::Measured)
            .map(|case| case.case.as_str())
            .collect();
        for verdict in judge(&draft.profile, &inputs).verdicts {
            if !matches!(verdict.verdict, Verdict::Fail | Verdict::Unknown) {
                continue;
            }
            let why = verdict.reason.unwrap_or_else(|| verdict.verdict.word().to_owned());
            if verdict.case.as_deref().is_some_and(|case| measured.contains(case)) {
                refused.entry(verdict.criterion).or_insert(format!("run {} does not pass it: {why}", run.id));
            } else {
                let node = verdict.node.map(|node| format!(" on {node}")).unwrap_or_default();
                remarks.insert(format!("{}{node} has no number in run {}: {why}", verdict.criterion, run.id));
            }
        }
    }
    for (criterion, why) in &refused {
        draft.leave_out(format!("{criterion}: {why}"));
        draft.spreads.remove(criterion);
    }
    draft.profile.criteria.retain(|criterion| !refused.contains_key(&criterion.id));
    let judged: BTreeSet<&String> =
        draft.profile.criteria.iter().map(|Criterion { test, .. }| test).collect();
    draft.profile.tests.retain(|test| judged.contains(&test.id));
    for remark in remarks {
        draft.leave_out(remark);
    }
}

/// The cases of a run, as if measured for the draft.
fn regrouped(run: &DraftRun<'_>, group: &Group) -> Vec<CaseRecord> {
    let own = run.results.iter().filter(|case| group.has(case) && !case.origin.is_added());
    own.map(|case| CaseRecord { group: group.test.id.clone(), ..case.clone() }).collect()
}
