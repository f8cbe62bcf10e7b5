//! Recomputes a run from its evidence: records from samples, verdicts from records.

use std::collections::{BTreeMap, HashMap};

use seatrial_analysis::{Conclusions, Discrepancy, conclusion_discrepancies, record_discrepancies};
use seatrial_bench::Registry;
use seatrial_engine::{Recomputation, recompute};
use seatrial_model::record::{CaseRecord, Document, SCHEMA_VERSION};
use seatrial_model::{Case, CaseId, Outcome, Site, Verdict};
use seatrial_store::{Contents, Samples, judged_text};

use crate::judge;

pub struct Recomputed {
    registry: Registry,
    site: Option<Site>,
    cases: HashMap<CaseId, Case>,
    places: HashMap<CaseId, usize>,
    records: BTreeMap<CaseId, CaseRecord>,
    /// Cases whose record follows from their processes, not from samples.
    pub as_recorded: usize,
    pub cannot: Vec<(CaseId, String)>,
    /// Differences between recorded and recomputed.
    pub discrepancies: Vec<Discrepancy>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Judged {
    /// The run was not judged: it was stopped or killed.
    Never,
    /// Findings and verdicts are the same, byte for byte.
    ToTheByte,
    /// The same findings and verdicts in the form of another version.
    InOtherWords,
    Otherwise,
}

impl Recomputed {
    pub fn new(registry: Registry) -> Self {
        Self {
            registry,
            site: None,
            cases: HashMap::new(),
            places: HashMap::new(),
            records: BTreeMap::new(),
            as_recorded: 0,
            cannot: Vec::new(),
            discrepancies: Vec::new(),
        }
    }

    pub fn count(&self) -> usize {
        self.records.len()
    }

    /// Recomputes the record of a case from its samples and from `contents`, which precedes them in the archive.
    pub fn add(&mut self, contents: &Contents, samples: &Samples) {
        let Samples { case: id, parts } = samples;
        if self.site.is_none() {
            self.site = Some(contents.site());
            let cases = contents.plan.iter().flat_map(seatrial_store::Plan::cases);
            self.cases = cases.map(|case| (case.id.clone(), case.clone())).collect();
            let places = contents.results.iter().enumerate();
            self.places = places.map(|(at, record)| (record.case.clone(), at)).collect();
        }
        let recorded = self.places.get(id).and_then(|at| contents.results.get(*at));
        let (Some(case), Some(site)) = (self.cases.get(id), &self.site) else {
            if recorded.is_some_and(|record| record.outcome == Outcome::Measured) {
                self.cannot.push((id.clone(), "it is not in the plan of the run".to_owned()));
            }
            return;
        };
        // Samples without a record: the run was stopped in between.
        let Some(recorded) = recorded else { return };
        match recompute(self.registry, case, recorded, parts, site) {
            Recomputation::Record(record) => {
                self.discrepancies.extend(record_discrepancies(recorded, &record));
                self.records.insert(id.clone(), *record);
            }
            Recomputation::AsRecorded => self.as_recorded += 1,
            Recomputation::Cannot(why) => self.cannot.push((id.clone(), why)),
        }
    }

    /// Judges the recomputed records and compares with the verdicts of the run; returns the roll-up.
    pub fn judge(&mut self, contents: &Contents) -> (Judged, Option<Verdict>) {
        let (Some(info), Some(judged)) = (&contents.info, &contents.judged) else {
            return (Judged::Never, None);
        };
        let of = |recorded: &CaseRecord| self.records.get(&recorded.case).unwrap_or(recorded).clone();
        let mut document = Document {
            schema: SCHEMA_VERSION,
            run: info.clone(),
            results: contents.results.iter().map(of).collect(),
            findings: Vec::new(),
            verdicts: Vec::new(),
            verdict: None,
        };
        for record in &contents.results {
            let is_accounted_for = self.records.contains_key(&record.case)
                || self.cannot.iter().any(|(case, _)| *case == record.case);
            if record.outcome == Outcome::Measured && !is_accounted_for {
                self.cannot.push((record.case.clone(), "it has no samples".to_owned()));
            }
        }
        let today = judge::day_of(info.ended.as_ref().map_or(info.started, |end| end.at));
        let site = contents.site();
        judge::judge(&mut document, contents.profile.as_ref(), &site, today, contents.reference.as_deref());
        let Document { findings, verdicts, verdict, .. } = document;
        if judged_text(&findings, &verdicts, verdict) == *judged {
            return (Judged::ToTheByte, verdict);
        }
        let recorded = Conclusions {
            findings: &contents.findings,
            verdicts: &contents.verdicts,
            verdict: contents.verdict,
        };
        let made = Conclusions { findings: &findings, verdicts: &verdicts, verdict };
        let found = conclusion_discrepancies(recorded, made);
        let judged = if found.is_empty() { Judged::InOtherWords } else { Judged::Otherwise };
        self.discrepancies.extend(found);
        (judged, verdict)
    }
}
