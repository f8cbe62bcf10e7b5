//! Judges cases by the profile of the run while it measures.

use std::collections::BTreeMap;

use jiff::Timestamp;
use seatrial_analysis::{Assignment, JudgeInputs};
use seatrial_engine::{Demand, Standing};
use seatrial_model::profile::{Profile, Requirement};
use seatrial_model::record::CaseRecord;
use seatrial_model::{Case, Site, Verdict};

use crate::judge;

pub struct Demanded<'a> {
    profile: &'a Profile,
    nodes: Assignment,
    site: &'a Site,
    reference: Option<&'a [CaseRecord]>,
}

impl<'a> Demanded<'a> {
    pub fn new(
        profile: &'a Profile,
        names: &[String],
        site: &'a Site,
        reference: Option<&'a [CaseRecord]>,
    ) -> Self {
        let nodes = Assignment::new(profile, names, &BTreeMap::new());
        Self { profile, nodes, site, reference }
    }
}

impl Demand for Demanded<'_> {
    fn is_judged(&self, case: &Case) -> bool {
        let mut criteria = self.profile.criteria_of(&case.group);
        criteria.any(|criterion| Requirement::selects(&criterion.cases, &case.params))
    }

    /// Judges the case alone: percentages of other nodes' results are open until these are measured.
    fn standing(&self, record: &CaseRecord) -> Standing {
        let mut records = [record.clone()];
        seatrial_analysis::state_limits(self.profile, &mut records);
        let inputs = JudgeInputs {
            typed: &self.profile.id,
            nodes: &self.nodes,
            records: &records,
            reference: self.reference,
            site: self.site,
            settings: &[],
            today: judge::day_of(Timestamp::now()),
        };
        let verdicts = seatrial_analysis::judge(self.profile, &inputs).verdicts;
        let own = verdicts.iter().filter(|verdict| verdict.case.as_deref() == Some(record.case.as_str()));
        own.map(|verdict| match verdict.verdict {
            Verdict::Skip => Standing::NotJudged,
            Verdict::Pass => Standing::Met,
            Verdict::Warn | Verdict::Fail | Verdict::Unknown => Standing::Open,
        })
        .max()
        .unwrap_or(Standing::NotJudged)
    }
}
