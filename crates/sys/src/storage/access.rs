//! The way past the page cache (`O_DIRECT`), and the alignment that it asks for.

use std::os::fd::AsFd;

use rustix::fs::{AtFlags, OFlags, StatxFlags, fcntl_getfl, fcntl_setfl, statx};
use rustix::io::{Errno, pread};

use super::device::device_of;
use crate::root::SysRoot;

/// Alignments that disks and file systems ask for, the smallest first.
const USUAL: [u32; 4] = [512, 1024, 2048, 4096];

/// What direct requests must be aligned to, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Alignment {
    pub memory: u32,
    /// Their offsets and lengths.
    pub offset: u32,
    pub source: AlignmentSource,
}

/// How an alignment is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AlignmentSource {
    /// The file system told (`STATX_DIOALIGN`, Linux 6.1).
    Statx,
    /// The logical sector of the device below.
    Sector,
    /// The smallest request that went through.
    Probe,
    /// Nobody told and there was nothing to read: a page of 4 KiB, which every disk takes.
    Assumed,
}

impl AlignmentSource {
    pub const fn word(self) -> &'static str {
        match self {
            Self::Statx => "statx",
            Self::Sector => "sector",
            Self::Probe => "probe",
            Self::Assumed => "assumed",
        }
    }
}

/// Why a file cannot be had directly.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DirectError {
    /// The file system has no such way: tmpfs before Linux 6.6, ZFS before 2.3, some FUSE and network file systems.
    #[error("the file system has no direct access ({0})")]
    Unsupported(Errno),
    /// It takes the flag, and says that it cannot keep to it for this file (encryption, inline data, compression).
    #[error("the file system says that this file cannot be accessed directly (STATX_DIOALIGN is 0)")]
    NotThisFile,
    /// Even aligned requests are refused.
    #[error("the file system takes no direct request of 4 KiB or less ({0})")]
    Refused(Errno),
    /// It could not be asked.
    #[error("the file could not be asked: {0}")]
    Asked(Errno),
}

/// Opens the way of `file` past the page cache and tells what requests must be aligned to.
pub fn direct(root: &SysRoot, file: impl AsFd) -> Result<Alignment, DirectError> {
    let file = file.as_fd();
    let flags = fcntl_getfl(file).map_err(DirectError::Asked)?;
    match fcntl_setfl(file, flags | OFlags::DIRECT) {
        Ok(()) => {}
        Err(errno @ (Errno::INVAL | Errno::OPNOTSUPP)) => return Err(DirectError::Unsupported(errno)),
        Err(errno) => return Err(DirectError::Asked(errno)),
    }
    let found = alignment(root, file);
    if found.is_err() {
        // What was set a moment ago can be taken back.
        let _ = fcntl_setfl(file, flags);
    }
    found
}

/// Sends requests through the page cache again.
pub fn buffered(file: impl AsFd) -> Result<(), Errno> {
    let flags = fcntl_getfl(file.as_fd())?;
    fcntl_setfl(file.as_fd(), flags.difference(OFlags::DIRECT))
}

/// Has reads leave the file's time of last access alone (`O_NOATIME`, open(2)): it is not what is measured.
///
/// # Errors
/// `EPERM` where the file belongs to somebody else.
pub fn without_access_times(file: impl AsFd) -> Result<(), Errno> {
    let flags = fcntl_getfl(file.as_fd())?;
    fcntl_setfl(file.as_fd(), flags | OFlags::NOATIME)
}

fn alignment(root: &SysRoot, file: impl AsFd) -> Result<Alignment, DirectError> {
    let file = file.as_fd();
    // A kernel before 4.11 has no statx at all, one before 6.1 leaves the bit out.
    if let Ok(told) = statx(file, c"", AtFlags::EMPTY_PATH, StatxFlags::DIOALIGN)
        && StatxFlags::from_bits_retain(told.stx_mask).contains(StatxFlags::DIOALIGN)
    {
        let (memory, offset) = (told.stx_dio_mem_align, told.stx_dio_offset_align);
        return match offset {
            0 => Err(DirectError::NotThisFile),
            _ => Ok(Alignment { memory: memory.max(1), offset, source: AlignmentSource::Statx }),
        };
    }
    if let Ok(device) = device_of(file)
        && let Some(sector) = device.logical_sector(root)
    {
        return Ok(Alignment { memory: sector, offset: sector, source: AlignmentSource::Sector });
    }
    probe(file)
}

/// Reads with rising alignment until it goes through.
fn probe(file: impl AsFd) -> Result<Alignment, DirectError> {
    const LARGEST: usize = 4096;
    let mut room = vec![0_u8; 2 * LARGEST];
    let start = room.as_ptr().addr().next_multiple_of(LARGEST) - room.as_ptr().addr();
    let mut last = Errno::INVAL;
    for bytes in USUAL {
        let end = start + bytes as usize;
        match pread(file.as_fd(), &mut room[start..end], 0) {
            // An empty file refuses nothing.
            Ok(0) => {
                let source = AlignmentSource::Assumed;
                return Ok(Alignment { memory: LARGEST as u32, offset: LARGEST as u32, source });
            }
            Ok(_) => return Ok(Alignment { memory: bytes, offset: bytes, source: AlignmentSource::Probe }),
            Err(Errno::INVAL) => last = Errno::INVAL,
            Err(errno) => return Err(DirectError::Asked(errno)),
        }
    }
    Err(DirectError::Refused(last))
}
