//! The cases of one side of a comparison: all of a run, or those of named parts.

use seatrial_model::record::CaseRecord;

use super::part::Part;

/// The cases of one side of a comparison.
#[derive(Clone, Debug, Default)]
pub struct ComparedCases<'a> {
    pub(super) cases: Vec<&'a CaseRecord>,
    /// The same cases without numbers, in which every part has the name of its position; `None` for a whole run.
    renamed: Option<Vec<CaseRecord>>,
}

impl<'a> ComparedCases<'a> {
    /// All cases of a run.
    pub fn all(cases: &'a [CaseRecord]) -> Self {
        Self { cases: cases.iter().collect(), renamed: None }
    }

    /// The cases of a run about `parts`. A case that is also about one of the parts `others`, of other sides in the
    /// same run, belongs to no side.
    pub fn of_parts(cases: &'a [CaseRecord], parts: &[Part], others: &[&Part]) -> Self {
        let is_own = |case: &&CaseRecord| {
            parts.iter().any(|part| part.has(case)) && !others.iter().any(|other| other.has(case))
        };
        let cases: Vec<&CaseRecord> = cases.iter().filter(is_own).collect();
        let renamed = |case: &&CaseRecord| {
            let parts = parts.iter().enumerate();
            parts.fold(without_numbers(case), |case, (position, part)| part.renamed(case, position))
        };
        Self { renamed: Some(cases.iter().map(renamed).collect()), cases }
    }

    pub fn is_empty(&self) -> bool {
        self.cases.is_empty()
    }

    /// The records that say what each case measures, in the order of `cases`.
    pub(super) fn questions(&self) -> Vec<&CaseRecord> {
        match &self.renamed {
            Some(renamed) => renamed.iter().collect(),
            None => self.cases.clone(),
        }
    }
}

fn without_numbers(case: &CaseRecord) -> CaseRecord {
    CaseRecord {
        case: case.case.clone(),
        bench: case.bench.clone(),
        version: case.version,
        subject: case.subject.clone(),
        key: case.key.clone(),
        nodes: case.nodes.clone(),
        lost: Vec::new(),
        retry_of: None,
        group: case.group.clone(),
        params: case.params.clone(),
        chosen: case.chosen.clone(),
        layout: case.layout.clone(),
        origin: case.origin.clone(),
        facts: Default::default(),
        outcome: case.outcome,
        cause: case.cause,
        reason: None,
        headline: None,
        metrics: Default::default(),
        series: Default::default(),
        evidence: Default::default(),
        findings: Vec::new(),
        seconds: case.seconds,
    }
}
