//! The launcher of an MPI installation, and the command that starts a job.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::getuid;
use seatrial_model::{Cause, Reason};
use seatrial_sys::mpi::launchers;
use serde::Serialize;

use super::environment;
use super::hosts::JobHosts;
use super::library::LibraryFacts;
use super::output::Output;
use super::process::{NodeCall, own_program};
use super::srun;
use super::{LAUNCH, PROGRAM, REMOTE_SHELL, SUBCOMMAND};

/// Time of a launcher to answer.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(10);

/// Whose protocol a launcher speaks to its ranks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Family {
    OpenMpi,
    /// Hydra, of MPICH, Intel MPI and MVAPICH.
    Hydra,
    /// Seatrial itself, which serves PMI-1 to ranks of MPICH and its relatives.
    Seatrial,
    /// Slurm's srun.
    Slurm,
    Unknown,
}

/// The launcher that is Seatrial itself, as the parameter names it.
const OWN: &str = "own";

const SRUN: &str = "srun";

impl Family {
    fn of(library: &LibraryFacts) -> Self {
        if library.is_open_mpi { Self::OpenMpi } else { Self::Hydra }
    }
}

/// A launcher as the record has it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Launcher {
    pub path: PathBuf,
    pub family: Family,
    /// The first line of what it says of its version.
    pub version: String,
    /// The plugin of Slurm by which ranks find each other.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub plugin: Option<String>,
}

impl Launcher {
    /// The launcher `asked` for; without it the first of the library's installation that fits the library.
    pub fn of(library: &LibraryFacts, asked: Option<&Path>) -> Result<Self, Reason> {
        if asked == Some(Path::new(OWN)) {
            return Self::own(library);
        }
        if let Some(path) = asked {
            return Self::at(path)
                .map_err(|why| Reason::new(Cause::Missing, format!("launcher={}: {why}", path.display())))?
                .with_plugin(library);
        }
        let wanted = Family::of(library);
        let (mut seen, mut of_unknown) = (Vec::new(), None);
        for path in launchers(&library.path) {
            match Self::at(&path) {
                Ok(launcher) if launcher.family == wanted => return Ok(launcher),
                Ok(launcher) if launcher.family == Family::Unknown => {
                    of_unknown.get_or_insert(launcher);
                }
                Ok(launcher) => seen.push(format!("{} is of {}", path.display(), launcher.version)),
                Err(why) => seen.push(format!("{}: {why}", path.display())),
            }
        }
        if let Some(launcher) = of_unknown {
            return Ok(launcher);
        }
        // An installation for Slurm may have no launcher.
        if srun::allocation().is_ok()
            && let Ok(srun) = Self::at(Path::new(SRUN))
        {
            return srun.with_plugin(library);
        }
        let seen = if seen.is_empty() { "there is none".to_owned() } else { seen.join("; ") };
        let text = format!(
            "no launcher of the installation of {} ({}) was found in the folder bin of its prefix: {seen}; set \
             -p launcher=PATH",
            library.path.display(),
            library.version
        );
        Err(Reason::new(Cause::Missing, text))
    }

    /// The same with the plugin for the library, where this is Slurm's.
    fn with_plugin(self, library: &LibraryFacts) -> Result<Self, Reason> {
        if self.family != Family::Slurm {
            return Ok(self);
        }
        srun::allocation()?;
        let printed = said(&self.path, "--mpi=list")
            .map_err(|why| Reason::new(Cause::Launcher, format!("srun --mpi=list: {why}")))?;
        let plugin = srun::choose(library, &srun::plugins(&printed))?;
        Ok(Self { plugin: Some(plugin), ..self })
    }

    /// Seatrial itself as the launcher.
    fn own(library: &LibraryFacts) -> Result<Self, Reason> {
        if library.is_open_mpi {
            let text = "launcher=own serves PMI-1, which Open MPI does not speak; leave launcher out";
            return Err(Reason::new(Cause::Contradiction, text));
        }
        let path =
            std::env::current_exe().map_err(|error| Reason::new(Cause::Launcher, error.to_string()))?;
        Ok(Self { path, family: Family::Seatrial, version: "PMI-1 of Seatrial".to_owned(), plugin: None })
    }

    /// Whether ranks of `library` may understand it, as far as is known.
    pub fn fits(&self, library: &LibraryFacts) -> bool {
        matches!(self.family, Family::Unknown | Family::Seatrial | Family::Slurm)
            || self.family == Family::of(library)
    }

    /// Asks the program at `path` what it is.
    fn at(path: &Path) -> Result<Self, String> {
        let text = said(path, "--version")?;
        let version =
            text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default().to_owned();
        Ok(Self { path: path.to_owned(), family: family_of(&text), version, plugin: None })
    }

