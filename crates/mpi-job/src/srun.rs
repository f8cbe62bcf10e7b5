//! Slurm's srun as the launcher: which of its plugins the library speaks to, and the command that starts ranks.

use std::fmt::Write;
use std::path::Path;
use std::process::Command;

use seatrial_model::{Cause, Reason};

use super::hosts::JobHosts;
use super::library::LibraryFacts;
use super::process::NodeCall;
use super::{PROGRAM, SOCKET, SUBCOMMAND};

/// The variable that names the allocation.
const ALLOCATION: &str = "SLURM_JOB_ID";

/// The plugins of `srun --mpi=list` in what it prints: words on lines of their own, and after a colon.
pub fn plugins(printed: &str) -> Vec<String> {
    // Older versions name themselves on each line.
    let lines = printed.lines().map(|line| line.strip_prefix("srun: ").unwrap_or(line));
    let words = lines.flat_map(|line| match line.split_once(':') {
        Some((_, words)) => words.split([',', ' ']).collect::<Vec<_>>(),
        None => vec![line.trim()],
    });
    let is_name = |word: &&str| {
        !word.is_empty() && word.chars().all(|sign| sign.is_ascii_alphanumeric() || sign == '_')
    };
    let mut found: Vec<String> = Vec::new();
    for word in words.filter(is_name) {
        if !found.iter().any(|known| known == word) {
            found.push(word.to_owned());
        }
    }
    found
}

/// The plugin by which ranks of `library` find each other.
///
/// # Errors
/// When the cluster offers none of those that the library speaks to.
pub fn choose(library: &LibraryFacts, offered: &[String]) -> Result<String, Reason> {
    let wanted: &[&str] = match (library.is_open_mpi, has_pmi2(&library.path)) {
        (true, false) => &["pmix"],
        (true, true) => &["pmix", "pmi2"],
        (false, _) => &["pmi2", "pmix"],
    };
    let has = |name: &&&str| offered.iter().any(|known| known == **name);
    wanted.iter().find(has).map(|name| (**name).to_owned()).ok_or_else(|| {
        let list = if offered.is_empty() { "nothing".to_owned() } else { offered.join(", ") };
        let text = format!(
            "{} is started by srun with --mpi={}, and this cluster offers {list} (srun --mpi=list); leave launcher= out, or \
             ask for the plugin",
            library.version,
            wanted.join(" or --mpi="),
        );
        Reason::new(Cause::Missing, text)
    })
}

/// Whether this Open MPI was built with Slurm's PMI-2 (its component s2).
fn has_pmi2(library: &Path) -> bool {
    let file = library.canonicalize().unwrap_or_else(|_| library.to_owned());
    file.parent().is_some_and(|folder| folder.join("openmpi/mca_pmix_s2.so").exists())
}

/// The allocation that this process is in.
///
/// # Errors
/// Outside an allocation.
pub fn allocation() -> Result<String, Reason> {
    std::env::var(ALLOCATION).map_err(|_| {
        let text = format!(
            "srun starts ranks in an allocation, and the worker is in none ({ALLOCATION} is not set): start the run with -N or \
             inside salloc or sbatch, or leave launcher= out"
        );
        Reason::new(Cause::Contradiction, text)
    })
}

/// Has srun start as many ranks on each of `hosts`, in their order. `calls` are how the other nodes are called.
pub fn complete(command: &mut Command, plugin: &str, ranks: usize, hosts: &JobHosts, calls: &[NodeCall]) {
    let of_node = ranks / hosts.names.len().max(1);
    let list: Vec<&str> =
        hosts.names.iter().flat_map(|name| std::iter::repeat_n(name.as_str(), of_node)).collect();
    if let Ok(id) = allocation() {
        command.arg(format!("--jobid={id}"));
    }
    // The step shares the allocation with the agents' own, and ranks bind themselves.
    command.args(["--overlap", "--overcommit", "--cpu-bind=none", "--mem-bind=none", "--kill-on-bad-exit=1"]);
    command.arg(format!("--mpi={plugin}")).arg(format!("--nodes={}", hosts.names.len()));
    command.arg(format!("--ntasks={ranks}")).arg("--distribution=arbitrary");
    command.arg(format!("--nodelist={}", list.join(",")));
    command.args(["/bin/sh", "-c"]).arg(script(hosts, calls));
}

