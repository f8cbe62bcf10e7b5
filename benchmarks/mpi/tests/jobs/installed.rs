//! The MPI libraries of this machine.

use std::path::{Path, PathBuf};

/// Debian's libraries with their launchers, of every architecture.
const FOLDERS: [&str; 2] = ["/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu"];

/// A library, and the launcher of its installation.
#[derive(Clone, Debug)]
pub struct Installed {
    pub library: PathBuf,
    pub launcher: PathBuf,
}

fn of(name: &str, launcher: &str) -> Option<Installed> {
    let library = FOLDERS.iter().map(|folder| Path::new(folder).join(name)).find(|file| file.exists())?;
    let launcher = Path::new("/usr/bin").join(launcher);
    launcher.exists().then_some(Installed { library, launcher })
}

pub fn open_mpi() -> Option<Installed> {
    of("libmpi.so.40", "mpiexec.openmpi")
}

pub fn mpich() -> Option<Installed> {
    of("libmpich.so.12", "mpiexec.mpich")
}

/// Open MPI and MPICH; outside continuous integration, what is not installed is not tested.
pub fn installed() -> Vec<Installed> {
    let all: Vec<Installed> = [open_mpi(), mpich()].into_iter().flatten().collect();
    if all.len() < 2 {
        skipped(&format!("needs openmpi-bin and mpich, has {all:?}"));
    }
    all
}

/// Outside continuous integration, what cannot be had is not tested.
#[expect(clippy::print_stdout, reason = "a skipped test says so")]
pub fn skipped(why: &str) {
    assert!(std::env::var_os("CI").is_none_or(|ci| ci != "true"), "{why}");
    println!("skipped: {why}");
}
