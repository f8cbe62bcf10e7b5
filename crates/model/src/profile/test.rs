//! Tests and criteria of a profile.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{Bounds, Requirement, Statistic};
use crate::param::Params;

/// One benchmark with one or more values for its parameters: what a profile, or somebody on the command line, wants measured.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Test {
    /// Unique in the profile; on the command line the benchmark, or the alias, that was typed.
    pub id: String,
    /// Id of the benchmark that the test runs.
    pub bench: String,
    /// Which of the shipped or planned benchmarks it is: `true` when still to come.
    pub planned: bool,
    /// How parts are spread over nodes; none for benchmarks of one part, and for the first pattern of all.
    pub pattern: Option<String>,
    /// Roles it applies to; empty means all.
    pub roles: Vec<String>,
    /// Values by parameter, as typed; several make a sweep, and a parameter that is not named takes its default.
    pub params: BTreeMap<String, Vec<String>>,
    /// Facts a subject must have to be tested (`kind` is one of them).
    pub on: Params,
    /// Facts a tested subject must satisfy; unmet ones judge as unknown.
    pub require: BTreeMap<String, Requirement>,
    /// How many subjects must have matched.
    pub expect: Option<Expect>,
    /// Who may be on the other side, which is measured with and never judged: `any` node of the run, or a role. None
    /// where both nodes are tested.
    pub partner: Option<String>,
    /// Rounds of a pattern that has any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rounds: Option<u32>,
    /// How many links there are between the groups of a pattern that shares them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub links: Option<u32>,
}

/// How many there must be.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Expect {
    /// At least so many.
    pub at_least: Option<u64>,
    /// The number of subjects must be exactly this.
    pub exactly: Option<u64>,
}

/// One thing that must hold of what a test measured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Criterion {
    /// Unique in the profile; made from test, metric and `where` when not given.
    pub id: String,
    /// Id of the test that is demanded.
    pub test: String,
    /// A metric of the benchmark, or with `at` a series of it.
    pub metric: String,
    /// Parameter values a case must have to be judged.
    pub cases: Params,
    /// The place on a series.
    pub at: Params,
    /// Which number of the summary is judged.
    pub of: Statistic,
    /// What it must satisfy.
    pub bounds: Bounds,
    /// What a number is without the limit that its bound is a percentage of.
    #[serde(default)]
    pub without_limit: WithoutLimit,
}

/// What a number is that is held against a limit which nobody knows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum WithoutLimit {
    /// Not judged, which leaves the whole judgement open: an acceptance test rests on it.
    #[default]
    Unknown,
    /// Reported and left out of the judgement.
    Skip,
}

impl Expect {
    /// Whether `count` is enough.
    pub fn met_by(self, count: u64) -> bool {
        self.at_least.is_none_or(|least| count >= least) && self.exactly.is_none_or(|exact| count == exact)
    }
}

impl Criterion {
    /// The id of a criterion that was given none, from what tells it apart:
    /// `memory.bandwidth[kernel=triad,store=nt]`, `echo.latency.p99@size=64 KiB`.
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
