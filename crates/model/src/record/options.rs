//! What a run was asked for, as data: what going on with it and repeating a part of it need.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::profile::NodeSet;
use crate::units::Nanos;

/// The options that a run was given, named as on the command line. What was not given is not there: it has its default.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(default)]
pub struct RunOptions {
    /// The benchmarks that were named.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub benchmarks: Vec<String>,
    /// The values given to each parameter, as text; several make a sweep.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub params: BTreeMap<String, Vec<String>>,
    /// How nodes are paired.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pattern: Option<String>,
    /// Rounds of random pairs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rounds: Option<u32>,
    /// Links between the two groups of a trunk.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub links: Option<u32>,
    /// What things are to be told the worth of, as typed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub factors: Vec<String>,
    /// How often a study of factors measures all of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub repeats: Option<u32>,
    /// What the order of a study of factors is drawn from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
    /// Roles of the profile that were given to nodes, as typed: `head=n1`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub roles: Vec<String>,
    /// The run that it is held against, as typed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reference: Option<String>,
    /// Whether a warning counts as a criterion that is not met.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub strict: bool,
    /// The time that it is to take on each node.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time_budget: Option<Nanos>,
    /// The nodes, and how they are reached.
    #[serde(flatten)]
    pub nodes: NodeOptions,
}

/// Which nodes a run was asked to run on, and how they are reached.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(default)]
pub struct NodeOptions {
    /// The nodes by name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nodelist: Option<NodeSet>,
    /// Number of nodes that Slurm is to choose.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nodes: Option<u32>,
    /// Nodes that are left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exclude: Option<NodeSet>,
    /// What starts the agents: as given, or what the other options and an allocation around it came to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub launcher: Option<String>,
    /// Partition that Slurm is asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub partition: Option<String>,
    /// Account that Slurm is to charge.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub account: Option<String>,
    /// Reservation of Slurm to run in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reservation: Option<String>,
    /// The time asked of Slurm, in its own form.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time: Option<String>,
    /// The ssh client with its options, as a shell would split it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ssh: Option<String>,
    /// The number of nodes above which ssh reaches some through others.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ssh_fanout: Option<u32>,
    /// The mpirun with its options, as a shell would split it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mpirun: Option<String>,
    /// Whether nodes that share one kernel are measured at the same time.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub share_hosts: bool,
}

#[cfg(test)]
mod tests {
    use serde_json::{from_value, json, to_value};

    use super::*;

    #[test]
    fn only_what_was_given_is_kept_and_it_is_read_back() {
        assert_eq!(to_value(RunOptions::default()).unwrap(), json!({}));
        let options = RunOptions {
            benchmarks: vec!["net.rr".to_owned()],
            params: [("size".to_owned(), vec!["1 B".to_owned(), "64 KiB".to_owned()])].into(),
            seed: Some(u64::MAX),
            strict: true,
            nodes: NodeOptions {
                nodelist: Some("n[1-4]".parse().unwrap()),
                ssh_fanout: Some(2),
                share_hosts: true,
                ..NodeOptions::default()
            },
            ..RunOptions::default()
        };
        let value = to_value(&options).unwrap();
        let wanted = json!({
            "benchmarks": ["net.rr"], "params": { "size": ["1 B", "64 KiB"] }, "seed": u64::MAX, "strict": true,
            "nodelist": "n[1-4]", "ssh_fanout": 2, "share_hosts": true,
        });
        assert_eq!(value, wanted);
        assert_eq!(from_value::<RunOptions>(value).unwrap(), options);
    }

    #[test]
    fn options_of_later_versions_are_read_over() {
        let options: RunOptions = from_value(json!({ "launcher": "pbs", "queue": "long" })).unwrap();
        let nodes = NodeOptions { launcher: Some("pbs".to_owned()), ..NodeOptions::default() };
        assert_eq!(options, RunOptions { nodes, ..RunOptions::default() });
    }
}
