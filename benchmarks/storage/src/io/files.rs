//! The files of a case: where they are made, and how they are hidden so that a killed trial leaves none.

use std::os::fd::OwnedFd;
use std::path::PathBuf;

use rustix::fs::{
    AtFlags, FallocateFlags, Mode, OFlags, fallocate, fstat, fstatfs, ftruncate, openat, unlinkat,
};
use seatrial_model::{Bytes, Cause, Reason};
use seatrial_sys::Errno;
use seatrial_sys::root::SysRoot;
use seatrial_sys::storage::{Alignment, DirectError, Hiding, device_of, direct, scratch};

use super::fixture::Found;
use super::job::{Flushed, JobSpec};
use super::made::Made;
use seatrial_bench::directory::{When, error, named, place, require_room, reserved};

#[derive(Debug)]
pub enum Source {
    /// New files in this directory, or where `auto` leads.
    New(String),
    /// Files that an earlier trial made in this directory.
    Found(String, Found),
    /// Named files, in a folder made for them.
    Named(PathBuf),
    /// Named files that another process made and filled.
    Written(PathBuf),
    /// Named files in a folder of all nodes, each made by the node that opens it first.
    OfAll(PathBuf),
}

pub fn make(job: &JobSpec, source: Source) -> Result<Made, Reason> {
    let (directory, at, instead) = match &source {
        Source::New(wanted) | Source::Found(wanted, _) => place(wanted)?,
        Source::Named(folder) | Source::Written(folder) | Source::OfAll(folder) => named(folder)?,
    };
    let place = directory.display().to_string();
    let fail = |what: &str, errno| error(When::Making, &format!("{what} in {place}"), errno);
    let bytes = job.file_bytes();
    let is_durable = job.flushed == Flushed::Each && job.operation.writes();
    let is_of_all = matches!(source, Source::OfAll(_));
    let (mut hiding, mut unreserved, mut covered) = (Hiding::Named, None, 0);
    let mut files = Vec::new();
    match source {
        Source::Found(_, found) => {
            require_same(&found.files, &at, &place)?;
            (hiding, unreserved, covered) = (found.hiding(), found.unreserved(), found.covered());
            files = found.files;
        }
        Source::New(_) => {
            require_room(&at, &directory, 0, job.total_bytes())?;
            for _ in 0..job.file_count() {
                let made = scratch(&at, is_durable);
                let (file, how) = made.map_err(|errno| fail("making a file", errno))?;
                hiding = how;
                files.push(file);
            }
        }
        Source::Named(_) | Source::OfAll(_) => {
            require_room(&at, &directory, 0, job.total_bytes())?;
            let mut access = OFlags::RDWR | OFlags::CREATE | OFlags::CLOEXEC;
            access.set(OFlags::EXCL, !is_of_all);
            access.set(OFlags::DSYNC, is_durable);
            let make =
                |number| openat(&at, name(number), access, Mode::RUSR | Mode::WUSR | Mode::RGRP | Mode::ROTH);
            let made: Result<Vec<_>, Errno> = (0..job.file_count()).map(make).collect();
            files = made.map_err(|errno| fail("making a file", errno))?;
        }
        Source::Written(_) => {
            covered = bytes;
            let open = |number| openat(&at, name(number), OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty());
            let opened: Result<Vec<_>, Errno> = (0..job.file_count()).map(open).collect();
            files = opened.map_err(|errno| fail("opening a file that the writer made", errno))?;
            take_names(job, &at);
        }
    }
    for file in files.iter().filter(|_| covered < bytes) {
        match reserved(&at, || fallocate(file, FallocateFlags::empty(), 0, bytes)) {
            Ok(()) => {}
            // NFS before 4.2, FUSE servers without the call and others.
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
    let device = device_of(first).map_err(|errno| fail("reading the device number", errno))?;
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
            "block={} cannot be used with direct access in {place}: requests must be multiples of {offset} B \
             (by {}); use access=buffered or another block=",
            Bytes(job.block as u64),
            source.word()
        );
        return Err(Reason::new(Cause::Missing, text));
    }
    Ok(Made { files, hiding, directory, instead, unreserved, alignment, device })
}

fn name(number: usize) -> String {
    format!("part.{number}")
}

/// Unlinks the open files, so that none stays after a kill. Not over NFS: its client would rename an unlinked open
/// file (silly rename), and the writer's removal of the folder would miss it.
fn take_names(job: &JobSpec, at: &OwnedFd) {
    const NFS: i64 = 0x6969;
    #[expect(clippy::useless_conversion, reason = "another width on other architectures")]
    if fstatfs(at).is_ok_and(|told| i64::from(told.f_type) != NFS) {
        for number in 0..job.file_count() {
            // Ignored: the files are removed with the folder.
            let _ = unlinkat(at, name(number), AtFlags::empty());
        }
    }
}

/// Found files are of use only on the file system on which they would be made again.
fn require_same(files: &[OwnedFd], at: &OwnedFd, place: &str) -> Result<(), Reason> {
    let asked = |errno| error(When::Making, &format!("reading the file system of {place}"), errno);
    let there = fstat(at).map_err(asked)?.st_dev;
    match files.first().map(|file| fstat(file).map(|told| told.st_dev)).transpose().map_err(asked)? {
        Some(here) if here != there => {
            let text =
                format!("{place} is now on another file system than when the files of this group were made");
            Err(Reason::new(Cause::Missing, text))
        }
        _ => Ok(()),
    }
}

/// Never falls back to the page cache silently: that is another measurement.
fn not_direct(place: &str, why: DirectError) -> Reason {
    let cause = match why {
        DirectError::Asked(errno) => {
            return error(When::Making, &format!("querying direct access in {place}"), errno);
        }
        DirectError::Unsupported(_) | DirectError::NotThisFile | DirectError::Refused(_) => Cause::Missing,
    };
    Reason::new(cause, format!("access=direct is not possible in {place}: {why}; use access=buffered"))
}
