//! The seal: the sum of everything before it, in a form that decompressors pass over.

use std::io::{self, Read, Write};

use sha2::{Digest, Sha256};

use super::unpack::Packing;

/// What stands before the sum in a file of gzip: a member without contents, and the sum as a field of its header, of which a
/// reader needs to know nothing (RFC 1952, 2.3.1.1). "seatrial" tells it from somebody else's.
const GZIP_HEAD: &[u8] = b"\x1f\x8b\x08\x04\0\0\0\0\0\xff\x2c\0St\x28\0seatrial";

/// What stands behind it: an empty block, its sum and its length.
const GZIP_TAIL: &[u8] = b"\x03\0\0\0\0\0\0\0\0\0";

/// What stands before the sum in a file of zstd: number and length of a frame that is skipped (RFC 8878, 3.1.2).
const ZSTD_HEAD: &[u8] = b"\x5e\x2a\x4d\x18\x28\0\0\0seatrial";

/// Bytes of a sum.
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

    /// Whether these bytes are a seal on anything at all.
    pub fn is_seal(self, bytes: &[u8]) -> bool {
        let (head, tail) = self.around_the_sum();
        bytes.len() == self.seal_bytes() && bytes.starts_with(head) && bytes.ends_with(tail)
    }
}

/// Passes bytes on and sums them up.
pub struct Summed<T> {
    inner: T,
    sum: Sha256,
    pub bytes: u64,
}

impl<T> Summed<T> {
    /// Nothing has passed yet.
    pub fn new(inner: T) -> Self {
        Self { inner, sum: Sha256::new(), bytes: 0 }
    }

    /// What passed has this sum; what it went to or came from.
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

/// The sum of all that can be read, in hexadecimal.
pub fn sum_of(from: &mut dyn Read) -> io::Result<String> {
    let mut summed = Summed::new(from);
    let mut buffer = vec![0; 1 << 16];
    while summed.read(&mut buffer)? > 0 {}
    Ok(hexadecimal(&summed.finish().0))
}

/// The sum of some bytes in hexadecimal.
pub fn sha256(bytes: &[u8]) -> String {
    hexadecimal(&Sha256::digest(bytes))
}

/// Bytes in lower-case hexadecimal.
pub fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
