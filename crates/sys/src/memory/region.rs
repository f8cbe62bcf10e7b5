//! An owned mapping with guard pages.
#![expect(unsafe_code, reason = "mmap, mprotect, madvise and munmap")]

use std::ffi::c_void;
use std::ptr::{self, NonNull};

use rustix::io::Errno;
use rustix::mm::{Advice, MapFlags, MprotectFlags, ProtFlags, madvise, mmap_anonymous, mprotect, munmap};

use super::Pages;
use super::populate::populate;

/// Alignment of regions outside hugetlb: a huge page on x86-64 and on Arm with 4 KiB base pages, so that transparent
/// huge pages fit from the first byte.
const ALIGN: usize = 2 << 20;

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RegionError {
    #[error("{rounded} bytes after rounding up to whole pages, more than the {cap} allowed")]
    Rounding { rounded: usize, cap: usize },
    /// mmap failed; for hugetlb pages the pool is too small or absent.
    #[error("mmap of {bytes} bytes: {errno}")]
    Map { bytes: usize, errno: Errno },
    #[error("madvise: {0}")]
    Advise(Errno),
    #[error("populating {bytes} bytes: {errno}")]
    Populate { bytes: usize, errno: Errno },
}

/// Address space to reserve for `len` bytes with alignment and both guards.
const fn reservation(len: usize) -> usize {
    len.saturating_add(2 * ALIGN)
}

/// Start of the accessible middle of a reservation: aligned, behind a guard of at least a page.
fn middle(reserved: usize) -> usize {
    (reserved + rustix::param::page_size()).next_multiple_of(ALIGN)
}

#[derive(Debug)]
pub(super) struct Region {
    reserved: NonNull<c_void>,
    reserved_len: usize,
    start: NonNull<u8>,
    len: usize,
}

// SAFETY: a region owns its address range alone; nothing in it is tied to the thread that made it.
unsafe impl Send for Region {}
// SAFETY: a shared region can only be read; writing needs the owner's exclusive borrow.
unsafe impl Sync for Region {}

impl Region {
    /// Maps at least `bytes` of the page kind; pages come at first touch or by [`Self::populate`].
    pub fn map(bytes: usize, cap: usize, pages: Pages) -> Result<Self, RegionError> {
        let grain = match pages {
            Pages::Base => rustix::param::page_size(),
            Pages::Transparent => ALIGN,
            Pages::Explicit2M | Pages::Explicit1G => pages.explicit_bytes().unwrap_or(ALIGN),
        };
        let rounded = bytes.checked_next_multiple_of(grain).unwrap_or(usize::MAX);
        if rounded > cap {
            return Err(RegionError::Rounding { rounded, cap });
        }
        match pages {
            Pages::Base => Self::between_guards(rounded, Advice::LinuxNoHugepage),
            Pages::Transparent => Self::between_guards(rounded, Advice::LinuxHugepage),
            Pages::Explicit2M => Self::explicit(rounded, MapFlags::HUGETLB | MapFlags::HUGE_2MB),
            Pages::Explicit1G => Self::explicit(rounded, MapFlags::HUGETLB | MapFlags::HUGE_1GB),
        }
    }

    /// Reserves more than needed without access and opens an aligned middle: the guards catch an overrun and keep the
    /// kernel from merging neighbours into this mapping's entry in smaps.
    fn between_guards(len: usize, advice: Advice) -> Result<Self, RegionError> {
        let reserved_len = reservation(len);
        let flags = MapFlags::PRIVATE | MapFlags::NORESERVE;
        let fail = |errno| RegionError::Map { bytes: len, errno };
        // SAFETY: a new anonymous mapping at an address of the kernel's choice touches no existing memory.
        let reserved = unsafe { mmap_anonymous(ptr::null_mut(), reserved_len, ProtFlags::empty(), flags) };
        let reserved = NonNull::new(reserved.map_err(fail)?).ok_or_else(|| fail(Errno::NOMEM))?;
        let offset = middle(reserved.addr().get()) - reserved.addr().get();
        // SAFETY: the offset is less than a page and ALIGN, hence inside the reservation.
        let start = unsafe { reserved.cast::<u8>().add(offset) };
        let region = Self { reserved, reserved_len, start, len };
        // SAFETY: start..start+len lies inside the reservation that `region` owns: the rims take less than 2 ALIGN.
        unsafe { mprotect(start.as_ptr().cast(), len, MprotectFlags::READ | MprotectFlags::WRITE) }
            .map_err(fail)?;
        // SAFETY: as above; the advice changes no content.
        match unsafe { madvise(start.as_ptr().cast(), len, advice) } {
            Ok(()) => Ok(region),
            // A kernel without transparent huge pages refuses both advices, and has base pages only.
            Err(Errno::INVAL) if advice == Advice::LinuxNoHugepage => Ok(region),
            Err(errno) => Err(RegionError::Advise(errno)),
        }
    }

