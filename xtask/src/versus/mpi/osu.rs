//! The peers' side: programs below a folder, the library that they use, and a table that is read.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use crate::versus::ours;
use crate::versus::peer::{AUTOTOOLS, Peer};

/// Names the folder that the OSU micro-benchmarks, 7.0 or later, were built or installed in, in place of those of `--prepare`.
const FOLDER: &str = "OSU_MICRO_BENCHMARKS";

/// A copy of release 7.4; its own place offers archives alone.
pub const OSU: Peer = Peer {
    name: "osu",
    area: "mpi",
    url: "https://github.com/sherrywong1220/osu-micro-benchmarks-7.4",
    commit: "bed60f564c2908a6123315f49f6dd0c0ff5440a3",
    packages: AUTOTOOLS,
    // The files of automake come in no order; without options the tables have two digits behind the point.
    build: "touch aclocal.m4 && find . -name Makefile.in | xargs touch && touch configure && chmod +x configure install-sh && \
            ./configure --quiet CC=mpicc CXX=mpicxx && for folder in pt2pt/standard collective/blocking \
            collective/non_blocking one-sided startup; do make --quiet -C c/mpi/$folder \
            CFLAGS='-g -O2 -UFLOAT_PRECISION -DFLOAT_PRECISION=6'; done",
    programs: &[
        "c/mpi/pt2pt/standard/osu_latency",
        "c/mpi/one-sided/osu_put_latency",
        "c/mpi/startup/osu_init",
    ],
};

/// What both sides use.
pub struct Setup {
    folder: PathBuf,
    pub library: PathBuf,
    pub launcher: PathBuf,
    is_open_mpi: bool,
    /// The CPU of each rank, where each core has one.
    cpus: Vec<u64>,
}

/// Found out once: OSU's folder is looked into, and a short trial of ours names launcher and CPUs.
///
/// # Errors
/// When OSU's programs are not there, or ours does not measure with their library.
pub fn setup() -> Result<&'static Setup> {
    static SETUP: OnceLock<Setup> = OnceLock::new();
    once(&SETUP, || Setup::of(folder()?, "osu_latency"))
}

/// The same of Intel's MPI benchmarks.
///
/// # Errors
/// When they are not prepared, or ours does not measure with their library.
pub fn setup_of_imb(imb: &Peer) -> Result<&'static Setup> {
    static SETUP: OnceLock<Setup> = OnceLock::new();
    once(&SETUP, || Setup::of(imb.program("")?, imb.programs[0]))
}

