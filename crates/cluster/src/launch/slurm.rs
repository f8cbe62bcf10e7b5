//! Starts agents as one Slurm job step, inside an allocation or with one that srun requests.
//!
//! One task per node for the whole run: a step for every pair of nodes would load slurmctld. Agents connect back (see
//! [`rendezvous`](super::rendezvous)).
//!
//! A task looks for the binary in the node's [`cache`] and executes it. The nodes that have no copy, or a damaged one, get
//! one by a second step with `--bcast` (see [`copies`](super::copies)), while their tasks wait.

use std::ffi::{OsStr, OsString};
use std::process::Command;

use seatrial_model::record::{SlurmOptions, option_words};

use super::bulk::{self, Expected};
use super::cache::{self, LOCAL, TOUCH, word};
use super::copies::{CopyCommand, Destination, next_step};
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

/// Variables by which srun(1) would connect the streams of tasks elsewhere: the launcher talks over them.
const OF_STREAMS: [&str; 3] = ["SLURM_STDINMODE", "SLURM_STDOUTMODE", "SLURM_STDERRMODE"];

/// What both steps have in common: one task a node.
fn srun() -> Command {
    let mut command = Command::new("srun");
    OF_TASKS.iter().chain(&OF_STREAMS).for_each(|name| _ = command.env_remove(name));
    command.args(["--job-name=seatrial", "--ntasks-per-node=1", "--mpi=none"]);
    // The step overlaps with running steps of the job, gets all CPUs, and binds nothing: the plan chooses CPUs.
    command.args(["--overlap", "--cpu-bind=none", "--mem-bind=none"]);
    // A node that dies must not end the run.
    command.args(["--kill-on-bad-exit=0", "--wait=0", "--no-kill"]);
    command
}

/// First part of the names of copies that are not complete. Each run has its own.
fn temporary(build: &str) -> String {
    let host = rustix::system::uname().nodename().to_string_lossy().into_owned();
    format!("{}.{}.{}", word(build), word(&host), std::process::id())
}

/// The shell of a task. A copy is executed when it confirms its content: nothing else would tell a damaged one from a node
/// that fails. A damaged one stays until it is replaced, as another run may just do that. Copies are placed on the node itself, as
/// sbcast(1) wants: in a shared home all nodes would write one file.
fn script(build: &str, size: u64) -> String {
    let id = word(build);
    let found = cache::for_each_copy(
        size,
        &format!(
            "if \"$d/$f\" agent --keep {id} </dev/null >/dev/null 2>&1; then \
             {TOUCH}exec \"$d/$f\" agent --meet --build {id}; fi; v=again;"
        ),
    );
    // The ticket, which is no line that we know, is read over, and comes again after the line.
    let ask = format!(
        "rm -f \"$t\"; echo $k $v \"$d\"; v=send; x=; \
         until [ \"$x\" = copied ]; do read -r x n || exit 0; done; \
         while [ $n -gt 0 ]; do n=$((n-1)); rm -f \"$d/{}.$n\"; done; continue 2;",
        temporary(build)
    );
    let opening = cache::opening("$SLURM_JOB_ID $SLURMD_NODENAME", build);
    // A directory of the job would go with the job.
    let local = "case $l in *\"$SLURM_JOB_ID\"*) l=/tmp;; esac; v=send; ";
    format!("{opening}{local}while :; do {found}{}; done", cache::place(LOCAL, size, &ask))
}

impl SlurmLauncher {
    pub fn new(build: impl Into<String>, request: SlurmRequest) -> Self {
        Self { build: build.into(), request }
    }

    /// The step that runs `sh -c script` once a node.
    fn command(&self, script: &str) -> Command {
        let mut command = srun();
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
        command.args(["/bin/sh", "-c", script]);
        command
    }

    /// The step that copies `binary` to `nodes` of a running job; the copy gives itself its final name.
    fn copy_command(&self, binary: &OsStr, to: &Destination, nodes: &[String]) -> Command {
        let mut command = srun();
        let (list, count) = (nodes.join(","), nodes.len());
        let Destination { job, folder } = to;
        let step = next_step();
        command.args([format!("--jobid={job}"), format!("--nodes={count}"), format!("--nodelist={list}")]);
        // Compressed, as is srun's default with BcastParameters: where srun lacks lz4, it says so and goes on.
        command.args(["--input=none", "--compress"]);
        command.arg(format!("--bcast={folder}/{}.{step}", temporary(&self.build)));
        command.arg(binary).args(["agent", "--keep", &word(&self.build)]);
        command
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
        let failed = |error: std::io::Error| LaunchError::Launcher {
            launcher: "srun".to_owned(),
            why: format!("finding our own binary, to copy it: {error}"),
        };
        let binary = std::env::current_exe().map_err(failed)?;
        let mut command = self.command(&script(&self.build, cache::size().map_err(failed)?));
        let job_nodes = std::env::var("SLURM_JOB_NUM_NODES").ok().and_then(|count| count.parse().ok());
        // Outside an allocation, srun takes one node by default.
        let in_job = std::env::var_os("SLURM_JOB_ID").is_some();
        let expected = self.expected(if in_job { job_nodes } else { Some(1) });
        let copy: &CopyCommand = &|to, nodes| self.copy_command(binary.as_os_str(), to, nodes);
        Ok(Box::new(bulk::gather("srun", &mut command, &self.build, &expected, Some(copy))?))
    }
}

#[cfg(test)]
mod tests {
    use std::path::{Path, PathBuf};
    use std::process::Stdio;

    use super::*;

    fn args(request: SlurmRequest) -> Vec<String> {
        let command = SlurmLauncher::new("1.0+abc", request).command("exit");
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
        assert_eq!(args[args.len() - 3..], ["/bin/sh", "-c", "exit"]);
    }

