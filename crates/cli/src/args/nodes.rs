//! Where a command runs: what several commands share.

use clap::{Args, ValueEnum};
use seatrial_model::profile::NodeSet;

/// Where it runs; what is not said follows from the surroundings.
#[derive(Clone, Debug, Default, PartialEq, Eq, Args)]
#[command(next_help_heading = "Nodes")]
pub struct NodeArgs {
    /// Run on these nodes: n[01-16],head
    #[arg(short = 'w', long, value_name = "NODES")]
    pub nodelist: Option<NodeSet>,
    /// Run on this many nodes
    #[arg(short = 'N', long, value_name = "COUNT", value_parser = count)]
    pub nodes: Option<u32>,
    /// Leave out these nodes
    #[arg(short = 'x', long, value_name = "NODES")]
    pub exclude: Option<NodeSet>,
    /// What starts the agents [default: slurm inside an allocation or with -N, ssh with -w, else local]
    #[arg(long, value_enum)]
    pub launcher: Option<LauncherChoice>,
    /// Slurm: the partition to ask for
    #[arg(long, value_name = "NAME")]
    pub partition: Option<String>,
    /// Slurm: the account to charge
    #[arg(long, value_name = "NAME")]
    pub account: Option<String>,
    /// Slurm: the reservation to use
    #[arg(long, value_name = "NAME")]
    pub reservation: Option<String>,
    /// Slurm: the time to ask for, as sbatch takes it
    #[arg(long, value_name = "TIME")]
    pub time: Option<String>,
    /// The ssh client with its options: 'ssh -F cluster.conf'
    #[arg(long, value_name = "COMMAND")]
    pub ssh: Option<String>,
    /// Reach more nodes than this through some of them instead of each by a connection of its own [default: 64]
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u32).range(1..))]
    pub ssh_fanout: Option<u32>,
    /// The mpirun with its options
    #[arg(long, value_name = "COMMAND")]
    pub mpirun: Option<String>,
    /// Measure nodes that share one kernel at the same time instead of one after the other, also nodes of one host name
    #[arg(long)]
    pub share_hosts: bool,
}

/// What starts the agents.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum LauncherChoice {
    /// A child process: this machine alone
    Local,
    /// The site's ssh: a connection to each node, or for many nodes a tree of them
    Ssh,
    /// A step of Slurm's, in this allocation or a new one
    Slurm,
    /// Open MPI's mpirun, as a bare launcher
    Mpirun,
}

/// A number of nodes; names are for another option.
fn count(text: &str) -> Result<u32, String> {
    match text.parse() {
        Ok(count) if count > 0 => Ok(count),
        _ => Err(format!("a count of nodes is wanted, from 1; names go to -w {text}")),
    }
}
