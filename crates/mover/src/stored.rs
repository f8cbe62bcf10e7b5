//! The answer to frames with content.

use std::io;

use crate::failure::Failure;
use crate::progress::Progress;
use crate::wire::{Fields, put_bytes};

/// What the target stored of a frame.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stored {
    /// Regular files that are complete now, and those that were there already.
    pub files: u32,
    pub unchanged: u32,
    /// Directories and links.
    pub others: u32,
    /// Bytes of file content.
    pub bytes: u64,
    pub failures: Vec<Failure>,
}

impl Stored {
    pub fn failed(failure: Failure) -> Self {
        Self { failures: vec![failure], ..Self::default() }
    }

    pub fn put(&self, content: &mut Vec<u8>) {
        for count in [self.files, self.unchanged, self.others] {
            content.extend_from_slice(&count.to_le_bytes());
        }
        content.extend_from_slice(&self.bytes.to_le_bytes());
        for failure in &self.failures {
            put_bytes(content, &failure.path);
            put_bytes(content, failure.text.as_bytes());
        }
    }

    pub fn read(content: &[u8]) -> io::Result<Self> {
        let mut fields = Fields(content);
        let (files, unchanged, others) = (fields.u32()?, fields.u32()?, fields.u32()?);
        let mut stored = Self { files, unchanged, others, bytes: fields.u64()?, failures: Vec::new() };
        while !fields.is_empty() {
            let path = fields.bytes()?;
            stored.failures.push(Failure::new(path, String::from_utf8_lossy(fields.bytes()?)));
        }
        Ok(stored)
    }

    /// Adds this to the progress of the copy.
    pub fn count(self, progress: &Progress) {
        Progress::add(&progress.files, self.files.into());
        Progress::add(&progress.unchanged, self.unchanged.into());
        Progress::add(&progress.others, self.others.into());
        Progress::add(&progress.bytes, self.bytes);
        self.failures.into_iter().for_each(|failure| progress.fail(failure));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_stored_is_read_as_it_was_written() {
        let failures = vec![Failure::new(b"a\xff\nname", "why"), Failure::new(b"b", "")];
        let stored = Stored { files: 1, unchanged: 2, others: 3, bytes: 4, failures };
        let mut content = Vec::new();
        stored.put(&mut content);
        assert_eq!(Stored::read(&content).expect("read"), stored);
        assert!(Stored::read(&content[..content.len() - 5]).is_err());
    }
}
