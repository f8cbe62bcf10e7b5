//! Bytes to send repeatedly, as memory and as a file.
#![expect(unsafe_code, reason = "a mapping of a file that nobody changes any more")]

use std::ffi::c_void;
use std::fs::File;
use std::io::Write;
use std::ops::Deref;
use std::os::fd::{AsFd, BorrowedFd};
use std::ptr::{self, NonNull};

use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, memfd_create};
use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};

/// Immutable bytes, mapped from a sealed memfd: the same pages serve `write`, `sendfile` and zero-copy sends.
#[derive(Debug)]
pub struct Source {
    file: File,
    start: NonNull<c_void>,
    len: usize,
}

// SAFETY: the mapping is only ever read, and belongs to this value alone.
unsafe impl Send for Source {}
// SAFETY: as above: reading from several threads at once is no conflict.
unsafe impl Sync for Source {}

impl Source {
    pub fn new(bytes: &[u8]) -> std::io::Result<Self> {
        let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
        let mut file = File::from(memfd_create("seatrial-source", flags)?);
        file.write_all(bytes)?;
        // A sealed file cannot shrink under the mapping, which would end the process by SIGBUS.
        fcntl_add_seals(&file, SealFlags::SHRINK | SealFlags::GROW | SealFlags::WRITE | SealFlags::SEAL)?;
        let len = bytes.len().max(1);
        // SAFETY: a new mapping at an address of the kernel's choice touches no memory that anybody has.
        let start = unsafe { mmap(ptr::null_mut(), len, ProtFlags::READ, MapFlags::SHARED, &file, 0)? };
        let start = NonNull::new(start).ok_or(std::io::ErrorKind::OutOfMemory)?;
        Ok(Self { file, start, len: bytes.len() })
    }

    pub fn file(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
}

impl Deref for Source {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        // SAFETY: the mapping is that long and lives as long as this value; the seals keep its bytes as they are.
        unsafe { std::slice::from_raw_parts(self.start.as_ptr().cast(), self.len) }
    }
}

impl Drop for Source {
    fn drop(&mut self) {
        // SAFETY: the mapping is this value's own, and no slice of it outlives it. The kernel holds the pages that it
        // still sends from by itself.
        let _ = unsafe { munmap(self.start.as_ptr(), self.len.max(1)) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::FileExt;

    #[test]
    fn is_the_same_as_memory_and_as_a_file() {
        let bytes: Vec<u8> = (0..10_000_u32).map(|at| (at % 253) as u8).collect();
        let source = Source::new(&bytes).expect("made");
        assert_eq!(&source[..], &bytes[..]);
        let mut read = vec![0; 100];
        source.file.read_exact_at(&mut read, 5000).expect("read");
        assert_eq!(read, bytes[5000..5100]);
        assert!(source.file.write_at(&[1], 0).is_err(), "nobody can change it any more");
        assert!(Source::new(&[]).expect("made").is_empty());
    }
}
