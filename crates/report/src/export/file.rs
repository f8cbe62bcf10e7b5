//! Atomic writes of files.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

/// Writes `path` completely or not at all: into a temporary file beside it, which is then renamed over it (rename(2)
/// is atomic, so that no reader ever sees half a file). The temporary name begins with a dot and ends with `.tmp`:
/// collectors that select files by extension do not pick it up.
///
/// A path that is not a regular file, such as a pipe or `/dev/stdout`, is written directly: a rename would replace
/// it. A symbolic link is kept.
pub fn put(path: &Path, write: impl FnOnce(&mut (dyn Write + Send)) -> io::Result<()>) -> io::Result<()> {
    let target = match fs::metadata(path) {
        Ok(there) if !there.is_file() => return fill(OpenOptions::new().write(true).open(path)?, write),
        Ok(_) => fs::canonicalize(path)?,
        Err(error) if error.kind() == io::ErrorKind::NotFound => path.to_owned(),
        Err(error) => return Err(error),
    };
    let temporary = beside(&target)?;
    let file = OpenOptions::new().write(true).create_new(true).open(&temporary)?;
    let written = fill(file, write).and_then(|()| fs::rename(&temporary, &target));
    if written.is_err() {
        // The first error matters.
        let _ = fs::remove_file(&temporary);
    }
    written
}

fn fill(file: File, write: impl FnOnce(&mut (dyn Write + Send)) -> io::Result<()>) -> io::Result<()> {
    let mut out = BufWriter::new(file);
    write(&mut out)?;
    let file = out.into_inner().map_err(io::IntoInnerError::into_error)?;
    match file.sync_all() {
        // Pipes and terminals cannot be synced (fsync(2)).
        Err(error) if error.kind() == io::ErrorKind::InvalidInput => Ok(()),
        synced => synced,
    }
}

fn beside(target: &Path) -> io::Result<PathBuf> {
    let name =
        target.file_name().ok_or_else(|| io::Error::new(io::ErrorKind::InvalidInput, "it names no file"))?;
    let mut temporary = std::ffi::OsString::from(".");
    temporary.push(name);
    temporary.push(format!(".{}.tmp", std::process::id()));
    Ok(target.with_file_name(temporary))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(name: &str) -> PathBuf {
        let folder = std::env::temp_dir().join(format!("seatrial-export-{name}-{}", std::process::id()));
        fs::create_dir_all(&folder).expect("a folder");
        folder
    }

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).expect("read");
        let mut names: Vec<String> =
            entries.map(|entry| entry.expect("an entry").file_name().into_string().expect("text")).collect();
        names.sort();
        names
    }

    #[test]
    fn a_file_is_replaced_whole_and_nothing_is_left_beside_it() {
        let folder = folder("whole");
        let path = folder.join("a.prom");
        put(&path, |out| out.write_all(b"first")).expect("written");
        put(&path, |out| {
            assert_eq!(fs::read(&path)?, b"first", "readers see the old file until the new one is whole");
            out.write_all(b"second")
        })
        .expect("written");
        assert_eq!(fs::read(&path).expect("read"), b"second");
        assert_eq!(names(&folder), ["a.prom"]);
        fs::remove_dir_all(folder).expect("removed");
    }

    #[test]
    fn a_form_that_fails_leaves_the_old_file_and_no_other() {
        let folder = folder("fails");
        let path = folder.join("a.prom");
        put(&path, |out| out.write_all(b"first")).expect("written");
        let failed = put(&path, |out| {
            out.write_all(b"half")?;
            Err(io::Error::other("no more"))
        });
        assert_eq!(failed.expect_err("failed").to_string(), "no more");
        assert_eq!(fs::read(&path).expect("read"), b"first");
        assert_eq!(names(&folder), ["a.prom"]);
        fs::remove_dir_all(folder).expect("removed");
    }

    #[test]
    fn a_device_stays_a_device_and_a_link_a_link() {
        put(Path::new("/dev/null"), |out| out.write_all(b"gone")).expect("written");
        assert!(!fs::metadata("/dev/null").expect("there").is_file());
        let folder = folder("link");
        fs::write(folder.join("real"), "old").expect("written");
        std::os::unix::fs::symlink("real", folder.join("link")).expect("linked");
        put(&folder.join("link"), |out| out.write_all(b"new")).expect("written");
        assert_eq!(fs::read(folder.join("real")).expect("read"), b"new");
        assert!(fs::symlink_metadata(folder.join("link")).expect("there").is_symlink());
        fs::remove_dir_all(folder).expect("removed");
    }
}
