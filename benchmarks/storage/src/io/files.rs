//! The files of a case: where they are made, and how they are kept from staying behind.
//!
//! A trial makes its own and loses them with its process, or finds those that an earlier one filled.

use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};

use rustix::fs::{
    AtFlags, FallocateFlags, Mode, OFlags, fallocate, fstat, fstatfs, fstatvfs, ftruncate, open, openat,
    unlinkat,
};
use seatrial_model::{Bytes, Cause, Reason};
use seatrial_sys::Errno;
use seatrial_sys::root::SysRoot;
use seatrial_sys::storage::{Alignment, DirectError, Hiding, device_of, direct, scratch};

use super::fixture::Found;
use super::job::{Flushed, JobSpec};
use super::made::Made;
use super::outcome::{When, error};
use seatrial_bench::space::lacking;

/// What statfs(2) says of file systems in memory: tmpfs and ramfs.
const IN_MEMORY: [i64; 2] = [0x0102_1994, 0x8584_58f6];

/// Where files go when the current directory is in memory: by the Filesystem Hierarchy Standard (5.15) what lies there
/// outlives a restart.
const OTHERWISE: &str = "/var/tmp";

/// Where the files of a case come from.
#[derive(Debug)]
pub enum Source {
    /// They are made in a directory, or where `auto` is.
    New(String),
    /// An earlier trial made them in that directory.
    Found(String, Found),
    /// They are made with names, in a folder that is there for them.
    Named(PathBuf),
    /// Another process made and filled them like that.
    Written(PathBuf),
}

/// Makes the files, or has those that were found reach as far as the job needs them.
pub fn make(job: &JobSpec, source: Source) -> Result<Made, Reason> {
    let (directory, at, instead) = match &source {
        Source::New(wanted) | Source::Found(wanted, _) => place(wanted)?,
        Source::Named(folder) | Source::Written(folder) => named(folder)?,
    };
    let place = directory.display().to_string();
    let fail = |what: &str, errno| error(When::Making, &format!("{what} in {place}"), errno);
    let bytes = job.file_bytes();
    let (mut hiding, mut unreserved, mut covered) = (Hiding::Named, None, 0);
    let mut files = Vec::new();
    match source {
        Source::Found(_, found) => {
            require_same(&found.files, &at, &place)?;
            (hiding, unreserved, covered) = (found.hiding(), found.unreserved(), found.covered());
            files = found.files;
        }
        Source::New(_) => {
            require_room(job, &at, &place)?;
            for _ in 0..job.file_count() {
                let made = scratch(&at, job.flushed == Flushed::Each && job.operation.writes());
                let (file, how) = made.map_err(|errno| fail("making a file", errno))?;
                hiding = how;
                files.push(file);
            }
        }
        Source::Named(_) => {
            require_room(job, &at, &place)?;
            let access = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
            let make =
                |number| openat(&at, name(number), access, Mode::RUSR | Mode::WUSR | Mode::RGRP | Mode::ROTH);
            let made: Result<Vec<_>, Errno> = (0..job.file_count()).map(make).collect();
            files = made.map_err(|errno| fail("making a file", errno))?;
        }
        Source::Written(_) => {
            covered = bytes;
            let open = |number| openat(&at, name(number), OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty());
            let opened: Result<Vec<_>, Errno> = (0..job.file_count()).map(open).collect();
            files = opened.map_err(|errno| fail("opening a file of the writer", errno))?;
            take_names(job, &at);
        }
    }
    for file in files.iter().filter(|_| covered < bytes) {
        match fallocate(file, FallocateFlags::empty(), 0, bytes) {
            Ok(()) => {}
            // NFS before 4.2, FUSE without the call and others.
            Err(errno @ (Errno::OPNOTSUPP | Errno::NOSYS)) => {
                unreserved = Some(errno);
                ftruncate(file, bytes).map_err(|errno| fail("setting the size of a file", errno))?;
            }
            Err(errno) => {
                return Err(fail(&format!("reserving {}", Bytes(bytes).rounded()), errno));
            }
        }
    }
    let first = files.first().ok_or_else(|| Reason::new(Cause::Protocol, "a case without files"))?;
    let device = device_of(first).map_err(|errno| fail("asking for the device", errno))?;
    let mut alignment = None;
    if job.direct {
        for file in &files {
            let found = direct(&SysRoot::live(), file).map_err(|why| not_direct(&place, why))?;
            alignment = Some(found);
        }
    }
    if let Some(Alignment { offset, source, .. }) = alignment
        && !job.block.is_multiple_of(offset as usize)
    {
        let text = format!(
            "block={} cannot be used directly in {place}: requests there are multiples of {offset} B (by {}); use \
             access=buffered or another block=",
            Bytes(job.block as u64),
            source.word()
        );
        return Err(Reason::new(Cause::Missing, text));
    }
    Ok(Made { files, hiding, directory, instead, unreserved, alignment, device })
}

