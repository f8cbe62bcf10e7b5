//! Number of extents of a file (linux/fiemap.h, Documentation/filesystems/fiemap.rst).
#![expect(unsafe_code, reason = "the ioctl FS_IOC_FIEMAP")]

use std::os::fd::AsFd;

use rustix::io::Errno;
use rustix::ioctl::{Opcode, Updater, ioctl, opcode};

/// `struct fiemap` without room for extents.
#[repr(C)]
#[derive(Default)]
struct Fiemap {
    start: u64,
    length: u64,
    flags: u32,
    mapped_extents: u32,
    extent_count: u32,
    reserved: u32,
}

const FS_IOC_FIEMAP: Opcode = opcode::read_write::<Fiemap>(b'f', 11);

/// Write dirty pages back first: they have no place on the device yet.
const FIEMAP_FLAG_SYNC: u32 = 1;

/// Contiguous ranges of the device that hold `file`. File systems without the call, NFS and tmpfs among them, answer
/// `EOPNOTSUPP`.
pub fn extents(file: impl AsFd) -> Result<u32, Errno> {
    let mut request = Fiemap { length: u64::MAX, flags: FIEMAP_FLAG_SYNC, ..Fiemap::default() };
    // SAFETY: the opcode belongs to this structure; with `extent_count` 0 the kernel writes the structure alone.
    unsafe { ioctl(file, Updater::<FS_IOC_FIEMAP, _>::new(&mut request))? };
    Ok(request.mapped_extents)
}
