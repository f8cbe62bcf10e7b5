//! The record of one case: a line of `results.jsonl`.

use std::collections::BTreeMap;

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};

use super::{MetricRecord, SeriesRecord};
use crate::case::{Case, CaseId, PROBES};
use crate::fact::{DisturbedTrials, Fact};
use crate::finding::Finding;
use crate::metric::Better;
use crate::origin::Origin;
use crate::outcome::{Cause, Outcome, Reason};
use crate::param::Params;
use crate::param::Value;
use crate::sample::Evidence;
use crate::subject::Subject;

/// The record of one case.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(remote = "Self")]
pub struct CaseRecord {
    /// Id, unique within the run.
    pub case: CaseId,
    /// Id of the benchmark, `family.test`.
    pub bench: String,
    /// Version of the benchmark; numbers of two versions are not compared.
    pub version: u32,
    /// The node, device, pair or path that was measured.
    pub subject: Subject,
    /// Stable name of the subject.
    #[serde(default)]
    pub key: Option<String>,
    /// The nodes that took part.
    pub nodes: Vec<String>,
    /// Nodes that were lost: during the case where it `failed`, before it where it is `unmeasured`. The outcome is
    /// about these nodes only.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lost: Vec<String>,
    /// The case that lost its partner node and that this case repeats with another partner.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_of: Option<CaseId>,
    /// Id of the test of the profile, or of the benchmark, that asked for the case.
    pub group: String,
    /// Every parameter as asked for.
    pub params: Params,
    /// Resolved values of `auto` parameters.
    #[serde(default)]
    pub chosen: Params,
    /// What else the plan resolved: sizes, devices, CPUs, under names of the benchmark.
    #[serde(default, skip_serializing_if = "Params::is_empty")]
    pub layout: Params,
    /// Which pattern, step or study made the case.
    #[serde(default, skip_serializing_if = "Origin::is_empty")]
    pub origin: Origin,
    /// Facts of the subject that a profile may select by or require.
    #[serde(default)]
    pub facts: Params,
    /// Whether the case was measured, failed, was not measured or was skipped.
    pub outcome: Outcome,
    /// Why there are no numbers, as one word.
    #[serde(default)]
    pub cause: Option<Cause>,
    /// Why there are no numbers, as one sentence.
    pub reason: Option<String>,
    /// Headline metric; null in records of versions that named none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub headline: Option<String>,
    /// Metrics, in the order that the benchmark declares them.
    pub metrics: IndexMap<String, MetricRecord>,
    /// Results over axes, by name of the series.
    pub series: BTreeMap<String, SeriesRecord>,
    /// Facts that support the numbers.
    pub evidence: Evidence,
    /// Conclusions about this case.
    #[serde(default)]
    pub findings: Vec<Finding>,
    /// Seconds from the start of the first worker to the end of the last.
    pub seconds: f64,
}

crate::origin::reads_schema_1!(CaseRecord);

impl CaseRecord {
    fn upgrade(&mut self) {
        self.origin.upgrade(&mut self.chosen);
        // Older records hold all planned values in one map.
        let (chosen, layout) = split(&self.params, &self.chosen);
        self.chosen = chosen;
        layout.iter().for_each(|(name, value)| self.layout.set(name, value.clone()));
        if let Some(trials) = DisturbedTrials::of(&self.evidence) {
            trials.put(&mut self.evidence);
        }
    }
}

/// Splits what the plan resolved into parameters and the rest.
fn split(params: &Params, planned: &Params) -> (Params, Params) {
    let owned = |(name, value): (&str, &Value)| (name.to_owned(), value.clone());
    let of = |is_param: bool| planned.iter().filter(move |(name, _)| params.get(name).is_some() == is_param);
    (of(true).map(owned).collect(), of(false).map(owned).collect())
}

/// Headlines of records that name none; their metrics are sorted by name.
const UNNAMED_HEADLINES: [&str; 2] = ["throughput", "round_trip"];

impl CaseRecord {
    /// The headline metric; `None` without numbers.
    pub fn headline(&self) -> Option<(&str, &MetricRecord)> {
        let mut names = self.headline.iter().map(String::as_str).chain(UNNAMED_HEADLINES);
        let named = names.find_map(|name| self.metrics.get_key_value(name));
        let directed = || self.metrics.iter().find(|(_, metric)| metric.better != Better::None);
        let found = named.or_else(directed).or_else(|| self.metrics.first());
        found.map(|(name, metric)| (name.as_str(), metric))
    }

