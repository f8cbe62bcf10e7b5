//! Peers that are no Debian packages: fetched at a fixed commit and built below the target folder by `--prepare`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};

use super::ours::target;
use crate::packages::{self, Package};
use crate::workspace;

/// A program of others, built from its public source.
#[derive(Debug)]
pub struct Peer {
    /// The word behind `--source`, and the start of the folder's name.
    pub name: &'static str,
    /// The area whose rows need it.
    pub area: &'static str,
    /// Repository of the source.
    pub url: &'static str,
    /// The commit that is built.
    pub commit: &'static str,
    /// Debian packages without which it is not built.
    pub packages: &'static [Package],
    /// Commands of a shell, run in the folder of the source.
    pub build: &'static str,
    /// What is there when it is built, below the folder of the source.
    pub programs: &'static [&'static str],
}

pub const GCC: Package = Package { name: "gcc", program: "gcc", reason: "peers are built by it" };
pub const GIT: Package = Package { name: "git", program: "git", reason: "peers are fetched by it" };
pub const MAKE: Package = Package { name: "make", program: "make", reason: "peers are built by it" };
/// What builds peers that come without `configure`.
pub const AUTOTOOLS: &[Package] = &[
    GCC,
    GIT,
    MAKE,
    Package { name: "autoconf", program: "autoconf", reason: "peers are configured by it" },
    Package { name: "automake", program: "automake", reason: "peers are configured by it" },
    Package {
        name: "libopenmpi-dev",
        program: "mpicc",
        reason: "peers that are ranks of MPI are built by it",
    },
];

/// Written when everything is built.
const STAMP: &str = ".built";

impl Peer {
    /// Fetches the peer, from the folder or repository `source` where one is given, and builds it, unless that is done.
    ///
    /// # Errors
    /// When a package is missing, the source or its commit is not there, or it does not build.
    pub fn prepare(&self, source: Option<&Path>) -> Result<()> {
        packages::require(self.packages)?;
        self.prepare_in(&root(), source).with_context(|| format!("cannot prepare {}", self.name))
    }

    /// The file of a program.
    ///
    /// # Errors
    /// When the peer is not prepared.
    pub fn program(&self, name: &str) -> Result<PathBuf> {
        let folder = self.folder(&root());
        ensure!(
            folder.join(STAMP).is_file(),
            "{} is not prepared: cargo xtask versus {} --prepare",
            self.name,
            self.area
        );
        Ok(folder.join(name))
    }

    /// Why its rows are left out, where it is not prepared.
    pub fn hindrance(&self) -> Option<String> {
        self.program("").err().map(|error| error.to_string())
    }

    fn folder(&self, root: &Path) -> PathBuf {
        root.join(format!("{}-{}", self.name, self.commit.get(..12).unwrap_or(self.commit)))
    }

    fn prepare_in(&self, root: &Path, source: Option<&Path>) -> Result<()> {
        let folder = self.folder(root);
        if folder.join(STAMP).is_file() {
            eprintln!("{} is prepared: {}", self.name, folder.display());
            return Ok(());
        }
        // What a run that was interrupted left.
        if folder.exists() {
            fs::remove_dir_all(&folder).with_context(|| format!("cannot remove {}", folder.display()))?;
        }
        fs::create_dir_all(root).with_context(|| format!("cannot make {}", root.display()))?;
        self.fetch(&folder, source)?;
        workspace::run(Command::new("sh").args(["-e", "-c", self.build]).current_dir(&folder))?;
        for program in self.programs {
            ensure!(folder.join(program).is_file(), "the build made no {program}");
        }
        fs::write(folder.join(STAMP), self.commit).context("cannot note that it is built")
    }

    /// Into `folder`: the commit of a repository, or a copy of a folder without one.
    fn fetch(&self, folder: &Path, source: Option<&Path>) -> Result<()> {
        if let Some(copied) = source.filter(|source| !is_repository(source)) {
            ensure!(copied.is_dir(), "{} is no folder", copied.display());
            return workspace::run(Command::new("cp").args(["-r", "--"]).args([copied, folder]));
        }
        let from = source.unwrap_or(Path::new(self.url));
        let mut clone = Command::new("git");
        workspace::run(clone.args(["clone", "--quiet", "--no-checkout", "--"]).args([from, folder]))?;
        let mut checkout = Command::new("git");
        checkout.arg("-C").arg(folder).args(["checkout", "--quiet", "--detach", self.commit]);
        workspace::run(&mut checkout)
    }
}