fn once(known: &'static OnceLock<Setup>, find: impl FnOnce() -> Result<Setup>) -> Result<&'static Setup> {
    if let Some(setup) = known.get() {
        return Ok(setup);
    }
    let made = find()?;
    Ok(known.get_or_init(|| made))
}

/// The folder of OSU's programs.
///
/// # Errors
/// When they are not prepared, and no folder is named.
pub fn folder() -> Result<PathBuf> {
    std::env::var_os(FOLDER).map_or_else(|| OSU.program(""), |named| Ok(PathBuf::from(named)))
}

impl Setup {
    /// Of the programs in `folder`, of which one links the library.
    fn of(folder: PathBuf, name: &str) -> Result<Self> {
        let latency = program(&folder, name)?;
        let linked = Command::new("ldd").arg(&latency).output().context("cannot start ldd")?;
        let library = library_of(&String::from_utf8_lossy(&linked.stdout))
            .with_context(|| format!("{} uses no MPI library", latency.display()))?;
        let params =
            ["op=barrier".to_owned(), "time=100 ms".to_owned(), format!("library={}", library.display())];
        ours::trial(ours::here(), "mpi.collective", &params, |record, _| {
            ours::median(record, "latency")?;
            let evidence = &record["evidence"];
            let launcher = evidence["launcher"]["path"].as_str().context("the record names no launcher")?;
            let cpus: Option<Vec<u64>> = evidence["ranks"]
                .as_array()
                .and_then(|ranks| ranks.iter().map(|rank: &Value| rank["cpu"].as_u64()).collect());
            Ok(Self {
                folder,
                library,
                launcher: launcher.into(),
                is_open_mpi: evidence["launcher"]["family"] == "open_mpi",
                cpus: cpus.context("two cores are needed, one for each rank")?,
            })
        })
    }

    /// The CPUs of all ranks, or of two.
    pub fn cpus(&self, all: bool) -> &[u64] {
        if all { &self.cpus } else { &self.cpus[..2] }
    }

    /// Runs a program with a rank on each of `cpus`; the figure in a column of its only line.
    ///
    /// # Errors
    /// When it does not end well, or prints no such figure.
    pub fn run(&self, name: &str, options: &[&str], cpus: &[u64], column: usize) -> Result<f64> {
        let program = program(&self.folder, name)?;
        let mut command = Command::new(&self.launcher);
        if self.is_open_mpi {
            command.args(["--oversubscribe", "--bind-to", "none", "--allow-run-as-root"]);
        } else {
            command.env("HYDRA_LAUNCHER", "fork").env("I_MPI_PIN", "0");
        }
        // A rank a block, so that each is where ours is.
        for (rank, cpu) in cpus.iter().enumerate() {
            if rank > 0 {
                command.arg(":");
            }
            command.args(["-n", "1", "taskset", "-c", &cpu.to_string()]).arg(&program).args(options);
        }
        let output = command.stdin(Stdio::null()).output().context("cannot start the launcher")?;
        let (text, said) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        ensure!(output.status.success(), "{name} ended with {}: {said} {text}", output.status);
        figure(&text, column).with_context(|| format!("{name} printed no figure: {said} {text}"))
    }
}

/// The program of this name anywhere below `folder`.
fn program(folder: &Path, name: &str) -> Result<PathBuf> {
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        let entries = std::fs::read_dir(&next).with_context(|| format!("cannot read {}", next.display()))?;
        for path in entries.flatten().map(|entry| entry.path()) {
            if path.is_dir() && !path.is_symlink() {
                // libtool keeps what it links for the build tree here.
                if !path.ends_with(".libs") {
                    folders.push(path);
                }
            } else if path.file_name().is_some_and(|own| own == name) {
                return Ok(path);
            }
        }
    }
    anyhow::bail!("there is no {name} below {}", folder.display())
}

/// The file of the MPI library in what `ldd` prints.
fn library_of(linked: &str) -> Option<PathBuf> {
    const NAMES: [&str; 3] = ["libmpi.so", "libmpich.so", "libmpi_abi.so"];
    linked.lines().find_map(|line| {
        let (name, place) = line.trim().split_once(" => ")?;
        let is_mpi = NAMES.iter().any(|start| name.starts_with(start));
        let file = place.split_whitespace().next().filter(|file| is_mpi && file.starts_with('/'));
        file.map(PathBuf::from)
    })
}

/// The number in a column of the last line of a table, or in a word of what `osu_init` prints.
fn figure(text: &str, column: usize) -> Option<f64> {
    let is_row =
        |line: &&str| line.starts_with(|first: char| first.is_ascii_digit()) || line.starts_with("nprocs:");
    let row = text.lines().map(str::trim).rfind(is_row)?;
    row.split_whitespace().nth(column)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_read_from_what_osu_printed() {
        assert_eq!(figure(include_str!("captured/osu_latency.txt"), 1), Some(0.28));
        assert_eq!(figure(include_str!("captured/osu_mbw_mr.txt"), 2), Some(9_628_722.48));
        assert_eq!(figure(include_str!("captured/osu_iallreduce.txt"), 3), Some(1092.14));
        assert_eq!(figure(include_str!("captured/osu_init.txt"), 6), Some(266.0));
        assert_eq!(figure("# Size  Latency\n", 1), None);
    }

    #[test]
    fn the_library_of_a_program_is_found_among_others() {
        let linked = "\tlinux-vdso.so.1 (0x1)\n\tlibmpich.so.12 => /usr/lib/libmpich.so.12 (0x2)\n\tlibc.so.6 => /lib/libc.so.6 (0x3)\n";
        assert_eq!(library_of(linked), Some("/usr/lib/libmpich.so.12".into()));
        assert_eq!(library_of("\tlibmpi.so.40 => not found\n"), None);
        assert_eq!(library_of("\tlibc.so.6 => /lib/libc.so.6 (0x3)\n"), None);
    }
}