    /// The word that the plan set for `name`, a parameter or not.
    pub fn planned(&self, name: &str) -> Option<&str> {
        self.chosen.text(name).or_else(|_| self.layout.text(name)).ok()
    }

    /// Whether probes were read around the trials.
    pub fn has_probes(&self) -> bool {
        self.layout.flag(PROBES) != Ok(false)
    }

    /// Whether its case is measured when the run is resumed: it was interrupted, or it is of the plan and was never reached.
    pub fn is_open(&self, is_planned: impl Fn(&CaseId) -> bool) -> bool {
        match self.cause {
            Some(Cause::Interrupted) => true,
            Some(Cause::NeverReached) => is_planned(&self.case),
            _ => false,
        }
    }

    /// A record of `case` without numbers. Without the plan's findings too, which are about numbers.
    pub fn without_numbers(case: &Case, reason: &Reason) -> Self {
        Self {
            outcome: reason.cause.outcome(),
            cause: Some(reason.cause),
            reason: Some(reason.text.clone()),
            findings: Vec::new(),
            ..Self::measured(case)
        }
    }

    /// A record of `case`, without numbers yet.
    pub fn measured(case: &Case) -> Self {
        let (chosen, layout) = split(&case.params, &case.planned);
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
            chosen,
            layout,
            origin: case.origin.clone(),
            facts: case.facts.clone(),
            outcome: Outcome::Measured,
            cause: None,
            reason: None,
            headline: None,
            metrics: IndexMap::new(),
            series: BTreeMap::new(),
            evidence: Evidence::new(),
            findings: case.findings.clone(),
            seconds: 0.0,
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn record(headline: Option<&str>, metrics: &[(&str, Better)]) -> CaseRecord {
        let metrics: serde_json::Map<String, serde_json::Value> = metrics
            .iter()
            .map(|(name, better)| {
                let metric = json!({
                    "unit": crate::Unit::Count, "better": better, "n": 1, "trials": 1, "median": 1.0, "mad": 0.0, "min": 1.0,
                    "max": 1.0, "mean": 1.0, "p99": null, "ci95": null, "converged": true,
                    "limit": { "value": null, "formula": null, "provenance": null, "reason": null, "chain": [] },
                });
                ((*name).to_owned(), metric)
            })
            .collect();
        let record = json!({
            "case": "a.b@n/node", "bench": "a.b", "version": 1, "subject": "node", "nodes": ["n"], "group": "a.b",
            "params": {}, "outcome": "measured", "reason": null, "headline": headline, "metrics": metrics,
            "series": {}, "evidence": {}, "seconds": 1.0,
        });
        serde_json::from_value(record).expect("a record")
    }

    fn name(record: &CaseRecord) -> Option<&str> {
        record.headline().map(|(name, _)| name)
    }

    #[test]
    fn the_headline_is_the_one_that_the_record_names() {
        let metrics = [("a", Better::Higher), ("throughput", Better::Higher), ("z", Better::None)];
        assert_eq!(name(&record(Some("z"), &metrics)), Some("z"));
        assert_eq!(name(&record(Some("a"), &[])), None);
    }

    #[test]
    fn records_that_name_none_have_one_all_the_same() {
        let named = [("fairness", Better::Higher), ("throughput", Better::Higher)];
        assert_eq!(name(&record(None, &named)), Some("throughput"));
        assert_eq!(name(&record(None, &[("a", Better::None), ("b", Better::Lower)])), Some("b"));
        assert_eq!(name(&record(None, &[("a", Better::None)])), Some("a"));
    }

    #[test]
    fn a_record_of_schema_1_is_read_as_one_of_today() {
        let mut old = serde_json::to_value(record(None, &[])).expect("JSON");
        old["params"] = json!({ "isa": "auto" });
        old["chosen"] = json!({ "isa": "avx2", "l3": "1 MiB", "pattern": "ring", "step": 2 });
        old["evidence"] = json!({ "disturbed_trials": ["trial 1: dd took 40 %"] });
        let read: CaseRecord = serde_json::from_value(old).expect("a record");
        assert_eq!((read.origin.step, read.chosen.to_string().as_str()), (Some(2), "isa=avx2"));
        assert_eq!(read.layout.to_string(), "l3=1 MiB");
        let trials = json!([{ "trial": 1, "why": "dd took 40 %" }]);
        assert_eq!(read.evidence["disturbed_trials"], trials);
        let again = serde_json::to_value(&read).expect("JSON");
        assert_eq!(again["origin"], json!({ "pattern": "ring", "step": 2 }));
        assert_eq!(serde_json::from_value::<CaseRecord>(again).expect("a record"), read);
    }
}
