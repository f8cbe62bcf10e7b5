//! Starts agents as one Slurm job step, inside an allocation or with one that srun requests.
//!
//! One task per node for the whole run: a step for every pair of nodes would load slurmctld. Agents connect back (see
//! [`meet`](super::meet)).

use std::ffi::OsString;
use std::process::Command;

use seatrial_model::record::{SlurmOptions, option_words};

use super::bulk::{self, Expected};
use crate::fleet::{Fleet, LaunchError, Launcher};

/// The nodes to request, in the words of srun(1).
#[derive(Clone, Debug, Default)]
pub struct SlurmRequest {
    pub nodes: Option<u32>,
    pub nodelist: Vec<String>,
    pub exclude: Option<String>,
    pub options: SlurmOptions,
}

/// Variables of a job that srun(1) reads as options about its tasks: it would start as many agents, or give an agent the CPUs
/// of one task.
const OF_TASKS: [&str; 13] = [
    "SLURM_NTASKS",
    "SLURM_NPROCS",
    "SLURM_NTASKS_PER_NODE",
    "SLURM_NTASKS_PER_CORE",
    "SLURM_NTASKS_PER_SOCKET",
    "SLURM_NTASKS_PER_GPU",
    "SLURM_NTASKS_PER_TRES",
    "SLURM_CPUS_PER_TASK",
    "SRUN_CPUS_PER_TASK",
    "SLURM_CPUS_PER_GPU",
    "SLURM_TRES_PER_TASK",
    "SLURM_EXACT",
    "SLURM_DISTRIBUTION",
];

#[derive(Clone, Debug)]
pub struct SlurmLauncher {
    build: String,
    request: SlurmRequest,
}

impl SlurmLauncher {
    pub fn new(build: impl Into<String>, request: SlurmRequest) -> Self {
        Self { build: build.into(), request }
    }

    fn command(&self) -> Result<Command, std::io::Error> {
        let mut command = Command::new("srun");
        OF_TASKS.iter().for_each(|name| _ = command.env_remove(name));
        command.args(["--job-name=seatrial", "--ntasks-per-node=1", "--mpi=none"]);
        // The step overlaps with running steps of the job, gets all CPUs, and binds nothing: the plan chooses CPUs.
        command.args(["--overlap", "--cpu-bind=none", "--mem-bind=none"]);
        // A node that dies must not end the run.
        command.args(["--kill-on-bad-exit=0", "--wait=0", "--no-kill"]);
        let request = &self.request;
        let list = (!request.nodelist.is_empty()).then(|| request.nodelist.join(","));
        let count = request.nodes.map(|count| count.to_string());
        let options = [
            ("nodes", count.or_else(|| list.as_ref().map(|_| request.nodelist.len().to_string()))),
            ("nodelist", list),
            ("exclude", request.exclude.clone()),
        ];
        for (name, value) in options {
            command.args(value.map(|value| OsString::from(format!("--{name}={value}"))));
        }
        // Option names of srun.
        command.args(option_words(&request.options));
        // Each run has its own copy; the agent removes the copy when it starts.
        let name = self.build.replace(|c: char| !c.is_ascii_alphanumeric() && c != '.', "-");
        command.arg(format!("--bcast=/tmp/seatrial-{name}-{}", std::process::id()));
        command.arg(std::env::current_exe()?).args(["agent", "--meet", "--remove-self"]);
        Ok(command)
    }

    /// Number of nodes, as far as known before srun decides.
    fn expected(&self, job_nodes: Option<usize>) -> Expected {
        let asked = self.request.nodes.map(|count| count as usize);
        let listed = (!self.request.nodelist.is_empty()).then_some(self.request.nodelist.len());
        // With an exclusion only srun knows the number; then agents are accepted until no more come.
        let whole_job = job_nodes.filter(|_| self.request.exclude.is_none());
        Expected { count: asked.or(listed).or(whole_job), names: self.request.nodelist.clone(), recalls }
    }
}

