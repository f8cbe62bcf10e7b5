//! Options of a run, from which command line, help and record are made, and with which a run is resumed.

use std::collections::BTreeMap;
use std::path::PathBuf;

use clap::{Arg, Args, Command, ValueEnum, value_parser};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::profile::{Groups, NodeSet};
use crate::units::Nanos;

/// The options that a run was given, named as on the command line. Options at their default are left out.
#[derive(Clone, Debug, Default, PartialEq, Eq, Args, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(default)]
pub struct RunOptions {
    /// What `seatrial run` measures.
    #[arg(skip)]
    #[serde(flatten)]
    pub bench: BenchmarkOptions,
    /// How `seatrial check` judges.
    #[arg(skip)]
    #[serde(flatten)]
    pub check: CheckOptions,
    /// Time on each node within which extra trials are made, for example 90s: repeats of disturbed trials and trials
    /// for a narrower interval stay within it, and cases that no criterion judges make fewer trials if the plan does
    /// not fit
    /// [default: time_budget of the profile, if it has one]
    #[arg(long, value_name = "DURATION", conflicts_with = "resume")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time_budget: Option<Nanos>,
    /// Read no counters of the machine around the trials: what disturbs, slows down or drops is not seen, and no disturbed
    /// trial is repeated
    #[arg(long, conflicts_with = "resume")]
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub no_probes: bool,
    /// File that `seatrial settings try` writes the settings that pay to.
    #[arg(skip)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub write: Option<PathBuf>,
    /// Which nodes to use, and how to reach them.
    #[command(flatten)]
    #[serde(flatten)]
    pub nodes: NodeOptions,
}

/// What `seatrial run` measures.
#[derive(Clone, Debug, Default, PartialEq, Eq, Args, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(default)]
pub struct BenchmarkOptions {
    /// Benchmarks, for example mem.bandwidth or net.trunk; `seatrial list` shows all
    #[arg(value_name = "BENCH", required_unless_present = "resume", conflicts_with = "resume")]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub benchmarks: Vec<String>,
    /// Values of each parameter, as text; several values make a sweep.
    #[arg(skip)]
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub params: BTreeMap<String, Vec<String>>,
    /// How two-node benchmarks pair the nodes: pair (default), ring, all-pairs, matchings, alone (each node with
    /// itself, over loopback); bisection, incast, one-to-many and trunk measure all pairs at the same time. How
    /// benchmarks of more nodes group them: all (default, one group), groups, isolate (all, and then groups until the
    /// node that holds them back is found)
    #[arg(long, value_name = "NAME", conflicts_with = "resume")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pattern: Option<String>,
    /// Number of random pairings of the pattern matchings [default: 3]
    #[arg(long, value_name = "COUNT", value_parser = value_parser!(u32).range(1..=1000), conflicts_with = "resume")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rounds: Option<u32>,
    /// Number of links between the two groups of the pattern trunk, so that a missing link is found
    #[arg(long, value_name = "COUNT", value_parser = value_parser!(u32).range(1..=1024), conflicts_with = "resume")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub links: Option<u32>,
    /// Measure the benchmarks alone, and then while this one loads what they share, with a quarter, half and all of its
    /// cases; of its parameters -p sets those that the measured ones do not have
    #[arg(long, value_name = "BENCH", conflicts_with_all = ["resume", "factors"])]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub beside: Option<String>,
    /// Groups of the pattern groups, which this option implies: a number of groups, a fact that the nodes of a group
    /// have in common (product, cpu, switch: the leaf switch in Slurm's topology, or rack: r12 of the name r12n03), or node
    /// sets joined by +, such as n[1-16]+n[17-32]
    #[arg(long, value_name = "COUNT|FACT|NODES+NODES...", conflicts_with = "resume")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub groups: Option<Groups>,
    /// Measure the effect of each factor: a baseline, then the same without one factor at a time. NAME=VALUE: with
    /// this value instead; NAME alone: with the smallest number, the other value of a switch, every other word of a
    /// choice, or the value that `seatrial list BENCH` shows under factors: --factors flows,affinity=none. Settings of
    /// the hosts, in blocks with and without each, set only meanwhile: --factors cpu.governor=powersave,nic.mtu@eth0=1500
    #[arg(long, value_name = "NAME[=VALUE],...", value_delimiter = ',', conflicts_with = "resume")]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub factors: Vec<String>,
    /// Measure the factors crossed too: without each two of them, which shows whether the gain of one depends on the other
    #[arg(long, requires = "factors")]
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub crossed: bool,
    /// How often to repeat the whole study of factors; confidence intervals need at least 3 [default: 6]
    #[arg(long, value_name = "COUNT", value_parser = value_parser!(u32).range(1..=1000), requires = "factors")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub repeats: Option<u32>,
    /// Seed of the random order in a study of factors [default: 1]
    #[arg(long, value_name = "NUMBER", requires = "factors")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
    /// Do not ask before settings of the hosts are changed for --factors
    #[arg(long)]
    #[serde(skip)]
    pub yes: bool,
}

/// How `seatrial check` judges; the record holds the profile separately.
#[derive(Clone, Debug, Default, PartialEq, Eq, Args, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(default)]
pub struct CheckOptions {
    /// Exit with 1 on warnings too
    #[arg(long)]
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub strict: bool,
    /// Nodes that have a role of the profile: head=n1
    #[arg(long = "role", value_name = "ROLE=NODES", conflicts_with = "resume")]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub roles: Vec<String>,
    /// Run to compare with in criteria with `percent_of = "reference"`: an id, the start or end of an id,
    /// `last`, `last~1`, or a folder
    #[arg(long, value_name = "RUN", conflicts_with = "resume")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reference: Option<String>,
}

