//! The seal: the checksum of everything before, in a form that decompressors ignore.

use std::io::{self, Read, Write};

use sha2::{Digest, Sha256};

use super::unpack::Packing;

/// Before the checksum in a gzip file: a member without contents, with the checksum in an extra field of its header,
/// which readers ignore (RFC 1952, 2.3.1.1). "seatrial" marks it as ours.
const GZIP_HEAD: &[u8] = b"\x1f\x8b\x08\x04\0\0\0\0\0\xff\x2c\0St\x28\0seatrial";

/// After it: an empty block, CRC and length.
const GZIP_TAIL: &[u8] = b"\x03\0\0\0\0\0\0\0\0\0";

/// Before the checksum in a zstd file: magic number and length of a skippable frame (RFC 8878, 3.1.2).
const ZSTD_HEAD: &[u8] = b"\x5e\x2a\x4d\x18\x28\0\0\0seatrial";

const SUM: usize = 32;

impl Packing {
    const fn around_the_sum(self) -> (&'static [u8], &'static [u8]) {
        match self {
            Self::Gzip => (GZIP_HEAD, GZIP_TAIL),
            Self::Zstd => (ZSTD_HEAD, b""),
        }
    }

    pub const fn seal_bytes(self) -> usize {
        let (head, tail) = self.around_the_sum();
        head.len() + SUM + tail.len()
    }

    pub fn seal(self, sum: &[u8]) -> Vec<u8> {
        let (head, tail) = self.around_the_sum();
        [head, sum, tail].concat()
    }

    pub fn is_seal(self, bytes: &[u8]) -> bool {
        let (head, tail) = self.around_the_sum();
        bytes.len() == self.seal_bytes() && bytes.starts_with(head) && bytes.ends_with(tail)
    }
}

/// Passes bytes on and computes their checksum.
pub struct Summed<T> {
    inner: T,
    sum: Sha256,
    pub bytes: u64,
}

impl<T> Summed<T> {
    pub fn new(inner: T) -> Self {
        Self { inner, sum: Sha256::new(), bytes: 0 }
    }

    /// The checksum of the bytes that passed, and the inner reader or writer.
    pub fn finish(self) -> (Vec<u8>, T) {
        (self.sum.finalize().to_vec(), self.inner)
    }
}

impl<T: Write> Write for Summed<T> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let count = self.inner.write(bytes)?;
        self.sum.update(&bytes[..count]);
        self.bytes += count as u64;
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

impl<T: Read> Read for Summed<T> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let count = self.inner.read(bytes)?;
        self.sum.update(&bytes[..count]);
        self.bytes += count as u64;
        Ok(count)
    }
}

/// SHA-256 of all that can be read, in hexadecimal.
pub fn sum_of(from: &mut dyn Read) -> io::Result<String> {
    let mut summed = Summed::new(from);
    let mut buffer = vec![0; 1 << 16];
    while summed.read(&mut buffer)? > 0 {}
    Ok(hexadecimal(&summed.finish().0))
}

pub fn sha256(bytes: &[u8]) -> String {
    hexadecimal(&Sha256::digest(bytes))
}

pub fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
