//! Populates pages ahead of use, with an error instead of a signal where a page cannot be had.
#![expect(unsafe_code, reason = "madvise")]

use std::fs::File;
use std::io::Read;

use rustix::io::Errno;
use rustix::mm::{Advice, madvise};

/// Gives every page of `memory`, which starts at a page, a physical page under the NUMA policy in force.
///
/// Touching a page of an exhausted pool or node kills the process with SIGBUS; populating returns an error
/// (madvise(2), `MADV_POPULATE_WRITE`, since Linux 5.14).
pub(super) fn populate(memory: &mut [u8]) -> Result<(), Errno> {
    // SAFETY: the range is ours, exclusively borrowed and mapped; populating does not change its content.
    match unsafe { madvise(memory.as_mut_ptr().cast(), memory.len(), Advice::LinuxPopulateWrite) } {
        Err(Errno::INVAL) => by_reads(memory),
        done => done,
    }
}

/// For older kernels: a read(2) into each page, where a failed fault is EFAULT. It zeroes the first byte of every
/// base page, which is zero in fresh memory anyway.
fn by_reads(memory: &mut [u8]) -> Result<(), Errno> {
    let error = |error: std::io::Error| Errno::from_io_error(&error).unwrap_or(Errno::IO);
    let mut zero = File::open("/dev/zero").map_err(error)?;
    for page in memory.chunks_mut(rustix::param::page_size()) {
        zero.read_exact(&mut page[..1]).map_err(error)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::{Pages, region::Region};

    fn fresh() -> Region {
        Region::map(1 << 20, 1 << 20, Pages::Base).expect("mapped")
    }

    fn resident(region: &Region) -> usize {
        let smaps = std::fs::read_to_string("/proc/self/smaps").expect("smaps");
        let from = region.start().addr().get();
        let found = crate::memory::residency::parse(&smaps, from, from + region.len()).expect("parsed");
        usize::try_from(found.resident_bytes).expect("fits")
    }

    #[test]
    fn both_ways_make_every_page_resident() {
        for way in [populate, by_reads] {
            let mut region = fresh();
            assert_eq!(resident(&region), 0);
            way(region.bytes_mut()).expect("populated");
            assert_eq!(resident(&region), 1 << 20);
        }
    }
}
