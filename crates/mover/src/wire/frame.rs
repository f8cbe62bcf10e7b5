//! Frames: a kind, a length, the CRC-32 of the content, the content. Of a sealed frame the content is encrypted and has a tag
//! behind it, which the length counts; the CRC-32 is 0.

use std::io::{self, Read, Write};

use super::cipher::{Seal, TAG};

/// Bytes before the content: kind (u32), length (u32), CRC-32 (u32).
const HEADER: usize = 12;

/// Bytes of kind and length.
const LABEL: usize = 8;

/// The largest content that is read.
const MOST: usize = 16 << 20;

macro_rules! kinds {
    ($($(#[$doc:meta])* $name:ident = $number:literal,)*) => {
        /// What a frame is for.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum FrameKind { $($(#[$doc])* $name = $number,)* }

        impl FrameKind {
            fn of(number: u32) -> Option<Self> {
                match number { $($number => Some(Self::$name),)* _ => None }
            }
        }
    };
}

kinds! {
    /// Before [`Self::Start`], to measure the round trip: open a port for one connection that carries nothing. The answer is that
    /// of [`Self::Start`].
    Probe = 14,
    /// The first frame on the control channel: [`super::Start`].
    Start = 1,
    /// Its answer: [`super::Ready`].
    Ready = 2,
    /// Regular files with size and time: which of them does the receiver need?
    Query = 3,
    /// The answer: one word a file.
    Needs = 4,
    /// Small files, symbolic links, directories, attributes.
    Files = 5,
    /// A large file is about to come in pieces.
    Begin = 6,
    /// The answer: hashes of the blocks that a partial file has.
    Blocks = 7,
    /// A piece of a large file.
    Piece = 8,
    /// All pieces of a large file were sent: so many.
    Commit = 9,
    /// The large file changed or cannot be read: give it up.
    Abort = 10,
    /// The answer to all frames with content: what was stored, and what failed.
    Stored = 11,
    /// The attributes of directories, those below first.
    Directories = 12,
    /// Nothing follows.
    End = 13,
}

/// A frame that is being filled; its memory is used again for the next.
#[derive(Debug, Default)]
pub struct Frame(Vec<u8>);

impl Frame {
    /// Begins a frame without content.
    pub fn begin(&mut self) -> &mut Vec<u8> {
        self.0.clear();
        self.0.resize(HEADER, 0);
        &mut self.0
    }

    /// The content so far, with the header's place before it.
    pub fn content(&mut self) -> &mut Vec<u8> {
        &mut self.0
    }

    /// Bytes of the content.
    pub fn len(&self) -> usize {
        self.0.len().saturating_sub(HEADER)
    }

    /// Fills the header in and writes the frame.
    pub fn write(&mut self, kind: FrameKind, to: &mut impl Write) -> io::Result<()> {
        self.put_header(kind, 0)?;
        let crc = crc32fast::hash(&self.0[HEADER..]);
        self.0[LABEL..HEADER].copy_from_slice(&crc.to_le_bytes());
        to.write_all(&self.0)?;
        to.flush()
    }

    /// The same, encrypted.
    pub fn write_sealed(&mut self, kind: FrameKind, seal: &mut Seal, to: &mut impl Write) -> io::Result<()> {
        self.put_header(kind, TAG)?;
        let (header, content) = self.0.split_at_mut(HEADER);
        let tag = seal.seal(&header[..LABEL], content)?;
        self.0.extend_from_slice(&tag);
        to.write_all(&self.0)?;
        to.flush()
    }

    /// The header of a frame with so many bytes behind its content, and no checksum.
    fn put_header(&mut self, kind: FrameKind, behind: usize) -> io::Result<()> {
        let length = u32::try_from(self.len() + behind).ok().filter(|length| *length as usize <= MOST);
        let length = length.ok_or_else(|| io::Error::other("a frame is too long"))?;
        self.0[..4].copy_from_slice(&(kind as u32).to_le_bytes());
        self.0[4..LABEL].copy_from_slice(&length.to_le_bytes());
        self.0[LABEL..HEADER].fill(0);
        Ok(())
    }
}

/// Reads the next frame's content into `content`; `None` at the end of the stream.
///
/// # Errors
/// When the stream fails or ends within a frame, and [`io::ErrorKind::InvalidData`] when the content has another checksum.
pub fn read_frame(from: &mut impl Read, content: &mut Vec<u8>) -> io::Result<Option<FrameKind>> {
    let Some((kind, header)) = read_content(from, content)? else { return Ok(None) };
    if crc32fast::hash(content).to_le_bytes() != header[LABEL..] {
        return Err(invalid("a block was damaged on the way: its checksum differs"));
    }
    Ok(Some(kind))
}

/// Reads the next frame, which is encrypted.
///
/// # Errors
/// As [`read_frame`], when the content was changed, and when it is not the next that was sealed.
pub fn read_sealed(
    from: &mut impl Read,
    seal: &mut Seal,
    content: &mut Vec<u8>,
) -> io::Result<Option<FrameKind>> {
    let Some((kind, header)) = read_content(from, content)? else { return Ok(None) };
    seal.open(&header[..LABEL], content)?;
    Ok(Some(kind))
}

fn invalid(text: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, text.to_owned())
}

/// The content of the next frame as it came, with its header.
fn read_content(
    from: &mut impl Read,
    content: &mut Vec<u8>,
) -> io::Result<Option<(FrameKind, [u8; HEADER])>> {
    let mut header = [0; HEADER];
    let mut read = 0;
    while read < HEADER {
        match from.read(&mut header[read..]) {
            Ok(0) if read == 0 => return Ok(None),
            Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(bytes) => read += bytes,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    let word = |at: usize| u32::from_le_bytes([header[at], header[at + 1], header[at + 2], header[at + 3]]);
    let kind = FrameKind::of(word(0)).ok_or_else(|| invalid("a frame of unknown kind"))?;
    let length = word(4) as usize;
    if length > MOST {
        return Err(invalid("a frame is too long"));
    }
    content.resize(length, 0);
    from.read_exact(content)?;
    Ok(Some((kind, header)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(content: &[u8]) -> Vec<u8> {
        let (mut frame, mut stream) = (Frame::default(), Vec::new());
        frame.begin().extend_from_slice(content);
        frame.write(FrameKind::Files, &mut stream).expect("written");
        stream
    }

    #[test]
    fn a_frame_arrives_as_it_was_sent() {
        let mut content = Vec::new();
        let mut stream = &written(b"some files")[..];
        assert_eq!(read_frame(&mut stream, &mut content).expect("read"), Some(FrameKind::Files));
        assert_eq!(content, b"some files");
        assert_eq!(read_frame(&mut stream, &mut content).expect("ended"), None);
    }

    #[test]
    fn every_flipped_bit_of_the_content_is_noticed() {
        let sound = written(b"some files");
        for bit in HEADER * 8..sound.len() * 8 {
            let mut damaged = sound.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            let error = read_frame(&mut &damaged[..], &mut Vec::new()).expect_err("damaged");
            assert_eq!(error.kind(), io::ErrorKind::InvalidData);
        }
    }

    #[test]
    fn a_stream_that_ends_within_a_frame_or_holds_another_thing_is_an_error() {
        let sound = written(b"some files");
        for length in 1..sound.len() {
            assert!(read_frame(&mut &sound[..length], &mut Vec::new()).is_err(), "{length}");
        }
        assert!(read_frame(&mut &b"GET / HTTP/1.1\r\n\r\n"[..], &mut Vec::new()).is_err());
    }
}
