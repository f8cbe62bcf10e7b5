//! Ordinary files that are there whole or not at all, also after a loss of power.

use std::fs::{self, File};
use std::io;
use std::path::Path;

use rustix::fs::fsync;
use rustix::io::Errno;
use seatrial_sys::root::SysRoot;

/// Extension of a file that is not whole yet; readers of these folders pass over it.
const NEW: &str = "new";

/// Syncs the names in a folder. File systems that cannot (EINVAL) store names in their own way.
pub(super) fn sync(folder: &Path) -> io::Result<()> {
    match fsync(File::open(folder)?) {
        Err(Errno::INVAL) | Ok(()) => Ok(()),
        Err(errno) => Err(errno.into()),
    }
}

/// Writes a file and syncs it.
pub(super) fn create(root: &SysRoot, path: &str, text: &str) -> io::Result<()> {
    let at = root.locate(path);
    let new = at.with_extension(NEW);
    let written = File::create(&new).and_then(|mut file| {
        io::Write::write_all(&mut file, text.as_bytes())?;
        file.sync_all()?;
        fs::rename(&new, &at)?;
        at.parent().map_or(Ok(()), sync)
    });
    if written.is_err() {
        // Under either name, which are nobody else's.
        let _ = (fs::remove_file(&new), fs::remove_file(&at));
    }
    written
}

/// Removes a file that [`create`] has written, or what a loss of power left of it.
pub(super) fn remove(root: &SysRoot, path: &str) -> io::Result<()> {
    let at = root.locate(path);
    for file in [at.with_extension(NEW), at.clone()] {
        match fs::remove_file(file) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
    }
    at.parent().map_or(Ok(()), sync)
}
