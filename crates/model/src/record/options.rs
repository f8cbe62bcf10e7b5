//! The options of a run: what is typed, and what going on with the run and repeating a part of it need. The command line, its
//! help and the record are all made from these definitions.

use std::collections::BTreeMap;

use clap::{Arg, Args, Command, ValueEnum, value_parser};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::profile::NodeSet;
use crate::units::Nanos;

/// The options that a run was given, named as on the command line. What was not given is not there: it has its default.
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
    /// Time that the run is to take on each node, for example 90s: repeats of disturbed trials and trials for a narrower interval
    /// stay within it, and what nothing judges makes fewer trials when the plan alone does not fit [default: the profile's
    /// time_budget, if it has one]
    #[arg(long, value_name = "DURATION", conflicts_with = "resume")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time_budget: Option<Nanos>,
    /// Which nodes, and how they are reached.
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
    /// The values given to each parameter, as text; several make a sweep.
    #[arg(skip)]
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub params: BTreeMap<String, Vec<String>>,
    /// How nodes are paired for benchmarks of two parts: pair (default), ring, all-pairs, matchings, alone (each node
    /// with itself, over its loopback), and at the same time bisection, incast, trunk
    #[arg(long, value_name = "NAME", conflicts_with = "resume")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pattern: Option<String>,
    /// Rounds of random pairs of the pattern matchings [default: 3]
    #[arg(long, value_name = "COUNT", value_parser = value_parser!(u32).range(1..=1000), conflicts_with = "resume")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rounds: Option<u32>,
    /// How many links there are between the two groups of the pattern trunk, so that a missing one is found
    #[arg(long, value_name = "COUNT", value_parser = value_parser!(u32).range(1..=1024), conflicts_with = "resume")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub links: Option<u32>,
    /// Measure what each of these is worth: a baseline, and in turn the same without one of them. NAME alone takes the least
    /// load, the other side of a switch, each other word, or what the benchmark declares: --factors flows,affinity=none
    #[arg(long, value_name = "NAME[=VALUE],...", value_delimiter = ',', conflicts_with = "resume")]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub factors: Vec<String>,
    /// How often a study of factors measures all of it; from 3 on there is an interval [default: 6]
    #[arg(long, value_name = "COUNT", value_parser = value_parser!(u32).range(1..=1000), requires = "factors")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub repeats: Option<u32>,
    /// What the order of a study of factors is drawn from [default: 1]
    #[arg(long, value_name = "NUMBER", requires = "factors")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
}

/// How `seatrial check` judges; the profile stands in the record by itself.
#[derive(Clone, Debug, Default, PartialEq, Eq, Args, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(default)]
pub struct CheckOptions {
    /// Exit 1 on warnings too
    #[arg(long)]
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub strict: bool,
    /// Give nodes a role of the profile: head=n1
    #[arg(long = "role", value_name = "ROLE=NODES", conflicts_with = "resume")]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub roles: Vec<String>,
    /// The run that criteria with `percent_of = "reference"` are held against: an id, the start of one, `last`, a folder
    #[arg(long, value_name = "RUN", conflicts_with = "resume")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reference: Option<String>,
}

/// Where it runs; what is not said follows from the surroundings.
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
    /// What starts the agents [default: slurm inside an allocation or with -N, ssh with -w, else local]
    #[arg(long, value_enum)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub launcher: Option<LauncherChoice>,
    /// What is asked of Slurm.
    #[command(flatten)]
    #[serde(flatten)]
    pub slurm: SlurmOptions,
    /// The ssh client with its options: 'ssh -F cluster.conf'
    #[arg(long, value_name = "COMMAND")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ssh: Option<String>,
    /// Reach more nodes than this through some of them instead of each by a connection of its own [default: 64]
    #[arg(long, value_name = "COUNT", value_parser = value_parser!(u32).range(1..))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ssh_fanout: Option<u32>,
    /// The mpirun with its options
    #[arg(long, value_name = "COMMAND")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mpirun: Option<String>,
    /// Measure nodes that share one kernel at the same time instead of one after the other, also nodes of one host name
    #[arg(long)]
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub share_hosts: bool,
}

/// What is asked of Slurm, in its own words.
#[derive(Clone, Debug, Default, PartialEq, Eq, Args, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(default)]
pub struct SlurmOptions {
    /// Slurm: the partition to ask for
    #[arg(long, value_name = "NAME")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub partition: Option<String>,
    /// Slurm: the account to charge
    #[arg(long, value_name = "NAME")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub account: Option<String>,
    /// Slurm: the reservation to use
    #[arg(long, value_name = "NAME")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reservation: Option<String>,
    /// Slurm: the time to ask for, as sbatch takes it
    #[arg(long, value_name = "TIME")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time: Option<String>,
}

/// What starts the agents.
#[derive(Clone, Debug, PartialEq, Eq, ValueEnum, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum LauncherChoice {
    /// A child process: this machine alone
    Local,
    /// The site's ssh: a connection to each node, or for many nodes a tree of them
    Ssh,
    /// A step of Slurm's, in this allocation or a new one
    Slurm,
    /// Open MPI's mpirun, as a bare launcher
    Mpirun,
    /// One that only another version has, in the record of a run
    #[value(skip)]
    #[serde(untagged)]
    Other(String),
}

/// A number of nodes; names are for another option.
fn count(text: &str) -> Result<u32, String> {
    match text.parse() {
        Ok(count) if count > 0 => Ok(count),
        _ => Err(format!("a count of nodes is wanted, from 1; names go to -w {text}")),
    }
}

/// Options in the words of a command line, in the order of the help.
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
                // A value that looks like an option has to be joined to its own.
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
            ..RunOptions::default()
        };
        let value = to_value(&options).unwrap();
        let wanted = json!({
            "benchmarks": ["net.rr"], "params": { "size": ["1 B", "64 KiB"] }, "seed": u64::MAX, "strict": true,
            "nodelist": "n[1-4]", "launcher": "slurm", "time": "10", "ssh_fanout": 2, "share_hosts": true,
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
