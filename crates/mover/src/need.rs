//! What the target needs of a file that it was asked about.

use std::io;

use crate::wire::Fields;

/// What the target needs of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    /// Nothing: it has a file of this size and time.
    Nothing,
    /// Owner and extended attributes: it has a file of this size and time.
    Attributes,
    /// The content.
    Content,
    /// The content, unless it has this hash.
    Other(blake3::Hash),
}

impl Need {
    pub fn put(&self, content: &mut Vec<u8>) {
        match self {
            Self::Nothing => content.push(0),
            Self::Attributes => content.push(3),
            Self::Content => content.push(1),
            Self::Other(hash) => {
                content.push(2);
                content.extend_from_slice(hash.as_bytes());
            }
        }
    }

    pub fn read(fields: &mut Fields<'_>) -> io::Result<Self> {
        match fields.byte()? {
            0 => Ok(Self::Nothing),
            1 => Ok(Self::Content),
            2 => fields.hash().map(Self::Other),
            3 => Ok(Self::Attributes),
            _ => Err(io::Error::new(io::ErrorKind::InvalidData, "an unknown need")),
        }
    }
}
