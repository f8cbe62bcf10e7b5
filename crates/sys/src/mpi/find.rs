//! Where an MPI library may be, and the launchers that belong to it.
//!
//! Library and launcher have to be of one installation: a launcher starts ranks that speak its own protocol.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// File names of MPI libraries, those of the standard ABI first.
const NAMES: [&str; 9] = [
    "libmpi_abi.so.1",
    "libmpi_abi.so.0",
    "libmpi.so.40",
    "libmpi.so.12",
    "libmpich.so.12",
    "libmpi_cray.so.12",
    "libmpi_ibm.so.3",
    "libmpi.so.20",
    "libmpi.so",
];

/// Folders of libraries below the prefix of an installation.
const FOLDERS: [&str; 3] = ["lib", "lib64", ""];

/// Names of launchers, the general ones first. Debian adds the name of the library.
const LAUNCHERS: [&str; 6] =
    ["mpiexec", "mpirun", "mpiexec.hydra", "mpiexec.openmpi", "mpiexec.mpich", "mpirun.openmpi"];

/// What named a library.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Found {
    /// The user, by file or by the prefix of an installation.
    Named,
    /// The variable `SEATRIAL_MPI`.
    Variable,
    /// A folder of `LD_LIBRARY_PATH`, which modules set.
    LibraryPath,
    /// The installation of a launcher that stands in `PATH`.
    Launcher,
    /// The dynamic linker knows it.
    Linker,
}

impl Found {
    /// Where it was looked.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Named => "the library that was named",
            Self::Variable => "SEATRIAL_MPI",
            Self::LibraryPath => "LD_LIBRARY_PATH",
            Self::Launcher => "the folders beside mpirun and mpiexec in PATH",
            Self::Linker => "the dynamic linker",
        }
    }
}

/// A library that may be loaded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// A file, or the name that the dynamic linker is to look up.
    pub path: PathBuf,
    pub found: Found,
}

/// The libraries that may be loaded, the one to try first at the front. `named` is what the user wants: a file or a
/// prefix; nothing else is looked at then, and the same holds for `SEATRIAL_MPI`. `env` reads a variable of the
/// environment.
pub fn candidates(named: Option<&Path>, env: impl Fn(&str) -> Option<OsString>) -> Vec<Candidate> {
    if let Some(named) = named {
        return of_place(named, Found::Named);
    }
    if let Some(place) = env("SEATRIAL_MPI").filter(|place| !place.is_empty()) {
        return of_place(Path::new(&place), Found::Variable);
    }
    let folders = |variable: &str| -> Vec<PathBuf> {
        env(variable).map(|list| std::env::split_paths(&list).collect()).unwrap_or_default()
    };
    let mut all: Vec<Candidate> = Vec::new();
    for folder in folders("LD_LIBRARY_PATH") {
        all.extend(in_folder(&folder, Found::LibraryPath));
    }
    for folder in folders("PATH") {
        for launcher in ["mpirun", "mpiexec"].map(|name| folder.join(name)) {
            // The prefix as it stands in PATH, and behind links.
            let real = launcher.canonicalize().ok();
            let prefixes = [real.as_ref().map(|_| &launcher), real.as_ref()];
            for prefix in prefixes.into_iter().flatten().filter_map(|file| file.parent()?.parent()) {
                all.extend(FOLDERS.iter().flat_map(|below| in_folder(&prefix.join(below), Found::Launcher)));
            }
        }
    }
    all.extend(NAMES.map(|name| Candidate { path: name.into(), found: Found::Linker }));
    let mut seen = BTreeSet::new();
    all.retain(|candidate| {
        seen.insert(candidate.path.canonicalize().unwrap_or_else(|_| candidate.path.clone()))
    });
    all
}

/// A file as it is; of a prefix the libraries below it.
fn of_place(place: &Path, found: Found) -> Vec<Candidate> {
    if !place.is_dir() {
        return vec![Candidate { path: place.to_owned(), found }];
    }
    FOLDERS.iter().flat_map(|below| in_folder(&place.join(below), found)).collect()
}