/// Which nodes to use and how to reach them; defaults follow from the environment.
#[derive(Clone, Debug, Default, PartialEq, Eq, Args, Serialize, Deserialize, schemars::JsonSchema)]
#[command(next_help_heading = "Nodes")]
#[serde(default)]
pub struct NodeOptions {
    /// Run on these nodes: n[01-16],head
    #[arg(short = 'w', long, value_name = "NODES")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nodelist: Option<NodeSet>,
    /// Run on this many nodes
    #[arg(short = 'N', long, value_name = "COUNT", value_parser = count)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nodes: Option<u32>,
    /// Leave out these nodes
    #[arg(short = 'x', long, value_name = "NODES")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exclude: Option<NodeSet>,
    /// How to start the agents [default: slurm inside an allocation or with an option for Slurm, else
    /// ssh with -w, slurm with -N, local without both]
    #[arg(long, value_enum)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub launcher: Option<LauncherChoice>,
    /// Options for Slurm.
    #[command(flatten)]
    #[serde(flatten)]
    pub slurm: SlurmOptions,
    /// ssh command with its options: 'ssh -F cluster.conf'
    #[arg(long, value_name = "COMMAND")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ssh: Option<String>,
    /// Number of nodes above which some nodes relay the connections to others [default: 64]
    #[arg(long, value_name = "COUNT", value_parser = value_parser!(u32).range(1..))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ssh_fanout: Option<u32>,
    /// mpirun command with its options
    #[arg(long, value_name = "COMMAND")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mpirun: Option<String>,
    /// Measure nodes that share a kernel (same boot id) at the same time, not one after the other
    #[arg(long)]
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub share_hosts: bool,
}

/// Options for Slurm, named as there.
#[derive(Clone, Debug, Default, PartialEq, Eq, Args, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(default)]
pub struct SlurmOptions {
    /// Slurm: partition
    #[arg(long, value_name = "NAME")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub partition: Option<String>,
    /// Slurm: account to charge
    #[arg(long, value_name = "NAME")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub account: Option<String>,
    /// Slurm: reservation
    #[arg(long, value_name = "NAME")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reservation: Option<String>,
    /// Slurm: time limit, in the form of sbatch --time
    #[arg(long, value_name = "TIME")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time: Option<String>,
}

/// How to start the agents.
#[derive(Clone, Debug, PartialEq, Eq, ValueEnum, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum LauncherChoice {
    /// A child process, on this machine only
    Local,
    /// ssh, directly to each node or for many nodes through a tree of relays
    Ssh,
    /// One Slurm job step, in this allocation or a new one
    Slurm,
    /// Open MPI's mpirun, only to start processes
    Mpirun,
    /// A launcher of another version, in the record of a run
    #[value(skip)]
    #[serde(untagged)]
    Other(String),
}

/// Parses a number of nodes; names of nodes are refused.
fn count(text: &str) -> Result<u32, String> {
    match text.parse() {
        Ok(count) if count > 0 => Ok(count),
        _ => Err(format!("-N takes a number of nodes, from 1; node names go to -w {text}")),
    }
}

/// Options as words of a command line, in the order of the help.
pub fn option_words<O: Args + Serialize>(options: &O) -> Vec<String> {
    let given = serde_json::to_value(options).unwrap_or_default();
    let words = |option: &Arg| {
        let long = || format!("--{}", option.get_long().unwrap_or_default());
        let name = option.get_short().map_or_else(long, |short| format!("-{short}"));
        match &given[option.get_id().as_str()] {
            Value::Null => Vec::new(),
            Value::Bool(_) => vec![name],
            value => {
                let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
                // A value that begins with `-` is joined to its option.
                if value.starts_with('-') { vec![format!("{name}={value}")] } else { vec![name, value] }
            }
        }
    };
    O::augment_args(Command::default()).get_arguments().flat_map(words).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::{from_value, json, to_value};

    use super::*;

    #[test]
    fn only_what_was_given_is_kept_and_it_is_read_back() {
        assert_eq!(to_value(RunOptions::default()).unwrap(), json!({}));
        let options = RunOptions {
            bench: BenchmarkOptions {
                benchmarks: vec!["net.rr".to_owned()],
                params: [("size".to_owned(), vec!["1 B".to_owned(), "64 KiB".to_owned()])].into(),
                seed: Some(u64::MAX),
                ..BenchmarkOptions::default()
            },
            check: CheckOptions { strict: true, ..CheckOptions::default() },
            nodes: NodeOptions {
                nodelist: Some("n[1-4]".parse().unwrap()),
                launcher: Some(LauncherChoice::Slurm),
                slurm: SlurmOptions { time: Some("10".to_owned()), ..SlurmOptions::default() },
                ssh_fanout: Some(2),
                share_hosts: true,
                ..NodeOptions::default()
            },
            write: Some("/tmp/paying.toml".into()),
            ..RunOptions::default()
        };
        let value = to_value(&options).unwrap();
        let wanted = json!({
            "benchmarks": ["net.rr"], "params": { "size": ["1 B", "64 KiB"] }, "seed": u64::MAX, "strict": true,
            "nodelist": "n[1-4]", "launcher": "slurm", "time": "10", "ssh_fanout": 2, "share_hosts": true,
            "write": "/tmp/paying.toml",
        });
        assert_eq!(value, wanted);
        assert_eq!(from_value::<RunOptions>(value).unwrap(), options);
    }

    #[test]
    fn options_of_later_versions_are_read_over() {
        let options: RunOptions = from_value(json!({ "launcher": "pbs", "queue": "long" })).unwrap();
        let nodes =
            NodeOptions { launcher: Some(LauncherChoice::Other("pbs".to_owned())), ..NodeOptions::default() };
        assert_eq!(options, RunOptions { nodes, ..RunOptions::default() });
    }
}
