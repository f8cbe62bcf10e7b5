//! The record of one case: a line of `results.jsonl`.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{MetricRecord, SeriesRecord};
use crate::case::{Case, CaseId};
use crate::finding::Finding;
use crate::outcome::{Cause, Outcome, Reason};
use crate::param::Params;
use crate::sample::Evidence;
use crate::subject::Subject;

/// The record of one case.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct CaseRecord {
    /// Names the case within the run.
    pub case: CaseId,
    /// The benchmark.
    pub bench: String,
    /// The benchmark's version.
    pub version: u32,
    /// The thing measured.
    pub subject: Subject,
    /// A name of the subject that survives renumbering.
    #[serde(default)]
    pub key: Option<String>,
    /// The nodes that took part.
    pub nodes: Vec<String>,
    /// Those of them that were gone before it ended: one that vanished inside it where it `failed`, one that was gone
    /// before it began where it is `unmeasured`. It speaks about them alone.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lost: Vec<String>,
    /// The case that lost its partner and that this one stands in for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_of: Option<CaseId>,
    /// The test of the profile, or the benchmark, that asked for the case.
    pub group: String,
    /// Every parameter as asked for.
    pub params: Params,
    /// What `auto` came to, and other decisions of the plan.
    #[serde(default)]
    pub chosen: Params,
    /// Facts of the subject that a profile may select by or require.
    #[serde(default)]
    pub facts: Params,
    /// How it ended.
    pub outcome: Outcome,
    /// Why it has no numbers, in one word.
    #[serde(default)]
    pub cause: Option<Cause>,
    /// Why it has no numbers, in one sentence.
    pub reason: Option<String>,
    /// By metric.
    pub metrics: BTreeMap<String, MetricRecord>,
    /// By series.
    pub series: BTreeMap<String, SeriesRecord>,
    /// What supports the numbers.
    pub evidence: Evidence,
    /// Conclusions about this case.
    #[serde(default)]
    pub findings: Vec<Finding>,
    /// Seconds from the first worker's start to the last one's end.
    pub seconds: f64,
}

impl CaseRecord {
    /// A record of `case` without numbers: nothing was measured yet, or nothing could be.
    pub fn without_numbers(case: &Case, reason: &Reason) -> Self {
        Self {
            outcome: reason.cause.outcome(),
            cause: Some(reason.cause),
            reason: Some(reason.text.clone()),
            ..Self::measured(case)
        }
    }

    /// A record of `case` that waits for its numbers.
    pub fn measured(case: &Case) -> Self {
        Self {
            case: case.id.clone(),
            bench: case.bench.clone(),
            version: case.version,
            subject: case.subject.clone(),
            key: case.key.clone(),
            nodes: case.nodes.clone(),
            lost: Vec::new(),
            retry_of: case.retry_of.clone(),
            group: case.group.clone(),
            params: case.params.clone(),
            chosen: case.chosen.clone(),
            facts: case.facts.clone(),
            outcome: Outcome::Measured,
            cause: None,
            reason: None,
            metrics: BTreeMap::new(),
            series: BTreeMap::new(),
            evidence: Evidence::new(),
            findings: case.findings.clone(),
            seconds: 0.0,
        }
    }
}
