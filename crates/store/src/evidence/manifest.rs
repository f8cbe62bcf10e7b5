//! `manifest.json`: which files there are, how large, and their sums.

use serde::{Deserialize, Serialize};

use super::Fault;

/// Rises when an older Seatrial would misread the form of the archive.
pub const SCHEMA: u32 = 1;

/// What the first key of the manifest says.
const FORMAT: &str = "seatrial-evidence";

/// The name of the manifest in the archive.
pub const NAME: &str = "manifest.json";

/// Bytes of a manifest at most: room for some hundred thousand files.
pub const MOST_BYTES: u64 = 64 << 20;

/// Bytes of one file at most. A file is in memory while it is looked at, and what is read of it some times over. The largest
/// is the one with all records, of some 10 kB each: this is room for a hundred thousand cases.
const MOST_OF_FILE: u64 = 1 << 30;

/// Bytes of all files at most: as much as can be unpacked and summed up in some minutes. The samples of a hundred thousand
/// cases, of some 100 kB each, are a sixth of it.
const MOST_OF_ALL: u64 = 64 << 30;

/// How many times as large as the compressed archive its contents may be. Samples compress ten to a hundred times; what was
/// made to fill a disk or a memory, ten thousand times and more.
const MOST_EXPANSION: u64 = 2000;

/// Contents up to this size are taken however well they compress, in bytes.
const ALWAYS_TAKEN: u64 = 64 << 20;

/// Characters of a path at most.
const LONGEST: usize = 300;

/// What an evidence file holds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifest {
    /// What sort of archive it is.
    pub format: String,
    /// The version of its form.
    pub schema: u32,
    /// The id of the run, which is also the folder that everything in the archive is in.
    pub run: String,
    /// Every other file, by the bytes of its path.
    pub files: Vec<Listed>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Listed {
    /// Path within the run folder.
    pub path: String,
    pub bytes: u64,
    /// SHA-256 of its contents, in lower-case hexadecimal.
    pub sha256: String,
}

#[derive(Deserialize)]
struct Version {
    format: String,
    schema: u32,
}

impl Manifest {
    /// The manifest of these files.
    pub fn new(run: String, mut files: Vec<Listed>) -> Self {
        files.sort_by(|a, b| a.path.cmp(&b.path));
        Self { format: FORMAT.to_owned(), schema: SCHEMA, run, files }
    }

    /// Its bytes in the archive.
    pub fn text(&self) -> Vec<u8> {
        // Strings and numbers always have a form in JSON.
        let mut text = serde_json::to_vec_pretty(self).unwrap_or_default();
        text.push(b'\n');
        text
    }

    /// Reads a manifest out of an archive of so many bytes, and refuses whatever no export writes.
    pub fn read(text: &[u8], archive_bytes: u64) -> Result<Self, Refused> {
        let refuse = |text: String| Refused::Fault(Fault::of(NAME, text));
        let version: Version =
            serde_json::from_slice(text).map_err(|error| refuse(format!("it is not a manifest: {error}")))?;
        if version.format != FORMAT {
            return Err(refuse(format!("it is of another sort of archive, '{}'", version.format)));
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
                return Err(format!("it lists {} behind {}", pair[1].path, pair[0].path));
            }
        }
        Ok(())
    }

    fn require_sizes(&self, archive_bytes: u64) -> Result<(), String> {
        if let Some(file) = self.files.iter().find(|file| file.bytes > MOST_OF_FILE) {
            return Err(format!(
                "{} is to have {} B; a file of a run is never so large",
                file.path, file.bytes
            ));
        }
        let total = self.files.iter().fold(0_u64, |sum, file| sum.saturating_add(file.bytes));
        if total > MOST_OF_ALL {
            return Err(format!("its files are to have {total} B; no run has more than {MOST_OF_ALL} B"));
        }
        if total > ALWAYS_TAKEN.max(archive_bytes.saturating_mul(MOST_EXPANSION)) {
            return Err(format!(
                "{archive_bytes} B are to unpack to {total} B, more than {MOST_EXPANSION} times as much; it was made to \
                 fill what it is unpacked in"
            ));
        }
        Ok(())
    }
}

/// Why a manifest is not taken.
pub enum Refused {
    /// It breaks the form.
    Fault(Fault),
    /// Of a form that this build does not know.
    Newer(u32),
}

/// Whether `path` names a file in the run folder or in a folder of it, and nothing else.
pub fn is_path(path: &str) -> bool {
    let mut names = path.split('/');
    path.len() <= LONGEST && names.clone().count() <= 2 && names.all(is_plain)
}

/// Whether `name` is one name that means the same everywhere.
pub fn is_plain(name: &str) -> bool {
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_');
    !name.is_empty() && !name.starts_with('.') && name.chars().all(fits)
}
