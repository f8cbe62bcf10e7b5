//! Which MPI library a job uses: found and opened by a process of its own, since a process can load only one.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use seatrial_model::{Cause, Reason};
use seatrial_sys::mpi::{Abi, Candidate, Mpi, MpiError, candidates};
use seatrial_sys::root::SysRoot;
use serde::{Deserialize, Serialize};

use super::environment;
use super::process::{Started, rank_command};
use super::wire::{FromRank, Loaded, ToRank, messages, send};

/// Time to load a library, which may come from a slow file system.
const LOAD_TIMEOUT: Duration = Duration::from_secs(20);

/// A library as the record has it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LibraryFacts {
    pub path: PathBuf,
    pub found: String,
    /// BLAKE3 of the file.
    pub hash: String,
    pub abi: String,
    pub version: String,
    pub standard: String,
    #[serde(skip)]
    pub is_open_mpi: bool,
}

impl LibraryFacts {
    /// The library that `library=` or `SEATRIAL_MPI` names; without either the first that can be loaded.
    pub fn find(asked: Option<&Path>) -> Result<Self, Reason> {
        let all = candidates(asked, |name| std::env::var_os(name));
        let variable = std::env::var_os("SEATRIAL_MPI").filter(|place| !place.is_empty()).map(PathBuf::from);
        let asked = asked.or(variable.as_deref());
        if all.is_empty() {
            return Err(absent(asked, &[]));
        }
        let paths = all.iter().map(|candidate| candidate.path.clone()).collect();
        let (loaded, refused) = look(paths)?;
        let loaded = loaded.ok_or_else(|| absent(asked, &refused))?;
        let found = all.get(loaded.candidate).map_or("", |candidate: &Candidate| candidate.found.word());
        let Loaded { path, is_open_mpi, abi, version, standard, .. } = loaded;
        let hash = hash(&path).unwrap_or_else(|error| error.to_string());
        Ok(Self { path, found: found.to_owned(), hash, abi, version, standard, is_open_mpi })
    }
}

/// A named library should be there; without a name the machine may have none.
fn absent(asked: Option<&Path>, refused: &[String]) -> Reason {
    let refused = if refused.is_empty() { "there is no such file".to_owned() } else { refused.join("; ") };
    match asked {
        Some(path) => {
            let text = format!(
                "{}, which library= or SEATRIAL_MPI names, is no MPI library: {refused}",
                path.display()
            );
            Reason::new(Cause::Missing, text)
        }
        None => {
            let text = format!(
                "no MPI library was found in LD_LIBRARY_PATH, beside mpirun and mpiexec in PATH, or by the dynamic linker \
                 ({refused}); load its module, or set SEATRIAL_MPI or -p library=PATH"
            );
            Reason::new(Cause::Inapplicable, text)
        }
    }
}

fn hash(path: &Path) -> std::io::Result<String> {
    let mut hasher = blake3::Hasher::new();
    hasher.update_reader(std::fs::File::open(path)?)?;
    Ok(hasher.finalize().to_hex().to_string())
}

/// Lets a process load the first of `candidates` that can be loaded.
fn look(candidates: Vec<PathBuf>) -> Result<(Option<Loaded>, Vec<String>), Reason> {
    let failed = |text: String| Reason::new(Cause::Launcher, text);
    let mut command = rank_command();
    // As a library that is asked outside a job must not take itself for a rank of an outer one.
    environment::scrub(&mut command);
    let mut started = Started::start(command)
        .map_err(|error| failed(format!("cannot start a process to load the MPI library: {error}")))?;
    let until = Instant::now() + LOAD_TIMEOUT;
    let called = started.accept(until);
    let (stream, process) = match called {
        Ok(Some(called)) => called,
        Ok(None) | Err(_) => {
            started.kill(&[]);
            let words = started.output.words().unwrap_or_default();
            return Err(failed(format!("the process that loads the MPI library did not call back; {words}")));
        }
    };
    let answer = (|| {
        stream.set_read_timeout(Some(LOAD_TIMEOUT)).ok()?;
        send(&stream, &ToRank::Look { candidates }).ok()?;
        messages::<FromRank>(stream).find_map(|message| match message {
            FromRank::Looked { loaded, refused } => Some((loaded, refused)),
            _ => None,
        })
    })();
    started.kill(&[process]);
    answer.ok_or_else(|| {
        let words = started.output.words().unwrap_or_else(|| "it printed nothing".to_owned());
        Reason::new(
            Cause::Crash,
            format!("the process ended or hung while it loaded the MPI library: {words}"),
        )
    })
}

