//! Exports a run as evidence.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::Path;

use flate2::Compression;
use flate2::write::GzEncoder;

use super::EvidenceError;
use super::form::{END, padding, preamble};
use super::manifest::{Listed, Manifest, NAME, is_path, is_plain};
use super::seal::{Summed, hexadecimal};
use super::unpack::Packing;
use crate::folder::LOCK_FILE;
use crate::{RunFolder, State, StoreError};

/// Compression level: for samples, numbers in text, higher levels save little for more time.
const LEVEL: Compression = Compression::new(6);

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exported {
    pub run: String,
    pub files: usize,
    pub contents: u64,
    pub bytes: u64,
}

/// Writes the run at `folder` as one evidence file to `out`. The same run gives the same bytes.
///
/// Contains everything in the folder but the lock, unfinished files and pages made from the rest.
///
/// # Errors
/// When the run still runs, or cannot be read; when the folder holds anything but plain files; when `out` fails.
pub fn export(folder: &Path, out: &mut dyn Write) -> Result<Exported, EvidenceError> {
    let run = RunFolder::open(folder)?;
    let id = run.info()?.id.clone();
    if run.state == State::Running {
        return Err(StoreError::Running { id }.into());
    }
    if !is_plain(&id) {
        let why = format!("'{id}' is not the id of a run");
        return Err(EvidenceError::Unfit { path: run.files().run(), why });
    }
    let mut files = Vec::new();
    for path in files_of(folder)? {
        let from = folder.join(&path);
        let (bytes, sha256) = copy(&from, &mut |_| Ok(()))?;
        files.push(Listed { path, bytes, sha256 });
    }
    let manifest = Manifest::new(id, files);
    let bytes = write(folder, &manifest, out)?;
    Ok(Exported {
        files: manifest.files.len(),
        contents: manifest.files.iter().map(|file| file.bytes).sum(),
        run: manifest.run,
        bytes,
    })
}

/// SHA-256, in hexadecimal, of the evidence file of the run at `folder`, which is not written.
///
/// # Errors
/// As [`export`].
pub fn evidence_sha256(folder: &Path) -> Result<String, EvidenceError> {
    let mut summed = Summed::new(io::sink());
    export(folder, &mut summed)?;
    Ok(hexadecimal(&summed.finish().0))
}

fn files_of(folder: &Path) -> Result<Vec<String>, EvidenceError> {
    let mut found = Vec::new();
    let mut below = Vec::new();
    for (name, kind) in entries(folder)? {
        if kind.is_dir() {
            below.push(name);
        } else if !is_left_out(&name) {
            require_file(&folder.join(&name), kind)?;
            found.push(name);
        }
    }
    for inner in below {
        for (name, kind) in entries(&folder.join(&inner))? {
            if !is_left_out(&name) {
                require_file(&folder.join(&inner).join(&name), kind)?;
                found.push(format!("{inner}/{name}"));
            }
        }
    }
    match found.iter().find(|path| !is_path(path) || *path == NAME) {
        Some(path) => Err(EvidenceError::Unfit {
            path: folder.join(path),
            why: "a run has no file of that name".to_owned(),
        }),
        None => Ok(found),
    }
}

/// The lock, temporary files of a crash, files of the file system, and pages made from the rest.
fn is_left_out(name: &str) -> bool {
    name == LOCK_FILE || name.starts_with('.') || name.ends_with(".tmp") || name.ends_with(".html")
}

fn entries(folder: &Path) -> Result<Vec<(String, fs::FileType)>, EvidenceError> {
    let failed = |source| EvidenceError::io("reading", folder, source);
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        // Of the entry itself: links are not followed.
        found.push((entry.file_name().to_string_lossy().into_owned(), entry.file_type().map_err(failed)?));
    }
    Ok(found)
}

fn require_file(path: &Path, kind: fs::FileType) -> Result<(), EvidenceError> {
    if kind.is_file() {
        return Ok(());
    }
    let why = if kind.is_symlink() { "it is a link" } else { "it is not a plain file" };
    Err(EvidenceError::Unfit { path: path.to_owned(), why: why.to_owned() })
}

fn write(folder: &Path, manifest: &Manifest, out: &mut dyn Write) -> Result<u64, EvidenceError> {
    let mut archive = GzEncoder::new(Summed::new(out), LEVEL);
    let text = manifest.text();
    let named = |name: &str, bytes: u64| {
        preamble(&format!("{}/{name}", manifest.run), bytes).map_err(EvidenceError::Out)
    };
    let mut put = |bytes: &[u8]| archive.write_all(bytes).map_err(EvidenceError::Out);
    put(&named(NAME, text.len() as u64)?)?;
    put(&text)?;
    put(&vec![0; padding(text.len() as u64)])?;
    for listed in &manifest.files {
        put(&named(&listed.path, listed.bytes)?)?;
        let from = folder.join(&listed.path);
        let (bytes, sha256) = copy(&from, &mut put)?;
        if (bytes, &sha256) != (listed.bytes, &listed.sha256) {
            let why = "it changed while it was exported".to_owned();
            return Err(EvidenceError::Unfit { path: from, why });
        }
        put(&vec![0; padding(bytes)])?;
    }
    put(&[0; END])?;
    let summed = archive.finish().map_err(EvidenceError::Out)?;
    let bytes = summed.bytes;
    let (sum, out) = summed.finish();
    let seal = Packing::Gzip.seal(&sum);
    out.write_all(&seal).and_then(|()| out.flush()).map_err(EvidenceError::Out)?;
    Ok(bytes + seal.len() as u64)
}

/// Passes the contents of the file `from` to `put`, piece by piece; returns size and checksum.
fn copy(
    from: &Path,
    put: &mut dyn FnMut(&[u8]) -> Result<(), EvidenceError>,
) -> Result<(u64, String), EvidenceError> {
    let failed = |source| EvidenceError::io("reading", from, source);
    let mut summed = Summed::new(File::open(from).map_err(failed)?);
    let mut buffer = vec![0; 1 << 16];
    loop {
        match summed.read(&mut buffer).map_err(failed)? {
            0 => break,
            count => put(&buffer[..count])?,
        }
    }
    let bytes = summed.bytes;
    Ok((bytes, hexadecimal(&summed.finish().0)))
}