    #[test]
    fn the_copying_step_takes_the_nodes_of_the_job_and_nothing_of_the_request() {
        let request =
            SlurmRequest { nodes: Some(4), exclude: Some("n9".to_owned()), ..SlurmRequest::default() };
        let to = Destination { job: "7".to_owned(), folder: "/tmp/seatrial-0".to_owned() };
        let nodes = ["n1", "n3"].map(str::to_owned);
        let command =
            SlurmLauncher::new("1.0+abc", request).copy_command("/bin/seatrial".as_ref(), &to, &nodes);
        let line = command.get_args().map(|arg| arg.to_string_lossy()).collect::<Vec<_>>().join(" ");
        for wanted in
            ["--jobid=7 --nodes=2 --nodelist=n1,n3", "--bcast=/tmp/seatrial-0/1.0+abc.", "--overlap"]
        {
            assert!(line.contains(wanted), "{wanted} is not in {line}");
        }
        assert!(line.ends_with("/bin/seatrial agent --keep 1.0+abc") && !line.contains("n9"), "{line}");
    }

    /// A binary that confirms its build and becomes an agent, as ours does; `what` is told by the agent.
    fn binary(what: &str) -> String {
        format!(
            "#!/bin/sh\nif [ \"$2\" = --keep ]; then [ \"$3\" = 1.0+abc ]; exit; fi\necho {what} \"$@\"; head -n 1\n"
        )
    }

    /// Runs the shell of a task with its own folders and this standard input; returns its lines.
    fn play(home: &Path, input: &[u8]) -> Vec<String> {
        use std::io::Write;
        let script = script("1.0+abc", binary("I_am").len() as u64).replace("/dev/shm/", "/proc/nowhere/");
        let mut child = Command::new("sh")
            .args(["-c", &script])
            .envs([("HOME", home), ("TMPDIR", &home.join("tmp"))])
            .envs([("SLURM_JOB_ID", "a job"), ("SLURMD_NODENAME", "n1")])
            .env_remove("XDG_CACHE_HOME")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("a shell");
        child.stdin.take().expect("a pipe").write_all(input).expect("written");
        let out = child.wait_with_output().expect("ends");
        String::from_utf8_lossy(&out.stdout).lines().map(str::to_owned).collect()
    }

    fn local(home: &Path) -> PathBuf {
        home.join("tmp").join(format!("seatrial-{}", rustix::process::geteuid().as_raw()))
    }

    fn put(folder: &Path, name: &str, text: &str) {
        use std::os::unix::fs::PermissionsExt;
        std::fs::write(folder.join(name), text).expect("written");
        for path in [folder, &folder.join(name)] {
            std::fs::set_permissions(path, PermissionsExt::from_mode(0o700)).expect("set");
        }
    }

    const TICKET: &str = "\0\n{ticket}";

    #[test]
    fn a_task_without_a_copy_asks_for_one_until_it_is_there_and_leaves_the_ticket_to_the_agent() {
        use std::os::unix::fs::PermissionsExt;
        let home = tempfile::tempdir().expect("a folder");
        let folder = local(home.path());
        let ask = format!("seatrial-boot a job n1 send {}", folder.display());
        // The run ends before a copy comes.
        assert_eq!(play(home.path(), TICKET.as_bytes()), [&ask[..]]);
        assert_eq!(std::fs::read_dir(&folder).expect("made").count(), 0, "the file to try is gone");
        // A copy that was cut off is removed, and not executed.
        put(&folder, &format!("{}.0", temporary("1.0+abc")), "half");
        assert_eq!(play(home.path(), format!("{TICKET}\ncopied 1\n{TICKET}").as_bytes()), [&ask[..], &ask]);
        assert_eq!(std::fs::read_dir(&folder).expect("made").count(), 0);
        put(&folder, "1.0+abc", &binary("I_am"));
        let lines = play(home.path(), b"ticket\n");
        assert_eq!(lines, ["I_am agent --meet --build 1.0+abc", "ticket"]);
        // As a folder below one with the setgid bit has it.
        std::fs::set_permissions(&folder, PermissionsExt::from_mode(0o2700)).expect("set");
        assert_eq!(play(home.path(), b"ticket\n"), lines);
    }

    #[test]
    fn a_copy_with_another_content_or_in_a_folder_that_others_may_change_is_not_executed() {
        use std::os::unix::fs::PermissionsExt;
        let home = tempfile::tempdir().expect("a folder");
        let folder = local(home.path());
        std::fs::create_dir_all(&folder).expect("made");
        let damaged = binary("I_am").replace("1.0+abc", "1.0+abd");
        put(&folder, "1.0+abc", &damaged);
        assert_eq!(play(home.path(), b""), [format!("seatrial-boot a job n1 again {}", folder.display())]);
        put(&folder, "1.0+abc", &binary("I_am"));
        std::fs::set_permissions(&folder, PermissionsExt::from_mode(0o777)).expect("set");
        assert_eq!(play(home.path(), b""), [format!("seatrial-boot a job n1 send {}", folder.display())]);
        std::fs::rename(&folder, home.path().join("elsewhere")).expect("renamed");
        std::os::unix::fs::symlink(home.path().join("elsewhere"), &folder).expect("linked");
        let lines = play(home.path(), b"");
        assert!(
            lines[0].starts_with("seatrial-boot a job n1 fail no folder to put the binary in"),
            "{lines:?}"
        );
    }

    #[test]
    fn the_tasks_of_the_job_are_not_those_of_the_agents() {
        let command = SlurmLauncher::new("b", SlurmRequest::default()).command("exit");
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