/// In the process that loads: tries the candidates in their order. What cannot be loaded leaves nothing behind; what can
/// be loaded but lacks functions ends the search, since a second library would mix with it.
pub fn open_first(candidates: &[PathBuf]) -> (Option<Loaded>, Vec<String>) {
    let mut refused = Vec::new();
    for (number, candidate) in candidates.iter().enumerate() {
        let opened = Mpi::open(candidate).and_then(|mpi| {
            let version = mpi.says()?;
            let (major, minor) = mpi.standard()?;
            Ok(Loaded {
                candidate: number,
                path: file_of(candidate),
                is_open_mpi: version.contains("Open MPI"),
                abi: word_of(mpi.abi()).to_owned(),
                version: version_in(&version),
                standard: format!("{major}.{minor}"),
            })
        });
        match opened {
            Ok(loaded) => return (Some(loaded), refused),
            Err(error) => {
                refused.push(error.to_string());
                if !matches!(error, MpiError::Library(_)) {
                    break;
                }
            }
        }
    }
    (None, refused)
}

/// The version in what a library says of itself, its first line.
pub fn version_in(says: &str) -> String {
    says.lines().next().unwrap_or_default().trim().to_owned()
}

const fn word_of(abi: Abi) -> &'static str {
    match abi {
        Abi::OpenMpi => "Open MPI",
        Abi::Mpich => "MPICH",
        Abi::Standard => "MPI 5 standard",
    }
}

fn maps() -> String {
    SysRoot::live().text("/proc/self/maps").unwrap_or_default()
}

/// The loaded file of a candidate, which may be only a name for the dynamic linker.
fn file_of(candidate: &Path) -> PathBuf {
    if candidate.components().count() > 1 {
        return candidate.to_owned();
    }
    // The linker follows links, and the file has a longer name: libmpi.so.40.30.4.
    let name = candidate.display().to_string();
    let maps = maps();
    let files = maps.lines().filter_map(|line| line.find('/').map(|at| Path::new(&line[at..])));
    let is_it = |file: &&Path| {
        file.file_name().is_some_and(|own| own.to_string_lossy().starts_with(&name))
            || file
                .parent()
                .is_some_and(|folder| folder.join(&name).canonicalize().is_ok_and(|link| link == **file))
    };
    // The name that was asked for, beside the file, so that its launcher is found as that of the name.
    let found = files.into_iter().find(is_it).map(|file| {
        let asked = file.with_file_name(&name);
        if asked.exists() { asked } else { file.to_owned() }
    });
    found.unwrap_or_else(|| candidate.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_absent_library_is_skipped_and_a_named_one_is_missing() {
        let reason = absent(None, &["libmpi.so.40 not found".to_owned()]);
        assert_eq!(reason.cause, Cause::Inapplicable);
        for place in ["SEATRIAL_MPI", "LD_LIBRARY_PATH", "mpirun", "dynamic linker", "libmpi.so.40 not found"]
        {
            assert!(reason.text.contains(place), "{reason}");
        }
        let named = absent(Some(Path::new("/opt/mpi")), &[]);
        assert_eq!((named.cause, named.text.as_str()), {
            (
                Cause::Missing,
                "/opt/mpi, which library= or SEATRIAL_MPI names, is no MPI library: there is no such file",
            )
        });
    }

    #[test]
    fn the_file_of_a_name_is_the_one_that_is_loaded() {
        let file = file_of(Path::new("libc.so.6"));
        assert!(file.is_absolute() && file.ends_with("libc.so.6"), "{}", file.display());
        assert_eq!(file_of(Path::new("/a/libmpi.so.40")), Path::new("/a/libmpi.so.40"));
        assert_eq!(file_of(Path::new("libmpi-of-nobody.so")), Path::new("libmpi-of-nobody.so"));
    }
}
