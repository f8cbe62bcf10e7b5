//! Tests and criteria of a profile.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{Absence, Bounds, Groups, Missed, Requirement, Statistic};
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
    /// How nodes are put together; null for benchmarks of one part, and for the default pattern.
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
    /// The verdict on a node where the test selects nothing.
    #[serde(default)]
    pub if_none: Absence,
    /// Nodes of the far end, which take part and are not judged: `any` node of the run, or a role. Null where both
    /// nodes are tested.
    pub partner: Option<String>,
    /// Rounds of a pattern that has rounds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rounds: Option<u32>,
    /// Links between the groups of a pattern whose groups share links.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub links: Option<u32>,
    /// Id of the test that loads what this test shares with it, at the same time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub beside: Option<String>,
    /// The groups of the pattern `groups`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub groups: Option<Groups>,
}

/// A required number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Expect {
    /// At least this number.
    pub at_least: Option<u64>,
    /// Exactly this number.
    pub exactly: Option<u64>,
    /// Every device of the inventory that a test selects by `on`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub all: bool,
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
    pub without_limit: Absence,
    /// The verdict when the bound is missed.
    #[serde(default)]
    pub missed: Missed,
}

/// That no node of a run has one of `roles`.
pub fn nobody_plays(roles: &[String]) -> String {
    let role = roles.first().map_or("", String::as_str);
    format!("no node has the role {}: `--role {role}=NODES` gives it", roles.join(" or "))
}

impl Test {
    /// Why the test has no node.
    pub fn without_nodes(&self) -> String {
        nobody_plays(&self.roles)
    }

    /// Whether a subject with these facts is in the state that the test requires.
    ///
    /// # Errors
    /// The first requirement that is not met, in words.
    pub fn requirements_met(&self, facts: &Params) -> Result<(), String> {
        for (name, requirement) in &self.require {
            let required = format!("the test requires {name} {requirement}");
            let fact = facts.get(name).ok_or_else(|| format!("{required}, which is not known"))?;
            match requirement.met_by(fact) {
                Ok(true) => {}
                Ok(false) => return Err(format!("{required}, and it is {fact}")),
                Err(why) => return Err(format!("{required}, which cannot be compared: {why}")),
            }
        }
        Ok(())
    }
}

impl Expect {
    /// Whether `count` meets it, apart from `all`, which needs the inventory.
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
        assert!(Expect { at_least: Some(1), ..Expect::default() }.met_by(3));
        assert!(!Expect { exactly: Some(2), ..Expect::default() }.met_by(3));
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
