//! Direct I/O (`O_DIRECT`) and its alignment.

use std::os::fd::AsFd;

use rustix::fs::{AtFlags, OFlags, StatxFlags, fcntl_getfl, fcntl_setfl, statx};
use rustix::io::{Errno, pread};

use super::device::device_of;
use crate::root::SysRoot;

/// Alignments that disks and file systems require, the smallest first.
const USUAL: [u32; 4] = [512, 1024, 2048, 4096];

/// Required alignment of direct requests, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Alignment {
    pub memory: u32,
    pub offset: u32,
    pub source: AlignmentSource,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AlignmentSource {
    /// `STATX_DIOALIGN` (Linux 6.1).
    Statx,
    Sector,
    Probe,
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

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DirectError {
    /// The file system lacks direct I/O: tmpfs before Linux 6.6, ZFS before 2.3, some FUSE and network file systems.
    #[error("the file system has no direct access ({0})")]
    Unsupported(Errno),
    /// The file system accepts the flag but not for this file (encryption, inline data, compression).
    #[error("the file system says that this file cannot be accessed directly (STATX_DIOALIGN is 0)")]
    NotThisFile,
    #[error("the file system takes no direct request of 4 KiB or less ({0})")]
    Refused(Errno),
    #[error("the file could not be asked: {0}")]
    Asked(Errno),
}

/// Switches `file` to direct I/O and finds the required alignment; 4 KiB when the file is empty and nothing reports
/// it.
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
        let _ = fcntl_setfl(file, flags);
    }
    found
}

pub fn buffered(file: impl AsFd) -> Result<(), Errno> {
    let flags = fcntl_getfl(file.as_fd())?;
    fcntl_setfl(file.as_fd(), flags.difference(OFlags::DIRECT))
}

/// Keeps reads from updating the access time (`O_NOATIME`, open(2)), which would be measured too. `EPERM` where
/// another user owns the file.
pub fn without_access_times(file: impl AsFd) -> Result<(), Errno> {
    let flags = fcntl_getfl(file.as_fd())?;
    fcntl_setfl(file.as_fd(), flags | OFlags::NOATIME)
}

fn alignment(root: &SysRoot, file: impl AsFd) -> Result<Alignment, DirectError> {
    let file = file.as_fd();
    // Kernels before 4.11 lack statx, those before 6.1 the field.
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

fn probe(file: impl AsFd) -> Result<Alignment, DirectError> {
    const LARGEST: usize = 4096;
    let mut room = vec![0_u8; 2 * LARGEST];
    let start = room.as_ptr().addr().next_multiple_of(LARGEST) - room.as_ptr().addr();
    let mut last = Errno::INVAL;
    for bytes in USUAL {
        let end = start + bytes as usize;
        match pread(file.as_fd(), &mut room[start..end], 0) {
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
