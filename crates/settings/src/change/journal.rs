//! The journals of a node: what every value was before it was changed.
//!
//! One file of JSON lines for each order, in a folder for each host, since nodes may share `/var`. A line is on the disk
//! before what it announces is done, so that a process that is killed, or a node without power, leaves nothing that
//! cannot be taken back.

use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;
use seatrial_sys::root::SysRoot;
use serde::{Deserialize, Serialize};

use super::durable::sync;
use super::files::KernelFiles;

/// Folder of the journals; below it a folder for each host.
const FOLDER: &str = "/var/lib/seatrial/settings";

const EXTENSION: &str = "jsonl";

/// Extension of the program that restores a journal after a time.
const PROGRAM: &str = "program";

/// Raised when an older program would misread a journal.
const SCHEMA: u32 = 2;

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Line {
    Begun { schema: u32, seatrial: String },
    Announced(Announced),
    Held { entry: usize, text: String },
    Closed { entry: usize },
}

/// A file that is to be written next.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Announced {
    pub setting: String,
    pub path: String,
    /// The content before.
    pub before: String,
    /// The text that is written.
    pub wanted: String,
    /// Whether it is an ordinary file that did not exist, and is removed again.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_file: bool,
}

#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub announced: Announced,
    /// The content after it was written; `None` where the process ended before it was read back.
    pub held: Option<String>,
    /// Taken back, or never written.
    pub closed: bool,
}

/// The journals of this host, for one process alone until this is dropped.
pub(super) struct Journals {
    folder: PathBuf,
    _lock: File,
}

/// An open journal.
pub(super) struct Journal {
    file: File,
    path: PathBuf,
    pub entries: Vec<Entry>,
}

fn folder(root: &SysRoot) -> PathBuf {
    let host = root.text("/proc/sys/kernel/hostname").unwrap_or_default();
    let plain = |c: char| if c.is_ascii_alphanumeric() || c == '-' || c == '.' { c } else { '_' };
    let host: String = host.chars().map(plain).collect();
    let host = host.trim_start_matches('.');
    root.locate(FOLDER).join(if host.is_empty() { "localhost" } else { host })
}

/// Ids of the journals, the oldest first.
pub(super) fn ids(root: &SysRoot) -> Result<Vec<String>, String> {
    let folder = folder(root);
    let entries = match fs::read_dir(&folder) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries.map_err(|error| failed("reading", &folder, &error))?,
    };
    let mut ids = Vec::new();
    for entry in entries {
        let path = entry.map_err(|error| failed("reading", &folder, &error))?.path();
        if path.extension().is_some_and(|extension| extension == EXTENSION) {
            ids.extend(path.file_stem().map(|stem| stem.to_string_lossy().into_owned()));
        }
    }
    ids.sort_unstable();
    Ok(ids)
}

/// Whether the changes of the journal `id` were not taken back yet.
pub fn journal_exists(root: &SysRoot, id: &str) -> bool {
    path(&folder(root), id).exists()
}

/// Copies the program that restores the journal `id` beside it, for a time when its file is gone; returns the path. The copy
/// goes with the journal.
pub fn keep_program(root: &SysRoot, id: &str, program: &Path) -> Result<PathBuf, String> {
    let folder = folder(root);
    create(&folder).map_err(|error| failed("creating", &folder, &error))?;
    let copy = folder.join(id).with_extension(PROGRAM);
    // With the mode of the file.
    fs::copy(program, &copy).map_err(|error| failed("copying the program to", &copy, &error))?;
    Ok(copy)
}

fn path(folder: &Path, id: &str) -> PathBuf {
    folder.join(format!("{id}.{EXTENSION}"))
}

pub(super) fn failed(doing: &str, path: &Path, error: &io::Error) -> String {
    let remedy = match error.kind() {
        ErrorKind::PermissionDenied => ": run it as root",
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => ": make room there",
        ErrorKind::ReadOnlyFilesystem => ": the journal needs a place that can be written to",
        _ => "",
    };
    format!("{doing} {}: {error}{remedy}", path.display())
}

/// Creates a folder and those above it, each synced.
fn create(folder: &Path) -> io::Result<()> {
    let Some(parent) = folder.parent().filter(|_| !folder.is_dir()) else { return Ok(()) };
    create(parent)?;
    match fs::create_dir(folder) {
        Err(error) if error.kind() != ErrorKind::AlreadyExists => Err(error),
        _ => sync(parent),
    }
}

