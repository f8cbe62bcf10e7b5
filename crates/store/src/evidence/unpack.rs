//! Decompresses the archive: gzip (RFC 1952), or zstd (RFC 8878) of older builds.

use std::fs::File;
use std::io::{self, BufReader, Read, Take};

use flate2::bufread::GzDecoder;
use ruzstd::decoding::{FrameDecoder, StreamingDecoder};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Packing {
    Gzip,
    /// Of older builds.
    Zstd,
}

/// Magic number of a zstd frame.
const ZSTD: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];

/// Largest window for decompression in bytes: twice that of any file that was written. The file decides how much
/// memory the window takes.
const WINDOW: u64 = 8 << 20;

pub enum Unpacker {
    Gzip(Box<GzDecoder<BufReader<Take<File>>>>),
    Zstd(Box<StreamingDecoder<BufReader<Take<File>>, FrameDecoder>>),
}

impl Packing {
    /// The compression of a file with these first bytes.
    pub fn of(first: &[u8]) -> Self {
        if first.starts_with(&ZSTD) { Self::Zstd } else { Self::Gzip }
    }
}

impl Unpacker {
    /// Reads the archive from `file`, up to the seal.
    pub fn new(packing: Packing, file: Take<File>) -> io::Result<Self> {
        let file = BufReader::new(file);
        Ok(match packing {
            Packing::Gzip => Self::Gzip(Box::new(GzDecoder::new(file))),
            Packing::Zstd => {
                let decoder = StreamingDecoder::new_with_max_window_size(file, WINDOW);
                Self::Zstd(Box::new(decoder.map_err(io::Error::other)?))
            }
        })
    }

    /// Whether nothing follows: other programs would unpack another member or frame, unseen by this reader.
    pub fn is_at_end(&mut self) -> bool {
        let rest = match self {
            Self::Gzip(decoder) => decoder.get_mut(),
            Self::Zstd(decoder) => decoder.get_mut(),
        };
        matches!(rest.read(&mut [0]), Ok(0))
    }
}

impl Read for Unpacker {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Gzip(decoder) => decoder.read(bytes),
            Self::Zstd(decoder) => decoder.read(bytes),
        }
    }
}