/// Whether Slurm reports that the job was ended: `STEP 7.0 ON n1 CANCELLED AT 2026-11-21T18:00:00`, followed by `DUE
/// TO TIME LIMIT`, `PREEMPTION` or nothing. After `NODE FAILURE`, the node ended it.
fn recalls(words: &str) -> bool {
    words.contains("CANCELLED AT") && !words.contains("NODE FAILURE")
}

impl Launcher for SlurmLauncher {
    fn launch(&self) -> Result<Box<dyn Fleet>, LaunchError> {
        let mut command = self.command().map_err(|error| LaunchError::Launcher {
            launcher: "srun".to_owned(),
            why: format!("finding our own binary, to copy it: {error}"),
        })?;
        let job_nodes = std::env::var("SLURM_JOB_NUM_NODES").ok().and_then(|count| count.parse().ok());
        // Outside an allocation, srun takes one node by default.
        let in_job = std::env::var_os("SLURM_JOB_ID").is_some();
        let expected = self.expected(if in_job { job_nodes } else { Some(1) });
        Ok(Box::new(bulk::gather("srun", &mut command, &self.build, &expected)?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn args(request: SlurmRequest) -> Vec<String> {
        let command = SlurmLauncher::new("1.0+abc", request).command().expect("our own binary is known");
        command.get_args().map(|arg| arg.to_string_lossy().into_owned()).collect()
    }

    #[test]
    fn what_is_asked_for_is_told_in_srun_s_words_and_the_key_is_not() {
        let request = SlurmRequest {
            nodelist: vec!["n1".to_owned(), "n2".to_owned()],
            options: SlurmOptions {
                partition: Some("debug".to_owned()),
                time: Some("10:00".to_owned()),
                ..SlurmOptions::default()
            },
            ..SlurmRequest::default()
        };
        let args = args(request);
        let line = args.join(" ");
        for wanted in ["--nodes=2", "--nodelist=n1,n2", "--partition debug", "--time 10:00", "--overlap"] {
            assert!(line.contains(wanted), "{wanted} is not in {line}");
        }
        assert!(!args.iter().any(|arg| arg.starts_with("--account")));
        assert_eq!(args[args.len() - 3..], ["agent", "--meet", "--remove-self"]);
    }

    #[test]
    fn the_tasks_of_the_job_are_not_those_of_the_agents() {
        let command = SlurmLauncher::new("b", SlurmRequest::default()).command().expect("known");
        for name in ["SLURM_NTASKS", "SLURM_CPUS_PER_TASK", "SLURM_NTASKS_PER_GPU"] {
            assert!(command.get_envs().any(|(key, value)| key == name && value.is_none()), "{name}");
        }
    }

    #[test]
    fn who_is_expected_follows_from_what_was_asked() {
        let expected = |request| SlurmLauncher::new("b", request).expected(Some(16));
        let asked = SlurmRequest { nodes: Some(4), ..SlurmRequest::default() };
        assert_eq!(expected(asked).count, Some(4));
        let listed = SlurmRequest { nodelist: vec!["n7".to_owned()], ..SlurmRequest::default() };
        assert_eq!(
            (expected(listed.clone()).count, expected(listed).names),
            (Some(1), vec!["n7".to_owned()])
        );
        assert_eq!(expected(SlurmRequest::default()).count, Some(16));
        let without = SlurmRequest { exclude: Some("n3".to_owned()), ..SlurmRequest::default() };
        assert_eq!(expected(without).count, None);
    }

    #[test]
    fn a_job_that_is_ended_by_decision_is_told_from_a_node_that_fails() {
        let told = |due: &str| {
            format!("slurmstepd: error: *** STEP 7.0 ON n1 CANCELLED AT 2026-11-21T18:00:00{due} ***")
        };
        assert!(
            recalls(&told(""))
                && recalls(&told(" DUE TO TIME LIMIT"))
                && recalls(&told(" DUE TO PREEMPTION"))
        );
        assert!(!recalls(&told(" DUE TO NODE FAILURE, SEE SLURMCTLD LOG FOR DETAILS")));
        assert!(!recalls("srun: error: n1: task 0: Killed"));
    }
}
