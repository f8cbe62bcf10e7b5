//! `manifest.json`: names, sizes and checksums of all files.

use serde::{Deserialize, Serialize};

use super::Fault;

/// Raised when an older Seatrial would misread the archive.
pub const SCHEMA: u32 = 1;

/// First key of the manifest.
const FORMAT: &str = "seatrial-evidence";

pub const NAME: &str = "manifest.json";

/// Largest manifest in bytes: room for some hundred thousand files.
pub const MOST_BYTES: u64 = 64 << 20;

/// Largest file in bytes. Files are parsed in memory. The largest holds all records, of about 10 kB each: room for a
/// hundred thousand cases.
const MOST_OF_FILE: u64 = 1 << 30;

/// Largest sum of all files in bytes: unpacked and checked in some minutes. Samples of a hundred thousand cases, of
/// about 100 kB each, are a sixth of it.
const MOST_OF_ALL: u64 = 64 << 30;

/// Largest compression ratio: samples reach ten to a hundred, decompression bombs ten thousand and more.
const MOST_EXPANSION: u64 = 2000;

/// Contents up to this size in bytes are accepted at any compression ratio.
const ALWAYS_TAKEN: u64 = 64 << 20;

/// Longest path in characters.
const LONGEST: usize = 300;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifest {
    pub format: String,
    pub schema: u32,
    /// Id of the run, and folder of all files in the archive.
    pub run: String,
    /// All other files, sorted by the bytes of their paths.
    pub files: Vec<Listed>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Listed {
    /// Path in the run folder.
    pub path: String,
    pub bytes: u64,
    /// SHA-256 of the contents, in lower-case hexadecimal.
    pub sha256: String,
}

#[derive(Deserialize)]
struct Version {
    format: String,
    schema: u32,
}

impl Manifest {
    pub fn new(run: String, mut files: Vec<Listed>) -> Self {
        files.sort_by(|a, b| a.path.cmp(&b.path));
        Self { format: FORMAT.to_owned(), schema: SCHEMA, run, files }
    }

    pub fn text(&self) -> Vec<u8> {
        // Strings and numbers always have a JSON form.
        let mut text = serde_json::to_vec_pretty(self).unwrap_or_default();
        text.push(b'\n');
        text
    }

    /// Parses the manifest of an archive of `archive_bytes` bytes, and refuses whatever no export writes.
    pub fn read(text: &[u8], archive_bytes: u64) -> Result<Self, Refused> {
        let refuse = |text: String| Refused::Fault(Fault::of(NAME, text));
        let version: Version =
            serde_json::from_slice(text).map_err(|error| refuse(format!("it is not a manifest: {error}")))?;
        if version.format != FORMAT {
            return Err(refuse(format!("it is of another type of archive, '{}'", version.format)));
        }
        if version.schema > SCHEMA {
            return Err(Refused::Newer(version.schema));
        }
        let manifest: Self =
            serde_json::from_slice(text).map_err(|error| refuse(format!("it is not a manifest: {error}")))?;
        if manifest.text() != text {
            return Err(refuse("it was changed: it is not written as Seatrial writes it".to_owned()));
        }
        if !is_plain(&manifest.run) {
            return Err(refuse(format!("'{}' is not the id of a run", manifest.run)));
        }
        manifest.require_paths().map_err(refuse)?;
        manifest.require_sizes(archive_bytes).map_err(refuse)?;
        Ok(manifest)
    }

    fn require_paths(&self) -> Result<(), String> {
        for file in &self.files {
            if !is_path(&file.path) || file.path == NAME {
                return Err(format!(
                    "it lists '{}', which is not a path within a run folder",
                    file.path.escape_default()
                ));
            }
        }
        for pair in self.files.windows(2) {
            if pair[0].path == pair[1].path {
                return Err(format!("it lists {} twice", pair[0].path));
            }
            if pair[0].path > pair[1].path {
                return Err(format!("it lists {} after {}", pair[1].path, pair[0].path));
            }
        }
        Ok(())
    }

    fn require_sizes(&self, archive_bytes: u64) -> Result<(), String> {
        if let Some(file) = self.files.iter().find(|file| file.bytes > MOST_OF_FILE) {
            return Err(format!("{} has {} B; a file of a run is never so large", file.path, file.bytes));
        }
        let total = self.files.iter().fold(0_u64, |sum, file| sum.saturating_add(file.bytes));
        if total > MOST_OF_ALL {
            return Err(format!("its files have {total} B; no run has more than {MOST_OF_ALL} B"));
        }
        if total > ALWAYS_TAKEN.max(archive_bytes.saturating_mul(MOST_EXPANSION)) {
            return Err(format!(
                "{archive_bytes} B unpack to {total} B, more than {MOST_EXPANSION} times as much: a \
                 decompression bomb"
            ));
        }
        Ok(())
    }
}

pub enum Refused {
    Fault(Fault),
    /// A format version that this build does not know.
    Newer(u32),
}

/// Whether `path` names a file in the run folder or a folder of it.
pub fn is_path(path: &str) -> bool {
    let mut names = path.split('/');
    path.len() <= LONGEST && names.clone().count() <= 2 && names.all(is_plain)
}

/// Whether `name` is one plain file name on every system.
pub fn is_plain(name: &str) -> bool {
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_');
    !name.is_empty() && !name.starts_with('.') && name.chars().all(fits)
}