fn in_folder(folder: &Path, found: Found) -> Vec<Candidate> {
    let files = NAMES.iter().map(|name| folder.join(name)).filter(|file| file.is_file());
    files.map(|path| Candidate { path, found }).collect()
}

/// The launchers of the installation that the library at `path` belongs to, the one to try first at the front: in `bin`
/// of its prefix, which may be several folders up (`/usr/lib/x86_64-linux-gnu`).
pub fn launchers(path: &Path) -> Vec<PathBuf> {
    let real = path.canonicalize().ok();
    let files = [Some(path.to_owned()), real].into_iter().flatten();
    let folders: BTreeSet<PathBuf> = files
        .flat_map(|file| {
            file.ancestors().skip(2).take(3).map(|prefix| prefix.join("bin")).collect::<Vec<_>>()
        })
        .collect();
    // The innermost prefix is the one of the installation.
    let mut folders: Vec<PathBuf> = folders.into_iter().collect();
    folders.sort_by_key(|folder| std::cmp::Reverse(folder.components().count()));
    let all = folders.iter().flat_map(|folder| LAUNCHERS.map(|name| folder.join(name)));
    all.filter(|file| file.is_file()).collect()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn touch(path: &Path) {
        fs::create_dir_all(path.parent().expect("a folder")).expect("made");
        fs::write(path, "").expect("written");
    }

    #[test]
    fn what_the_user_names_comes_first_then_modules_then_the_launcher_then_the_linker() {
        let root = tempfile::tempdir().expect("a folder");
        let at = |path: &str| root.path().join(path);
        touch(&at("module/lib/libmpi.so.40"));
        touch(&at("site/bin/mpirun"));
        touch(&at("site/lib64/libmpi.so.12"));
        let env = |name: &str| match name {
            "LD_LIBRARY_PATH" => Some(at("module/lib").into_os_string()),
            "PATH" => Some(at("site/bin").into_os_string()),
            _ => None,
        };
        let found: Vec<(PathBuf, Found)> =
            candidates(None, env).into_iter().map(|one| (one.path, one.found)).collect();
        assert_eq!(found[0], (at("module/lib/libmpi.so.40"), Found::LibraryPath));
        assert_eq!(found[1], (at("site/lib64/libmpi.so.12"), Found::Launcher));
        assert_eq!(found[2], ("libmpi_abi.so.1".into(), Found::Linker));
        let named = candidates(Some(&at("site")), env);
        assert_eq!(named, [Candidate { path: at("site/lib64/libmpi.so.12"), found: Found::Named }]);
        let by_variable = candidates(None, |name| {
            if name == "SEATRIAL_MPI" {
                Some(at("module/lib/libmpi.so.40").into_os_string())
            } else {
                env(name)
            }
        });
        assert_eq!(by_variable, [Candidate { path: at("module/lib/libmpi.so.40"), found: Found::Variable }]);
        assert_eq!(candidates(Some(Path::new("libmpi.so.9")), env).len(), 1, "a name for the linker");
        assert_eq!(candidates(Some(&at("site/bin")), env), [], "no library is there");
    }

    #[test]
    fn a_launcher_is_of_the_installation_of_the_library() {
        let root = tempfile::tempdir().expect("a folder");
        let at = |path: &str| root.path().join(path);
        touch(&at("usr/bin/mpiexec.mpich"));
        touch(&at("usr/lib/arch/libmpich.so.12"));
        touch(&at("usr/lib/arch/own/lib/libmpi.so.40"));
        touch(&at("usr/lib/arch/own/bin/mpirun"));
        assert_eq!(launchers(&at("usr/lib/arch/libmpich.so.12")), [at("usr/bin/mpiexec.mpich")]);
        assert_eq!(launchers(&at("usr/lib/arch/own/lib/libmpi.so.40"))[0], at("usr/lib/arch/own/bin/mpirun"));
    }
}
