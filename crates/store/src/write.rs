//! Crash-safe writes: whole files by rename, lines by append, both synced before they count.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use rustix::io::Errno;
use serde::Serialize;

use crate::StoreError;

/// A file to which lines of JSON are appended; a line that fails half-way (no space) is cut off.
#[derive(Debug)]
pub struct Lines {
    file: File,
    path: PathBuf,
    /// Length up to the last whole line.
    length: u64,
}

/// Replaces the file at `path` by `value`, whole or not at all: syncs a temporary file and renames it.
pub fn replace<T: Serialize>(path: &Path, value: &T) -> Result<(), StoreError> {
    put(path, value, write_synced)?;
    sync_folder(path.parent().unwrap_or(Path::new(".")))
}

/// The same without sync; see [`sync_file_system`].
pub fn replace_unsynced<T: Serialize>(path: &Path, value: &T) -> Result<(), StoreError> {
    put(path, value, |temporary, text| fs::write(temporary, text))
}

fn put<T: Serialize>(
    path: &Path,
    value: &T,
    write: fn(&Path, &[u8]) -> io::Result<()>,
) -> Result<(), StoreError> {
    let text = text_of(value).map_err(|source| StoreError::Unwritable { path: path.to_owned(), source })?;
    let mut temporary = path.as_os_str().to_owned();
    temporary.push(".tmp");
    let temporary = PathBuf::from(temporary);
    let written = write(&temporary, &text).and_then(|()| fs::rename(&temporary, path));
    if let Err(source) = written {
        // The first error matters; the next attempt overwrites the temporary file.
        let _ = fs::remove_file(&temporary);
        return Err(StoreError::io("writing", path, source));
    }
    Ok(())
}

pub fn text_of<T: Serialize>(value: &T) -> serde_json::Result<Vec<u8>> {
    let mut text = serde_json::to_vec_pretty(value)?;
    text.push(b'\n');
    Ok(text)
}

/// Syncs the file system of `folder`: one wait for any number of files. It also waits for writes of others
/// (syncfs(2)), so it is for many files only.
pub fn sync_file_system(folder: &Path) -> Result<(), StoreError> {
    let synced = File::open(folder).and_then(|file| Ok(rustix::fs::syncfs(file)?));
    synced.map_err(|source| StoreError::io("syncing", folder, source))
}

fn write_synced(path: &Path, text: &[u8]) -> io::Result<()> {
    let mut file = File::create(path)?;
    file.write_all(text)?;
    file.sync_all()
}

/// Syncs the names in `folder`. File systems that cannot sync a folder (EINVAL) store names in their own way.
pub fn sync_folder(folder: &Path) -> Result<(), StoreError> {
    let synced = File::open(folder).and_then(|file| Ok(rustix::fs::fsync(file)?));
    match synced {
        Err(error) if error.raw_os_error() == Some(Errno::INVAL.raw_os_error()) => Ok(()),
        other => other.map_err(|source| StoreError::io("syncing", folder, source)),
    }
}

impl Lines {
    /// Opens or creates the file at `path`. Bytes after its last line feed were torn by a crash and are cut.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        let failed = |source| StoreError::io("opening", path, source);
        let file = OpenOptions::new().read(true).append(true).create(true).open(path).map_err(failed)?;
        let text = fs::read(path).map_err(failed)?;
        let length = whole_lines(&text) as u64;
        if length < text.len() as u64 {
            file.set_len(length).map_err(failed)?;
        }
        Ok(Self { file, path: path.to_owned(), length })
    }

    pub fn append<T: Serialize>(&mut self, value: &T) -> Result<(), StoreError> {
        let mut line = serde_json::to_vec(value)
            .map_err(|source| StoreError::Unwritable { path: self.path.clone(), source })?;
        line.push(b'\n');
        match self.file.write_all(&line) {
            Ok(()) => {
                self.length += line.len() as u64;
                Ok(())
            }
            Err(source) => {
                // If this fails too, the reader drops the torn line.
                let _ = self.file.set_len(self.length);
                Err(StoreError::io("appending to", &self.path, source))
            }
        }
    }

    pub fn sync(&self) -> Result<(), StoreError> {
        self.file.sync_data().map_err(|source| StoreError::io("syncing", &self.path, source))
    }
}

/// Length of the whole lines of `text`: a line counts once its line feed is written.
pub fn whole_lines(text: &[u8]) -> usize {
    text.iter().rposition(|byte| *byte == b'\n').map_or(0, |position| position + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_torn_line_is_cut_before_the_next_one_is_appended() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lines");
        fs::write(&path, "1\n2\n{\"torn").unwrap();
        let mut lines = Lines::open(&path).unwrap();
        lines.append(&3).unwrap();
        lines.sync().unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "1\n2\n3\n");
    }

    #[test]
    fn replacing_leaves_no_temporary_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("value.json");
        replace(&path, &1).unwrap();
        replace(&path, &2).unwrap();
        let names: Vec<_> =
            fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(names, ["value.json"]);
        assert_eq!(fs::read_to_string(&path).unwrap(), "2\n");
    }
}
