//! The folder that all files of a trial with names are in: made with a manifest, removed at the end, recognised when it
//! was not.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use rustix::rand::{GetRandomFlags, getrandom};
use seatrial_model::Cause;
use seatrial_sys::Errno;
use serde_json::json;

use crate::Error;
use crate::storage::file::outcome::refused;

/// What the name of every such folder begins with; the last word of the benchmark's id follows.
const PREFIX: &str = ".seatrial-";

/// The file in it that says whose it is.
pub const MANIFEST: &str = "seatrial.json";

/// A folder of ours; removed with what is in it when dropped.
#[derive(Debug)]
pub struct Folder {
    path: PathBuf,
}

impl Folder {
    /// Makes one in `parent` for a benchmark, with its manifest.
    ///
    /// # Errors
    /// What the system answers.
    pub fn new(parent: &Path, bench: &str) -> Result<Self, Error> {
        let mut random = [0_u8; 8];
        getrandom(&mut random, GetRandomFlags::empty())
            .map_err(|errno| Error::new(Cause::Missing, format!("no random number: {errno}")))?;
        let path = parent.join(format!("{}{:016x}", prefix(bench), u64::from_ne_bytes(random)));
        fs::create_dir(&path).map_err(|error| failed("making the folder", &path, &error))?;
        let folder = Self { path };
        let host = fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
        let manifest = json!({
            "made_by": "seatrial",
            "benchmark": bench,
            "host": host.trim(),
            "process": std::process::id(),
            "remove": "the whole folder, once that process is gone",
        });
        let file = folder.path.join(MANIFEST);
        fs::write(&file, format!("{manifest}\n")).map_err(|error| failed("writing", &file, &error))?;
        Ok(folder)
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Makes a folder in it.
    ///
    /// # Errors
    /// What the system answers.
    pub fn inner(&self, name: &str) -> Result<PathBuf, Error> {
        let path = self.path.join(name);
        fs::create_dir(&path).map_err(|error| failed("making the folder", &path, &error))?;
        Ok(path)
    }

    /// Removes it with all that is in it.
    ///
    /// # Errors
    /// What the system answers; what is left then has the manifest still where that was possible.
    pub fn remove(&self) -> Result<(), Error> {
        match fs::remove_dir_all(&self.path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                Err(failed("removing the folder", &self.path, &error))
            }
            _ => Ok(()),
        }
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // Where it fails, its name tells what it is.
        let _ = self.remove();
    }
}

/// What the names of a benchmark's folders begin with.
pub fn prefix(bench: &str) -> String {
    let word = bench.rsplit('.').next().unwrap_or(bench);
    format!("{PREFIX}{word}-")
}

fn failed(what: &str, path: &Path, error: &io::Error) -> Error {
    let errno = Errno::from_io_error(error).unwrap_or(Errno::IO);
    refused(&format!("{what} {}", path.display()), errno)
}

/// Folders of a benchmark in `parent` that trials which were killed left behind: those whose process is gone from this host. Whether
/// one of another host still runs cannot be told from here.
pub fn leftovers(parent: &Path, bench: &str) -> Vec<String> {
    let prefix = prefix(bench);
    let host = fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    let entries = fs::read_dir(parent).into_iter().flatten().flatten();
    let is_left = |path: &Path| {
        let text = fs::read_to_string(path.join(MANIFEST)).unwrap_or_default();
        let manifest: serde_json::Value = serde_json::from_str(&text).unwrap_or_default();
        match (manifest["host"].as_str(), manifest["process"].as_u64()) {
            (Some(there), Some(process)) => {
                there == host.trim() && !Path::new(&format!("/proc/{process}")).exists()
            }
            // Killed between making the folder and writing the manifest.
            _ => true,
        }
    };
    let named = entries.filter(|entry| entry.file_name().to_string_lossy().starts_with(&prefix));
    let left = named.map(|entry| entry.path()).filter(|path| is_left(path));
    left.map(|path| path.display().to_string()).collect()
}
