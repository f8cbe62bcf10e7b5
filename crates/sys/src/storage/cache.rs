//! Page cache residency of a file, and its eviction.
#![expect(unsafe_code, reason = "cachestat and mincore")]

use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::ptr;

use rustix::fs::{Advice, fadvise, fdatasync};
use rustix::io::Errno;
use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};
use rustix::param::page_size;

/// cachestat(2), the same number on every architecture (Linux 6.5).
const CACHESTAT: libc::c_long = 451;

#[repr(C)]
struct Range {
    offset: u64,
    len: u64,
}

/// `struct cachestat`, in pages.
#[repr(C)]
#[derive(Default)]
struct Counts {
    cached: u64,
    dirty: u64,
    writeback: u64,
    evicted: u64,
    recently_evicted: u64,
}

const _: () = assert!(size_of::<Range>() == 16 && size_of::<Counts>() == 40);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Resident {
    pub bytes: u64,
    pub method: &'static str,
}

/// Bytes of the first `len` bytes of `file` that are in the page cache.
pub fn resident(file: impl AsFd, len: u64) -> Result<Resident, Errno> {
    if len == 0 {
        return Ok(Resident { bytes: 0, method: "cachestat" });
    }
    match by_cachestat(file.as_fd(), len) {
        // Before Linux 6.5, in a sandbox, on files of hugetlbfs.
        Err(Errno::NOSYS | Errno::PERM | Errno::OPNOTSUPP) => by_mincore(file.as_fd(), len),
        told => told,
    }
}

/// Writes dirty pages back and evicts the file. Mapped and locked pages stay.
pub fn forget(file: impl AsFd) -> Result<(), Errno> {
    fdatasync(file.as_fd())?;
    fadvise(file.as_fd(), 0, None, Advice::DontNeed)
}

fn by_cachestat(file: BorrowedFd<'_>, len: u64) -> Result<Resident, Errno> {
    let (range, mut counts) = (Range { offset: 0, len }, Counts::default());
    // SAFETY: the kernel reads the one structure and fills in the other; their layout is checked above.
    let answer = unsafe { libc::syscall(CACHESTAT, file.as_raw_fd(), &raw const range, &raw mut counts, 0) };
    if answer != 0 {
        let error = std::io::Error::last_os_error();
        return Err(Errno::from_io_error(&error).unwrap_or(Errno::NOSYS));
    }
    Ok(Resident { bytes: counts.cached * page_size() as u64, method: "cachestat" })
}

fn by_mincore(file: BorrowedFd<'_>, len: u64) -> Result<Resident, Errno> {
    let len = usize::try_from(len).map_err(|_| Errno::OVERFLOW)?;
    // SAFETY: a new mapping at an address of the kernel's choice; nobody reads or writes it.
    let map = unsafe { mmap(ptr::null_mut(), len, ProtFlags::READ, MapFlags::SHARED, file, 0) }?;
    let mut pages = vec![0_u8; len.div_ceil(page_size())];
    // SAFETY: the mapping is `len` long, and there is a byte for each of its pages.
    let answer = unsafe { libc::mincore(map, len, pages.as_mut_ptr()) };
    let error = std::io::Error::last_os_error();
    // SAFETY: mapped above and not used after.
    unsafe { munmap(map, len) }?;
    if answer != 0 {
        return Err(Errno::from_io_error(&error).unwrap_or(Errno::IO));
    }
    let cached = pages.iter().filter(|page| **page & 1 != 0).count();
    Ok(Resident { bytes: (cached * page_size()) as u64, method: "mincore" })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn both_calls_see_what_was_just_written() {
        let mut file = tempfile::tempfile().expect("a file");
        file.write_all(&vec![7; 1 << 20]).expect("written");
        let told = by_mincore(file.as_fd(), 1 << 20).expect("told");
        assert_eq!(told.bytes, 1 << 20);
        match by_cachestat(file.as_fd(), 1 << 20) {
            Ok(told) => assert_eq!(told.bytes, 1 << 20),
            Err(errno) => assert_eq!(errno, Errno::NOSYS),
        }
        assert_eq!(resident(&file, 0).map(|told| told.bytes), Ok(0));
    }
}
