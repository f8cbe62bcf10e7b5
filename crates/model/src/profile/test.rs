//! Tests and criteria of a profile.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{Bounds, Missed, Requirement, Statistic};
use crate::param::Params;

/// One benchmark with values for its parameters, from a profile or the command line.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Test {
    /// Id, unique in the profile; on the command line, the benchmark or alias as typed.
    pub id: String,
    /// Id of the benchmark.
    pub bench: String,
    /// Whether the benchmark is not implemented yet.
    pub planned: bool,
    /// How nodes are paired; null for benchmarks of one part, and for the default pattern.
    pub pattern: Option<String>,
    /// Roles of the nodes; empty for all nodes.
    pub roles: Vec<String>,
    /// Values by parameter, as typed; several values make a sweep. Other parameters have their default.
    pub params: BTreeMap<String, Vec<String>>,
    /// Facts that a subject must have (`kind` is one).
    pub on: Params,
    /// Requirements on facts of a tested subject; an unmet one is judged `unknown`.
    pub require: BTreeMap<String, Requirement>,
    /// Required number of matching subjects.
    pub expect: Option<Expect>,
    /// Nodes of the far end, which take part and are not judged: `any` node of the run, or a role. Null where both
    /// nodes are tested.
    pub partner: Option<String>,
    /// Rounds of a pattern that has rounds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rounds: Option<u32>,
    /// Links between the groups of a pattern whose groups share links.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub links: Option<u32>,
}

/// A required number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Expect {
    /// At least this number.
    pub at_least: Option<u64>,
    /// Exactly this number.
    pub exactly: Option<u64>,
}

/// A criterion: a bound on a metric of a test.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Criterion {
    /// Id, unique in the profile; made from test, metric and `where` when not given.
    pub id: String,
    /// Id of the test.
    pub test: String,
    /// A metric of the benchmark; with `at`, a series.
    pub metric: String,
    /// Parameter values that a case must have; empty for all cases.
    pub cases: Params,
    /// Position on the axes of the series.
    pub at: Params,
    /// The number of the summary that is judged.
    pub of: Statistic,
    /// The bound.
    pub bounds: Bounds,
    /// What happens when the bound is a percentage of a limit that is unknown.
    #[serde(default)]
    pub without_limit: WithoutLimit,
    /// The verdict when the bound is missed.
    #[serde(default)]
    pub missed: Missed,
}

/// Handling of a criterion whose limit is unknown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum WithoutLimit {
    /// Judged `unknown`, and so is the whole run: for acceptance tests.
    #[default]
    Unknown,
    /// Reported, not judged.
    Skip,
}

impl Expect {
    /// Whether `count` meets it.
    pub fn met_by(self, count: u64) -> bool {
        self.at_least.is_none_or(|least| count >= least) && self.exactly.is_none_or(|exact| count == exact)
    }
}

impl Criterion {
    /// Id of a criterion without one, from what distinguishes it: `memory.bandwidth[kernel=triad,store=nt]`,
    /// `echo.latency.p99@size=64 KiB`.
    pub fn derived_id(test: &str, metric: &str, of: Statistic, cases: &Params, at: &Params) -> String {
        let mut id = format!("{test}.{metric}");
        if of != Statistic::Median {
            id += &format!(".{of}");
        }
        if !cases.is_empty() {
            id += &format!("[{cases}]");
        }
        if !at.is_empty() {
            id += &format!("@{at}");
        }
        id
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expect_counts() {
        assert!(Expect { at_least: Some(1), exactly: None }.met_by(3));
        assert!(!Expect { at_least: None, exactly: Some(2) }.met_by(3));
    }

    #[test]
    fn a_derived_id_names_what_tells_the_criterion_apart() {
        let cases: Params = [("kernel".to_owned(), "triad".into())].into_iter().collect();
        let at: Params = [("size".to_owned(), "64 KiB".into())].into_iter().collect();
        let none = Params::default();
        let id = |of, cases, at| Criterion::derived_id("memory", "bandwidth", of, cases, at);
        assert_eq!(id(Statistic::Median, &none, &none), "memory.bandwidth");
        assert_eq!(id(Statistic::P99, &cases, &at), "memory.bandwidth.p99[kernel=triad]@size=64 KiB");
    }
}
