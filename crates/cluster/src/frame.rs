//! The form of every message on a pipe or socket: a length, then that many bytes of JSON.
//!
//! The length is a `u32`, little-endian, of the JSON alone. A length above [`MAX_FRAME`] is refused before anything
//! is read or allocated, and memory grows only as bytes arrive, so neither a mad worker nor a line of text from a
//! login script can make the reader allocate gigabytes.

use std::io::{self, Read, Write};

use serde::Serialize;
use serde::de::DeserializeOwned;

/// The largest frame, in bytes of JSON: 16 MiB. Large enough for the offers of thousands of parts in one message.
pub const MAX_FRAME: usize = 16 << 20;

const HEADER: usize = size_of::<u32>();

/// Why a frame could not be read or written.
#[derive(Debug, thiserror::Error)]
pub enum FrameError {
    /// The frame is, or says that it is, above [`MAX_FRAME`].
    #[error("a frame of {bytes} bytes is above the limit of {MAX_FRAME}")]
    TooLarge {
        /// Its length; for one that was being written, how far that got.
        bytes: usize,
    },
    /// The stream ended inside a frame.
    #[error("the stream ended after {got} of {of} bytes of a frame")]
    Truncated {
        /// Bytes that came, of the header while that is incomplete.
        got: usize,
        /// Bytes that should have come.
        of: usize,
    },
    /// The bytes are not the message that was expected.
    #[error("the frame is not a message: {why}")]
    Garbage {
        /// What the parser says.
        why: String,
    },
    /// The stream answered with an error.
    #[error("the stream failed: {0}")]
    Io(#[from] io::Error),
}

impl FrameError {
    /// Whether the other side is simply gone, as opposed to saying something wrong.
    pub fn is_hang_up(&self) -> bool {
        matches!(self, Self::Truncated { .. } | Self::Io(_))
    }
}

/// Takes messages off a stream, one frame each.
#[derive(Debug)]
pub struct FrameReader<R> {
    from: R,
    buffer: Vec<u8>,
}

impl<R: Read> FrameReader<R> {
    /// A reader of `from`, which needs no buffer of its own.
    pub fn new(from: R) -> Self {
        Self { from, buffer: Vec::new() }
    }

    /// The next message; none when the stream ended between two frames.
    ///
    /// # Errors
    /// See [`FrameError`]. After an error the stream is out of step and of no more use.
    pub fn read<T: DeserializeOwned>(&mut self) -> Result<Option<T>, FrameError> {
        if self.fill(HEADER)? == 0 {
            return Ok(None);
        }
        let header = self.buffer.first_chunk().copied();
        let length = header
            .map(u32::from_le_bytes)
            .ok_or(FrameError::Truncated { got: self.buffer.len(), of: HEADER })?;
        let length = usize::try_from(length).unwrap_or(usize::MAX);
        if length > MAX_FRAME {
            return Err(FrameError::TooLarge { bytes: length });
        }
        let got = self.fill(length)?;
        if got < length {
            return Err(FrameError::Truncated { got, of: length });
        }
        serde_json::from_slice(&self.buffer)
            .map(Some)
            .map_err(|error| FrameError::Garbage { why: error.to_string() })
    }

    /// Reads `wanted` bytes into the buffer, or what comes before the end. `take` bounds what is read and
    /// `read_to_end` grows as it goes, so a header that lies costs no memory.
    fn fill(&mut self, wanted: usize) -> io::Result<usize> {
        self.buffer.clear();
        (&mut self.from).take(wanted as u64).read_to_end(&mut self.buffer)
    }
}

/// Puts messages on a stream, one frame and one write each.
#[derive(Debug)]
pub struct FrameWriter<W> {
    to: W,
}

impl<W: Write> FrameWriter<W> {
    /// A writer to `to`, which should not buffer.
    pub fn new(to: W) -> Self {
        Self { to }
    }

    /// Writes one message.
    ///
    /// # Errors
    /// [`FrameError::TooLarge`], with nothing written, so that the stream stays in step; or the stream's own error.
    pub fn write(&mut self, message: &impl Serialize) -> Result<(), FrameError> {
        self.to.write_all(&encode(message)?)?;
        Ok(self.to.flush()?)
    }
}

/// The frame of a message.
///
/// # Errors
/// [`FrameError::TooLarge`] as soon as the JSON passes the limit, and [`FrameError::Garbage`] for what has no JSON.
pub fn encode(message: &impl Serialize) -> Result<Vec<u8>, FrameError> {
    let mut frame = Bounded(vec![0; HEADER]);
    if let Err(error) = serde_json::to_writer(&mut frame, message) {
        let bytes = frame.0.len() - HEADER;
        return Err(if error.is_io() {
            FrameError::TooLarge { bytes }
        } else {
            FrameError::Garbage { why: error.to_string() }
        });
    }
    let Bounded(mut frame) = frame;
    let bytes = frame.len() - HEADER;
    let length = u32::try_from(bytes).map_err(|_| FrameError::TooLarge { bytes })?;
    frame[..HEADER].copy_from_slice(&length.to_le_bytes());
    Ok(frame)
}

/// A buffer that refuses to grow past one frame.
struct Bounded(Vec<u8>);

impl Write for Bounded {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.0.len() + bytes.len() > HEADER + MAX_FRAME {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        self.0.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests;