/// Becomes a rank. Each node has its own socket and its own name of this program; those of the first node are in the environment.
fn script(hosts: &JobHosts, calls: &[NodeCall]) -> String {
    let mut script = "case $SLURMD_NODENAME in\n".to_owned();
    for (name, NodeCall { socket, program }) in hosts.names.iter().skip(1).zip(calls) {
        let _ = writeln!(script, "{name}) export {SOCKET}={socket} {PROGRAM}={program};;");
    }
    script + &format!("esac\nexec \"${PROGRAM}\" {SUBCOMMAND}")
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;

    fn library(is_open_mpi: bool) -> LibraryFacts {
        LibraryFacts {
            path: PathBuf::from("/opt/mpi/lib/libmpi.so"),
            found: String::new(),
            hash: String::new(),
            abi: String::new(),
            version: if is_open_mpi { "Open MPI v4.1.4" } else { "MPICH Version: 4.0.2" }.to_owned(),
            standard: "3.1".to_owned(),
            is_open_mpi,
        }
    }

    /// As Slurm 22.05 prints it.
    const LISTED: &str = "MPI plugin types are...\n\tnone\n\tpmi2\n\tcray_shasta\n\tpmix\nspecific pmix plugin versions available: pmix_v4,pmix_v3\n";

    #[test]
    fn the_plugins_are_the_words_of_the_list() {
        assert_eq!(plugins(LISTED), ["none", "pmi2", "cray_shasta", "pmix", "pmix_v4", "pmix_v3"]);
        assert_eq!(plugins("srun: MPI types are...\nsrun: none\nsrun: pmi2\n"), ["none", "pmi2"]);
        assert!(plugins("").is_empty());
    }

    #[test]
    fn each_library_gets_what_it_speaks_and_a_cluster_without_it_is_told() {
        let all = plugins(LISTED);
        assert_eq!(choose(&library(true), &all), Ok("pmix".to_owned()));
        assert_eq!(choose(&library(false), &all), Ok("pmi2".to_owned()));
        let only = |name: &str| vec!["none".to_owned(), name.to_owned()];
        assert_eq!(choose(&library(false), &only("pmix")), Ok("pmix".to_owned()));
        let reason = choose(&library(true), &only("pmi2")).expect_err("Open MPI was built without PMI-2");
        assert_eq!(reason.cause, Cause::Missing);
        for words in ["Open MPI v4.1.4", "--mpi=pmix", "offers none, pmi2"] {
            assert!(reason.text.contains(words), "{reason}");
        }
    }

    #[test]
    fn ranks_stand_in_the_order_of_the_nodes_and_call_their_own_one() {
        let hosts = JobHosts { names: ["n2", "n1"].map(str::to_owned).into(), ..JobHosts::default() };
        let call = NodeCall { socket: "s-1".to_owned(), program: "/proc/7/exe".to_owned() };
        let mut command = Command::new("srun");
        complete(&mut command, "pmix", 4, &hosts, &[call]);
        let words: Vec<_> = command.get_args().map(|word| word.to_string_lossy().into_owned()).collect();
        for wanted in ["--mpi=pmix", "--nodes=2", "--ntasks=4", "--nodelist=n2,n2,n1,n1"] {
            assert!(words.iter().any(|word| word == wanted), "{words:?}");
        }
        let script = words.last().expect("a script");
        assert!(
            script.contains("n1) export SEATRIAL_MPI_JOB=s-1 SEATRIAL_MPI_PROGRAM=/proc/7/exe;;"),
            "{script}"
        );
    }
}