impl Journals {
    pub(super) fn open(root: &SysRoot) -> Result<Self, String> {
        let folder = folder(root);
        create(&folder).map_err(|error| failed("creating", &folder, &error))?;
        let lock = File::open(&folder).map_err(|error| failed("opening", &folder, &error))?;
        match flock(&lock, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => Ok(Self { folder, _lock: lock }),
            Err(Errno::WOULDBLOCK) => {
                Err("another `seatrial settings` changes this node now: wait until it has \
                                           ended"
                    .to_owned())
            }
            Err(errno) => Err(failed("locking", &folder, &errno.into())),
        }
    }

    /// Begins the journal `id`.
    pub(super) fn begin(&self, id: &str, files: &dyn KernelFiles) -> Result<Journal, String> {
        let path = path(&self.folder, id);
        let created = OpenOptions::new().append(true).create_new(true).open(&path);
        let file = created.map_err(|error| failed("creating", &path, &error))?;
        let mut journal = Journal { file, path, entries: Vec::new() };
        let seatrial = env!("CARGO_PKG_VERSION").to_owned();
        journal.append(&Line::Begun { schema: SCHEMA, seatrial }, files)?;
        sync(&self.folder).map_err(|error| failed("syncing", &self.folder, &error))?;
        files.step();
        Ok(journal)
    }

    /// Opens the journal `id`; `None` where it does not exist. A last line that was torn was never acted on, and is cut.
    pub(super) fn resume(&self, id: &str) -> Result<Option<Journal>, String> {
        let path = path(&self.folder, id);
        let text = match fs::read_to_string(&path) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            text => text.map_err(|error| failed("reading", &path, &error))?,
        };
        let whole = text.rfind('\n').map_or(0, |at| at + 1);
        let mut entries: Vec<Entry> = Vec::new();
        for (at, line) in text[..whole].lines().enumerate() {
            let damaged = |why: String| format!("{} is damaged in line {}: {why}", path.display(), at + 1);
            let line = serde_json::from_str(line).map_err(|error| damaged(error.to_string()))?;
            let unknown = || damaged("it names an entry that does not exist".to_owned());
            match line {
                Line::Begun { schema, seatrial } if schema > SCHEMA => {
                    return Err(format!(
                        "{} is of Seatrial {seatrial}: restore with that version",
                        path.display()
                    ));
                }
                Line::Begun { .. } => {}
                Line::Announced(announced) => entries.push(Entry { announced, held: None, closed: false }),
                Line::Held { entry, text } => {
                    entries.get_mut(entry).ok_or_else(unknown)?.held = Some(text);
                }
                Line::Closed { entry } => entries.get_mut(entry).ok_or_else(unknown)?.closed = true,
            }
        }
        let file = OpenOptions::new().append(true).open(&path);
        let file = file.and_then(|file| file.set_len(whole as u64).map(|()| file));
        let file = file.map_err(|error| failed("opening", &path, &error))?;
        Ok(Some(Journal { file, path, entries }))
    }

    /// Removes a journal of which nothing is to be taken back, and the program of its timer, which has nothing to do then.
    pub(super) fn remove(&self, journal: &Journal, files: &dyn KernelFiles) -> Result<(), String> {
        // Only a change for a time has one.
        let _ = fs::remove_file(journal.path.with_extension(PROGRAM));
        let removed = fs::remove_file(&journal.path).and_then(|()| sync(&self.folder));
        files.step();
        removed.map_err(|error| failed("removing", &journal.path, &error))
    }
}

impl Journal {
    fn append(&mut self, line: &Line, files: &dyn KernelFiles) -> Result<(), String> {
        let written = serde_json::to_vec(line).map_err(io::Error::from).and_then(|mut text| {
            text.push(b'\n');
            self.file.write_all(&text)?;
            self.file.sync_all()
        });
        files.step();
        written.map_err(|error| failed("writing", &self.path, &error))
    }

    /// Notes what is written next; returns the number of the entry.
    pub(super) fn announce(
        &mut self,
        announced: Announced,
        files: &dyn KernelFiles,
    ) -> Result<usize, String> {
        self.append(&Line::Announced(announced.clone()), files)?;
        self.entries.push(Entry { announced, held: None, closed: false });
        Ok(self.entries.len() - 1)
    }

    pub(super) fn hold(&mut self, entry: usize, text: &str, files: &dyn KernelFiles) -> Result<(), String> {
        self.append(&Line::Held { entry, text: text.to_owned() }, files)?;
        self.entries[entry].held = Some(text.to_owned());
        Ok(())
    }

    pub(super) fn close(&mut self, entry: usize, files: &dyn KernelFiles) -> Result<(), String> {
        self.append(&Line::Closed { entry }, files)?;
        self.entries[entry].closed = true;
        Ok(())
    }

    pub(super) fn has_open_entries(&self) -> bool {
        self.entries.iter().any(|entry| !entry.closed)
    }
}