    fn explicit(len: usize, flags: MapFlags) -> Result<Self, RegionError> {
        let access = ProtFlags::READ | ProtFlags::WRITE;
        let fail = |errno| RegionError::Map { bytes: len, errno };
        // SAFETY: a new anonymous mapping at an address of the kernel's choice touches no existing memory.
        let start = unsafe { mmap_anonymous(ptr::null_mut(), len, access, flags | MapFlags::PRIVATE) };
        let start = NonNull::new(start.map_err(fail)?).ok_or_else(|| fail(Errno::NOMEM))?;
        Ok(Self { reserved: start, reserved_len: len, start: start.cast(), len })
    }

    /// Populates every page, so that a missing page is an error here and not a signal later.
    pub fn populate(&mut self) -> Result<(), RegionError> {
        populate(self.bytes_mut()).map_err(|errno| RegionError::Populate { bytes: self.len, errno })
    }

    pub const fn start(&self) -> NonNull<u8> {
        self.start
    }

    pub const fn len(&self) -> usize {
        self.len
    }

    pub const fn bytes(&self) -> &[u8] {
        // SAFETY: start..start+len is mapped readable as long as self lives; anonymous memory starts as zeros, so
        // every byte is initialised; writers need `&mut self`.
        unsafe { std::slice::from_raw_parts(self.start.as_ptr(), self.len) }
    }

    pub const fn bytes_mut(&mut self) -> &mut [u8] {
        // SAFETY: as in `bytes`, and the exclusive borrow of self is the exclusive borrow of the memory.
        unsafe { std::slice::from_raw_parts_mut(self.start.as_ptr(), self.len) }
    }
}

impl Drop for Region {
    fn drop(&mut self) {
        // SAFETY: the whole reservation is ours and nothing can borrow from a region that is being dropped.
        let unmapped = unsafe { munmap(self.reserved.as_ptr(), self.reserved_len) };
        debug_assert!(unmapped.is_ok(), "munmap of an own mapping: {unmapped:?}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Permissions of the mappings that end at `from` and begin at `to`.
    fn neighbours(from: usize, to: usize) -> (Option<String>, Option<String>) {
        let maps = std::fs::read_to_string("/proc/self/maps").expect("maps");
        let rights = |line: &str| line.split_whitespace().nth(1).map(str::to_owned);
        let at = |suffix: &str| maps.lines().find(|line| line.contains(suffix)).and_then(rights);
        (at(&format!("-{from:x} ")), at(&format!("{to:x}-")))
    }

    #[test]
    fn rims_without_access_are_on_both_sides() {
        for pages in 1..4 {
            let bytes = pages * rustix::param::page_size();
            let region = Region::map(bytes, bytes, Pages::Base).expect("mapped");
            let from = region.start().addr().get();
            let closed = Some("---p".to_owned());
            assert_eq!(neighbours(from, from + bytes), (closed.clone(), closed));
        }
    }

    #[test]
    fn the_middle_is_aligned_between_two_rims_wherever_the_kernel_maps() {
        let page = rustix::param::page_size();
        for reserved in (ALIGN..2 * ALIGN).step_by(page) {
            let start = middle(reserved);
            assert!(start.is_multiple_of(ALIGN) && start >= reserved + page);
            assert!(start + 5 * page + page <= reserved + reservation(5 * page));
        }
    }
}