    /// The command that starts so many ranks on `hosts`, and the variables of an outer job that its processes do not get.
    /// `calls` are how the other nodes are called.
    pub fn command(&self, ranks: usize, hosts: &JobHosts, calls: &[NodeCall]) -> (Command, Vec<String>) {
        if self.family == Family::Seatrial {
            let mut command = Command::new(own_program());
            let scrubbed = environment::scrub(&mut command);
            let of_node = ranks / hosts.names.len().max(1);
            command.args([LAUNCH, "0", &of_node.to_string(), &ranks.to_string()]);
            command.args(hosts.addresses.iter().skip(1));
            return (command, scrubbed);
        }
        let mut command = Command::new(&self.path);
        let scrubbed = environment::scrub(&mut command);
        if let Some(plugin) = &self.plugin {
            srun::complete(&mut command, plugin, ranks, hosts, calls);
            return (command, scrubbed);
        }
        command.arg("-n").arg(ranks.to_string());
        match self.family {
            Family::OpenMpi => {
                // Ranks bind themselves, see `Start`.
                command.args(["--oversubscribe", "--bind-to", "none"]);
                if getuid().is_root() {
                    command.arg("--allow-run-as-root");
                    for start in ["OMPI", "PRTE"] {
                        command.env(format!("{start}_ALLOW_RUN_AS_ROOT"), "1");
                        command.env(format!("{start}_ALLOW_RUN_AS_ROOT_CONFIRM"), "1");
                    }
                }
            }
            Family::Hydra => {
                command.env("I_MPI_PIN", "0");
            }
            Family::Seatrial | Family::Slurm | Family::Unknown => {}
        }
        if hosts.are_several() {
            self.spread(&mut command, ranks, hosts);
        } else if self.family == Family::Hydra {
            command.env("HYDRA_LAUNCHER", "fork").env("I_MPI_HYDRA_BOOTSTRAP", "fork");
        }
        // The path of this program differs from node to node, and the node's worker sets it.
        command.args(["/bin/sh", "-c"]).arg(format!("exec \"${PROGRAM}\" {SUBCOMMAND}"));
        (command, scrubbed)
    }

    /// Has the launcher start as many ranks on each host, block by block, by our remote shell.
    fn spread(&self, command: &mut Command, ranks: usize, hosts: &JobHosts) {
        let of_node = ranks / hosts.addresses.len();
        let list = hosts.addresses.iter().map(|address| format!("{address}:{of_node}"));
        let list = list.collect::<Vec<_>>().join(",");
        let program = own_program();
        let shell = format!("{program} {REMOTE_SHELL}");
        match self.family {
            Family::OpenMpi => {
                command.args(["--host", &list, "--map-by", "slot"]);
                // Open MPI 4 (ORTE), and Open MPI 5 (PRRTE) with other names.
                for (name, value) in [
                    ("OMPI_MCA_plm", "rsh"),
                    ("OMPI_MCA_plm_rsh_agent", shell.as_str()),
                    ("OMPI_MCA_plm_rsh_no_tree_spawn", "1"),
                    ("OMPI_MCA_orte_leave_session_attached", "1"),
                    ("PRTE_MCA_plm", "ssh"),
                    ("PRTE_MCA_plm_ssh_agent", shell.as_str()),
                    ("PRTE_MCA_plm_ssh_no_tree_spawn", "1"),
                    ("PRTE_MCA_prte_leave_session_attached", "1"),
                ] {
                    command.env(name, value);
                }
            }
            Family::Hydra | Family::Seatrial | Family::Slurm | Family::Unknown => {
                // Each rank has the environment of its node's worker, which knows this program and its own socket.
                command.args(["-hosts", &list, "-genvnone"]);
                if let Some(interface) = &hosts.interface {
                    command.args(["-iface", interface]);
                }
                for (name, value) in [
                    ("HYDRA_LAUNCHER", "rsh"),
                    ("HYDRA_LAUNCHER_EXEC", program.as_str()),
                    ("HYDRA_LAUNCHER_EXTRA_ARGS", REMOTE_SHELL),
                    ("I_MPI_HYDRA_BOOTSTRAP", "rsh"),
                    ("I_MPI_HYDRA_BOOTSTRAP_EXEC", program.as_str()),
                    ("I_MPI_HYDRA_BOOTSTRAP_EXEC_EXTRA_ARGS", REMOTE_SHELL),
                ] {
                    command.env(name, value);
                }
            }
        }
    }
}

fn family_of(version: &str) -> Family {
    let says = |words: &[&str]| words.iter().any(|word| version.contains(word));
    if says(&["Open MPI", "OpenRTE", "PRRTE", "prterun"]) {
        Family::OpenMpi
    } else if says(&["HYDRA", "Hydra", "Intel(R) MPI", "MVAPICH"]) {
        Family::Hydra
    } else if says(&["slurm"]) {
        Family::Slurm
    } else {
        Family::Unknown
    }
}

/// What a launcher prints when it is asked with this option.
fn said(path: &Path, option: &str) -> Result<String, String> {
    let said = |error: std::io::Error| error.to_string();
    let (printed, writer) = std::io::pipe().map_err(said)?;
    let mut command = Command::new(path);
    environment::scrub(&mut command);
    command.arg(option).stdin(Stdio::null()).stdout(writer.try_clone().map_err(said)?).stderr(writer);
    let mut child = command.spawn().map_err(said)?;
    drop(command);
    let output = Output::drain(printed).map_err(said)?;
    let until = Instant::now() + ANSWER_TIMEOUT;
    while !output.is_complete() && Instant::now() < until {
        std::thread::sleep(Duration::from_millis(2));
    }
    let is_over = output.is_complete();
    let _ = child.kill();
    let _ = child.wait();
    if is_over { Ok(output.text()) } else { Err(format!("it did not answer {option} within 10 s")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_family_of_a_launcher_is_in_what_it_says() {
        assert_eq!(family_of("mpiexec (OpenRTE) 4.1.4\n\nReport bugs to"), Family::OpenMpi);
        assert_eq!(family_of("mpirun (Open MPI) 5.0.11"), Family::OpenMpi);
        assert_eq!(family_of("HYDRA build details:\n    Version: 4.0.2"), Family::Hydra);
        assert_eq!(family_of("Intel(R) MPI Library for Linux* OS, Version 2021.12"), Family::Hydra);
        assert_eq!(family_of("slurm-wlm 22.05.8"), Family::Slurm);
    }

    #[test]
    fn a_launcher_that_is_not_there_says_so() {
        let why = Launcher::at(Path::new("/there/is/no/mpiexec")).expect_err("absent");
        assert!(why.contains("No such file"), "{why}");
    }
}