/// Whether a folder is a git repository, with or without a work tree.
fn is_repository(folder: &Path) -> bool {
    folder.join(".git").exists() || folder.join("HEAD").is_file() && folder.join("objects").is_dir()
}

fn root() -> PathBuf {
    target().join("peers")
}

/// Prepares `peers`, those named in `sources` from there; all of them, even if one fails.
///
/// # Errors
/// When a source names none of them, or one could not be prepared; the message says which.
pub fn prepare(peers: &[&Peer], sources: &[(String, PathBuf)]) -> Result<()> {
    let known: Vec<&str> = peers.iter().map(|peer| peer.name).collect();
    for (name, _) in sources {
        ensure!(
            known.contains(&name.as_str()),
            "--source names '{name}'; what is prepared: {}",
            known.join(", ")
        );
    }
    let mut failed = Vec::new();
    for peer in peers {
        let source = sources.iter().find(|(name, _)| name == peer.name).map(|(_, folder)| folder.as_path());
        if let Err(error) = peer.prepare(source) {
            eprintln!("{error:#}");
            failed.push(peer.name);
        }
    }
    match failed.as_slice() {
        [] => Ok(()),
        failed => bail!("not prepared: {}", failed.join(", ")),
    }
}

/// `NAME=FOLDER` of `--source`.
pub fn source(text: &str) -> Result<(String, PathBuf), String> {
    let (name, folder) = text.split_once('=').ok_or("give NAME=FOLDER")?;
    Ok((name.to_owned(), PathBuf::from(folder)))
}

#[cfg(test)]
mod tests {
    use super::super::AREAS;
    use super::*;

    const TOY: Peer = Peer {
        name: "toy",
        area: "memory",
        url: "/nonexistent/toy",
        commit: "0123456789abcdef0123456789abcdef01234567",
        packages: &[],
        build: "cat words > program",
        programs: &["program"],
    };

    #[test]
    fn a_peer_is_built_once_from_the_folder_that_is_given() {
        let (source, root) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        fs::write(source.path().join("words"), "first").unwrap();
        TOY.prepare_in(root.path(), Some(source.path())).unwrap();
        let program = TOY.folder(root.path()).join("program");
        assert!(program.starts_with(root.path().join("toy-0123456789ab")));
        assert_eq!(fs::read_to_string(&program).unwrap(), "first");
        fs::write(source.path().join("words"), "second").unwrap();
        TOY.prepare_in(root.path(), Some(source.path())).unwrap();
        assert_eq!(fs::read_to_string(&program).unwrap(), "first", "it is there");
    }

    #[test]
    fn what_does_not_build_is_told_and_begun_anew_the_next_time() {
        let (source, root) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        assert!(TOY.prepare_in(root.path(), Some(source.path())).is_err(), "there are no words");
        fs::write(source.path().join("words"), "later").unwrap();
        TOY.prepare_in(root.path(), Some(source.path())).unwrap();
        let makes_nothing = Peer { name: "idle", build: "true", ..TOY };
        let error = makes_nothing.prepare_in(root.path(), Some(source.path())).unwrap_err();
        assert_eq!(error.to_string(), "the build made no program");
        let gone = TOY.fetch(&root.path().join("new"), Some(Path::new("/nonexistent"))).unwrap_err();
        assert_eq!(gone.to_string(), "/nonexistent is no folder");
    }

    #[test]
    fn rows_of_a_peer_that_is_not_prepared_say_the_command() {
        assert_eq!(TOY.hindrance().unwrap(), "toy is not prepared: cargo xtask versus memory --prepare");
        let error = prepare(&[&TOY], &[("boat".to_owned(), PathBuf::new())]).unwrap_err();
        assert_eq!(error.to_string(), "--source names 'boat'; what is prepared: toy");
        assert_eq!(source("toy=/src/toy"), Ok(("toy".to_owned(), PathBuf::from("/src/toy"))));
        assert!(source("toy").is_err());
    }

    #[test]
    fn every_peer_has_a_name_of_its_own_and_a_whole_commit() {
        let peers: Vec<&Peer> = AREAS.iter().flat_map(|area| area.peers).copied().collect();
        for area in AREAS {
            assert!(area.peers.iter().all(|peer| peer.area == area.name), "{}", area.name);
        }
        for peer in &peers {
            let is_hex = peer.commit.len() == 40 && peer.commit.chars().all(|c| c.is_ascii_hexdigit());
            assert!(is_hex && !peer.programs.is_empty(), "{}", peer.name);
            assert_eq!(peers.iter().filter(|other| other.name == peer.name).count(), 1, "{}", peer.name);
        }
    }
}
