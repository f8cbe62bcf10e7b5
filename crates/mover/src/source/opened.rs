//! An opened source file.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use rustix::buffer::spare_capacity;
use rustix::fs::{FileType, OFlags, fgetxattr, flistxattr, fstat, readlinkat};
use rustix::io::{pread, retry_on_intr};

use crate::entry::Stamp;
use crate::failure::Failure;
use crate::need::Need;
use crate::target::Attributes;

/// Bytes that are hashed at once.
const PIECE: usize = 1 << 20;

/// A source file, with its attributes when it was opened.
#[derive(Debug)]
pub struct OpenedSource {
    pub file: File,
    pub path: PathBuf,
    pub stamp: Stamp,
}

impl OpenedSource {
    /// Opens a regular file; a symbolic link that has taken its place is not followed.
    pub fn open(path: PathBuf) -> Result<Self, Failure> {
        let failed = |error: io::Error| Failure::of(path.as_os_str().as_bytes(), "opening", &error);
        // Not blocking: a named pipe may have taken its place.
        let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits().cast_signed();
        let file = OpenOptions::new().read(true).custom_flags(flags).open(&path).map_err(failed)?;
        let stamp = looked_at(&file).map_err(failed)?;
        if stamp.file_type() != FileType::RegularFile {
            return Err(Failure::new(path.as_os_str().as_bytes(), CHANGED));
        }
        Ok(Self { file, path, stamp })
    }

    pub fn failed(&self, doing: &str, error: &io::Error) -> Failure {
        Failure::of(self.path.as_os_str().as_bytes(), doing, error)
    }

    /// Whether the content is as it was when the file was opened, by size and time.
    pub fn is_unchanged(&self) -> Result<bool, Failure> {
        let stamp = looked_at(&self.file).map_err(|error| self.failed("reading the attributes", &error))?;
        Ok(stamp.has_content_of(&self.stamp))
    }

    /// Appends the range to `to`; a file that became shorter has changed.
    pub fn read_to(&self, to: &mut Vec<u8>, offset: u64, length: usize) -> Result<(), Failure> {
        let (start, end) = (to.len(), to.len() + length);
        // Into memory that is not cleared before. Where there is more of it than was asked for, what comes too much goes.
        to.reserve_exact(length);
        while to.len() < end {
            let read = (to.len() - start) as u64;
            match retry_on_intr(|| pread(&self.file, spare_capacity(&mut *to), offset + read)) {
                Ok(0) => return Err(self.changed()),
                Ok(_) => {}
                Err(errno) => return Err(self.failed("reading", &errno.into())),
            }
        }
        to.truncate(end);
        Ok(())
    }

    pub fn changed(&self) -> Failure {
        Failure::new(self.path.as_os_str().as_bytes(), CHANGED)
    }

    /// Whether the target, which told `need` of a file of the stamp `asked`, has the content of this one.
    pub fn is_in_target(&self, need: Need, asked: &Stamp) -> Result<bool, Failure> {
        match need {
            Need::Content => Ok(false),
            Need::Nothing | Need::Attributes => Ok(self.stamp.has_content_of(asked)),
            Need::Other(known) => Ok(self.hash()? == known),
        }
    }

    /// The extended attributes, if they are preserved.
    pub fn attributes(&self, preserve: bool) -> Result<Attributes, Failure> {
        if !preserve {
            return Ok(Vec::new());
        }
        attributes_of(&self.file).map_err(|error| self.failed("reading the extended attributes", &error))
    }

    /// The hash of the whole content.
    fn hash(&self) -> Result<blake3::Hash, Failure> {
        hash_of(&self.file).map_err(|error| self.failed("reading", &error))
    }
}

const CHANGED: &str = "the file changed while it was copied; copy again when nothing writes to it";

/// The hash of a file's whole content.
pub fn hash_of(file: &File) -> io::Result<blake3::Hash> {
    let (mut hasher, mut buffer, mut offset) = (blake3::Hasher::new(), vec![0; PIECE], 0);
    loop {
        match file.read_at(&mut buffer, offset) {
            Ok(0) => return Ok(hasher.finalize()),
            Ok(bytes) => {
                hasher.update(&buffer[..bytes]);
                offset += bytes as u64;
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

fn looked_at(file: &File) -> io::Result<Stamp> {
    Ok(Stamp::of(&fstat(file)?))
}

/// Where a symbolic link leads.
pub fn link_target(path: &Path) -> io::Result<Vec<u8>> {
    Ok(readlinkat(rustix::fs::CWD, path, Vec::new())?.into_bytes())
}

/// Extended attributes with their names: those that describe the file, and not what a security module of this machine says
/// of it. Access control lists are such attributes.
pub fn attributes_of(file: &File) -> io::Result<Attributes> {
    /// Names and values have at most 64 KiB (xattr(7)).
    const MOST: usize = 64 << 10;
    let mut names = vec![0; MOST];
    let length = match flistxattr(file, &mut names[..]) {
        Err(rustix::io::Errno::OPNOTSUPP) => 0,
        listed => listed?,
    };
    let mut all = Vec::new();
    for name in names[..length].split(|byte| *byte == 0).filter(|name| !name.is_empty()) {
        if [&b"security.selinux"[..], b"security.ima", b"security.evm"].contains(&name) {
            continue;
        }
        let mut value = vec![0; MOST];
        let length = fgetxattr(file, name, &mut value[..])?;
        value.truncate(length);
        all.push((name.to_vec(), value));
    }
    Ok(all)
}