/// The name of a file that has one.
fn name(number: usize) -> String {
    format!("part.{number}")
}

/// Takes the names of files away that are open here, so that none of them stays when everybody is killed. Not over NFS:
/// its client would give them another name, which the writer's removal of the folder does not reach.
fn take_names(job: &JobSpec, at: &OwnedFd) {
    const NFS: i64 = 0x6969;
    #[expect(clippy::useless_conversion, reason = "another width on other architectures")]
    if fstatfs(at).is_ok_and(|told| i64::from(told.f_type) != NFS) {
        for number in 0..job.file_count() {
            // What stays is removed with the folder.
            let _ = unlinkat(at, name(number), AtFlags::empty());
        }
    }
}

/// Files that were found are of use only where they would be made again.
fn require_same(files: &[OwnedFd], at: &OwnedFd, place: &str) -> Result<(), Reason> {
    let asked = |errno| error(When::Making, &format!("asking for the file system of {place}"), errno);
    let there = fstat(at).map_err(asked)?.st_dev;
    match files.first().map(|file| fstat(file).map(|told| told.st_dev)).transpose().map_err(asked)? {
        Some(here) if here != there => {
            let text =
                format!("{place} is on another file system than when the files of this group were made");
            Err(Reason::new(Cause::Missing, text))
        }
        _ => Ok(()),
    }
}

/// Never silently through the cache instead: that would be another measurement.
fn not_direct(place: &str, why: DirectError) -> Reason {
    let cause = match why {
        DirectError::Asked(errno) => {
            return error(When::Making, &format!("asking for direct access in {place}"), errno);
        }
        DirectError::Unsupported(_) | DirectError::NotThisFile | DirectError::Refused(_) => Cause::Missing,
    };
    Reason::new(cause, format!("access=direct is not possible in {place}: {why}; use access=buffered"))
}

type Place = (PathBuf, OwnedFd, Option<String>);

/// Opens the directory called `wanted`; `auto` is the current one, unless that is in memory or takes no files.
pub fn opened(wanted: &str) -> Result<(PathBuf, OwnedFd), Reason> {
    let (path, at, _) = place(wanted)?;
    Ok((path, at))
}

fn place(wanted: &str) -> Result<Place, Reason> {
    if wanted == "auto" { automatic() } else { named(Path::new(wanted)) }
}

fn directory(path: &Path) -> Result<OwnedFd, Reason> {
    open(path, OFlags::DIRECTORY | OFlags::CLOEXEC | OFlags::PATH, Mode::empty())
        .map_err(|errno| error(When::Making, &format!("opening {}", path.display()), errno))
}

fn named(path: &Path) -> Result<Place, Reason> {
    Ok((path.to_owned(), directory(path)?, None))
}

/// The current directory, unless it is in memory or takes no files: a memory test is not what was asked for.
fn automatic() -> Result<Place, Reason> {
    let current = std::env::current_dir().map_err(|error| {
        Reason::new(
            Cause::Missing,
            format!("there is no current directory: {error}; name one with directory="),
        )
    })?;
    let why = match directory(&current).and_then(|at| usable(&at).map(|()| at)) {
        Ok(at) => return Ok((current, at, None)),
        Err(why) => format!("{}: {}", current.display(), why.text),
    };
    let other = PathBuf::from(OTHERWISE);
    match directory(&other).and_then(|at| usable(&at).map(|()| at)) {
        Ok(at) => Ok((other, at, Some(why))),
        Err(second) => {
            let text = format!(
                "no directory to make files in: {why}; {OTHERWISE}: {}; name one with directory=",
                second.text
            );
            Err(Reason::new(second.cause, text))
        }
    }
}

fn usable(at: &OwnedFd) -> Result<(), Reason> {
    let told = fstatfs(at).map_err(|errno| error(When::Making, "asking for the file system", errno))?;
    // The type's width differs from one architecture to the next; the constants fit all.
    #[expect(clippy::useless_conversion, reason = "another width on other architectures")]
    if IN_MEMORY.contains(&i64::from(told.f_type)) {
        return Err(Reason::new(Cause::Missing, "it is in memory"));
    }
    scratch(at.as_fd(), false).map(drop).map_err(|errno| error(When::Making, "making a file", errno))
}

/// Asked before anything is made, so that a full file system is not filled to the brim first.
fn require_room(job: &JobSpec, at: &OwnedFd, place: &str) -> Result<(), Reason> {
    let told =
        fstatvfs(at).map_err(|errno| error(When::Making, &format!("asking for room in {place}"), errno))?;
    let bytes = |blocks: u64| blocks.saturating_mul(told.f_frsize);
    // Some file systems on servers tell no size at all.
    let is_told = told.f_blocks > 0;
    match lacking(job.total_bytes(), bytes(told.f_bavail), bytes(told.f_blocks), place) {
        Some(text) if is_told => Err(Reason::new(Cause::NoSpace, text)),
        _ => Ok(()),
    }
}
