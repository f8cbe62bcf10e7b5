//! Folders that tests made with names and that somebody who was killed left behind: whose they are, and removing them.
//!
//! Most files of tests have no name and vanish with their process. Those of `storage.metadata` are about names, those of
//! `storage.peer_read` must be found by another node, and those of `transfer.*` by the tools that copy them; they stand in a
//! folder of their own with a manifest.
//! Before a worker makes one it announces it to its agent, which removes it when the worker is gone and has not. Where
//! the agent was killed too, the next trial in the same directory removes it, or `seatrial clean`.

mod announce;
mod manifest;
mod remove;
#[cfg(test)]
mod tests;

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

pub use announce::{Announced, announce, announced};
pub use manifest::{MANIFEST, Manifest};
pub use remove::{Inside, inside, remove};

/// What the name of every such folder begins with; the last word of the benchmark's id and a number follow.
const PREFIX: &str = ".seatrial-";

/// Digits of the number at the end of a name.
const DIGITS: usize = 16;

/// Name of the folder inside for what all threads, or all nodes, work on.
pub const SHARED: &str = "shared";

/// A folder without a manifest is taken for one that is being made for so long.
const YOUNG: Duration = Duration::from_secs(60);

/// In the evidence, the folders of killed trials that the next one removed.
pub const REMOVED: &str = "leftovers";

/// In the evidence, those that could not be removed, and why.
pub const KEPT: &str = "leftovers_kept";

/// A folder whose name is one of ours.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StaleDir {
    pub path: PathBuf,
    /// What its manifest says; none when it has none that can be read.
    pub manifest: Option<Manifest>,
    /// What may be done with it.
    pub standing: Standing,
}

/// What may be done with something by a name of ours.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Standing {
    /// Its process is gone: nobody needs it.
    Abandoned,
    Alive,
    /// Its process was on another host, or in another container, of which nothing can be told here.
    Elsewhere,
    /// It is not what a test makes, and why.
    Strange(String),
}

/// What the names of a benchmark's folders begin with.
pub fn prefix(bench: &str) -> String {
    let word = bench.rsplit('.').next().unwrap_or(bench);
    format!("{PREFIX}{word}-")
}

/// The name of a folder of a benchmark.
pub fn name(bench: &str, number: u64) -> String {
    format!("{}{number:0width$x}", prefix(bench), width = DIGITS)
}

/// Everything in `directory` that has a name of ours, by name; `directory` itself when it has one.
pub fn find(directory: &Path) -> io::Result<Vec<StaleDir>> {
    if directory.file_name().is_some_and(|name| is_name(&name.to_string_lossy())) {
        return fs::symlink_metadata(directory).map(|_| vec![of(directory.to_owned())]);
    }
    let mut found = Vec::new();
    for entry in fs::read_dir(directory)? {
        let entry = entry?;
        if is_name(&entry.file_name().to_string_lossy()) {
            found.push(of(entry.path()));
        }
    }
    found.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(found)
}

/// Whether a name is one that a test gives: `.seatrial-metadata-0123456789abcdef`.
fn is_name(name: &str) -> bool {
    let Some((word, number)) = name.strip_prefix(PREFIX).and_then(|rest| rest.rsplit_once('-')) else {
        return false;
    };
    let is_digit = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
    number.len() == DIGITS
        && number.bytes().all(is_digit)
        && !word.is_empty()
        && word.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_')
}

/// What is at `path`, which has a name of ours.
fn of(path: PathBuf) -> StaleDir {
    let strange = |path: PathBuf, why: &str| StaleDir {
        path,
        manifest: None,
        standing: Standing::Strange(why.to_owned()),
    };
    // Of the thing itself: a link is not followed.
    let about = match fs::symlink_metadata(&path) {
        Ok(about) => about,
        Err(error) => return strange(path, &format!("it cannot be looked at: {error}")),
    };
    if !about.is_dir() {
        return strange(path, if about.is_symlink() { "it is a link" } else { "it is not a folder" });
    }
    match Manifest::read(&path) {
        Ok(manifest) => {
            let wanted = prefix(&manifest.benchmark);
            let is_named = path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(&wanted));
            let standing = match is_named {
                true => manifest.standing(is_shared(&path)),
                false => Standing::Strange(format!("its manifest is one of {}", manifest.benchmark)),
            };
            StaleDir { path, manifest: Some(manifest), standing }
        }
        Err(why) => {
            let is_empty = is_just_begun(&path);
            let is_young =
                about.modified().ok().and_then(|at| at.elapsed().ok()).is_none_or(|age| age < YOUNG);
            let is_ours = about.uid() == rustix::process::geteuid().as_raw();
            // Killed between making the folder and having written the manifest.
            let standing = match (is_empty, is_young) {
                (true, true) => Standing::Alive,
                (true, false) if is_ours => Standing::Abandoned,
                _ => Standing::Strange(why),
            };
            StaleDir { path, manifest: None, standing }
        }
    }
}

/// File systems without a block device that are of one host nevertheless (statfs(2)): tmpfs, ramfs, btrfs, ZFS,
/// bcachefs, overlayfs.
const OF_ONE_HOST: [i64; 6] = [0x0102_1994, 0x8584_58f6, 0x9123_683e, 0x2fc1_2fc1, 0xca45_1a4e, 0x794c_7630];

/// Whether other hosts may see what is at `path` too, as on a file system of the network.
fn is_shared(path: &Path) -> bool {
    let Ok(about) = fs::symlink_metadata(path) else { return true };
    #[expect(clippy::useless_conversion, reason = "another width on other architectures")]
    let is_of_one = |told: rustix::fs::StatFs| OF_ONE_HOST.contains(&i64::from(told.f_type));
    // What is on no block device has a number of major 0.
    rustix::fs::major(about.dev()) == 0 && !rustix::fs::statfs(path).is_ok_and(is_of_one)
}

/// Whether the folder at `path` is empty but for a manifest without a word in it.
fn is_just_begun(path: &Path) -> bool {
    let is_blank = |entry: fs::DirEntry| {
        let is_empty_file = entry.metadata().is_ok_and(|about| about.is_file() && about.len() == 0);
        is_empty_file && entry.file_name() == MANIFEST
    };
    fs::read_dir(path).is_ok_and(|mut entries| entries.all(|entry| entry.is_ok_and(is_blank)))
}
