//! Records of a frame with files.

use std::io;

use crate::entry::Stamp;
use crate::target::Attributes;
use crate::wire::Fields;

/// What a record makes in the target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecordKind {
    /// A regular file, whose content follows.
    File = 0,
    /// A symbolic link; where it leads follows.
    Link = 1,
    /// A directory; its attributes come when all is in it.
    Directory = 2,
    /// The attributes of a file whose content is there already.
    Keep = 3,
    /// A large file, whose pieces come in frames of their own.
    Large = 4,
}

/// What every record begins with.
#[derive(Debug)]
pub struct Record<'a> {
    pub kind: RecordKind,
    /// Path below the target.
    pub path: &'a [u8],
    pub stamp: Stamp,
    pub attributes: Attributes,
}

impl<'a> Record<'a> {
    pub fn read(fields: &mut Fields<'a>) -> io::Result<Self> {
        let kind = match fields.byte()? {
            0 => RecordKind::File,
            1 => RecordKind::Link,
            2 => RecordKind::Directory,
            3 => RecordKind::Keep,
            4 => RecordKind::Large,
            other => {
                let text = format!("a record of unknown kind {other}");
                return Err(io::Error::new(io::ErrorKind::InvalidData, text));
            }
        };
        let (path, stamp, count) = (fields.bytes()?, fields.stamp()?, fields.u32()?);
        let mut attributes = Vec::new();
        for _ in 0..count {
            attributes.push((fields.bytes()?.to_vec(), fields.bytes()?.to_vec()));
        }
        Ok(Self { kind, path, stamp, attributes })
    }
}
