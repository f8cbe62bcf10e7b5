//! The seal: the sum of everything before it, in a frame that decompressors skip (RFC 8878, 3.1.2).

use std::io::{self, Read, Write};

use sha2::{Digest, Sha256};

/// The number of a skippable frame, of which there are sixteen.
const MAGIC: u32 = 0x184d_2a5e;

/// What the frame's contents begin with, so that it is not taken for somebody else's.
const MARK: &[u8; 8] = b"seatrial";

/// Bytes of a sum.
const SUM: usize = 32;

/// Bytes of a seal: number, length, mark and sum.
pub const SEAL: usize = 4 + 4 + MARK.len() + SUM;

/// The seal on what has this sum.
pub fn seal(sum: &[u8]) -> Vec<u8> {
    let length = (MARK.len() + SUM) as u32;
    [&MAGIC.to_le_bytes(), &length.to_le_bytes(), MARK.as_slice(), sum].concat()
}

/// Whether these bytes are a seal on anything at all.
pub fn is_seal(bytes: &[u8]) -> bool {
    let whole = seal(&[0; SUM]);
    bytes.len() == SEAL && bytes[..SEAL - SUM] == whole[..SEAL - SUM]
}

/// Passes bytes on and sums them up.
pub struct Summed<T> {
    inner: T,
    sum: Sha256,
    /// Bytes so far.
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
///
/// # Errors
/// When it cannot be read.
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
