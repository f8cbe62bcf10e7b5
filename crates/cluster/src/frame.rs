//! Frames on pipes and sockets: a length as little-endian `u32`, then that many bytes of JSON.
//!
//! A length above [`MAX_FRAME`] is refused, and memory grows as bytes arrive, so that neither a broken worker nor the
//! output of a login script makes the reader allocate gigabytes.

use std::io::{self, Read, Write};

use serde::Serialize;
use serde::de::DeserializeOwned;

/// Largest frame in bytes of JSON: 16 MiB, enough for the offers of thousands of parts in one message.
pub const MAX_FRAME: usize = 16 << 20;

const HEADER: usize = size_of::<u32>();

#[derive(Debug, thiserror::Error)]
pub enum FrameError {
    /// The frame or its announced length is above [`MAX_FRAME`].
    #[error("a frame of {bytes} bytes is above the limit of {MAX_FRAME}")]
    TooLarge { bytes: usize },
    /// The stream ended inside a frame.
    #[error("the stream ended after {got} of {of} bytes of a frame")]
    Truncated {
        /// Bytes received; of the header while it is incomplete.
        got: usize,
        of: usize,
    },
    /// The bytes are not the expected message.
    #[error("the frame is not a message: {why}")]
    Garbage { why: String },
    #[error("the stream failed: {0}")]
    Io(#[from] io::Error),
}

impl FrameError {
    /// Whether the peer is gone, as opposed to malformed data.
    pub fn is_hang_up(&self) -> bool {
        matches!(self, Self::Truncated { .. } | Self::Io(_))
    }
}

#[derive(Debug)]
pub struct FrameReader<R> {
    from: R,
    buffer: Vec<u8>,
}

impl<R: Read> FrameReader<R> {
    pub fn new(from: R) -> Self {
        Self { from, buffer: Vec::new() }
    }

    /// The next message; `None` when the stream ended between frames. After an error the stream is unusable.
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

    /// Reads `wanted` bytes, or fewer at the end. `read_to_end` allocates as bytes arrive, so a wrong header costs no
    /// memory.
    fn fill(&mut self, wanted: usize) -> io::Result<usize> {
        self.buffer.clear();
        (&mut self.from).take(wanted as u64).read_to_end(&mut self.buffer)
    }
}

/// Writes messages to a stream, one frame and one write call each.
#[derive(Debug)]
pub struct FrameWriter<W> {
    to: W,
}

impl<W: Write> FrameWriter<W> {
    pub fn new(to: W) -> Self {
        Self { to }
    }

    /// Writes one message; [`FrameError::TooLarge`] writes nothing, so that the stream stays in sync.
    pub fn write(&mut self, message: &impl Serialize) -> Result<(), FrameError> {
        self.to.write_all(&encode(message)?)?;
        Ok(self.to.flush()?)
    }
}

/// The frame of a message; [`FrameError::Garbage`] for a value that has no JSON.
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
