//! Fields of a frame's content.

use std::io;

use crate::entry::Stamp;

/// Appends bytes with their length.
pub fn put_bytes(to: &mut Vec<u8>, bytes: &[u8]) {
    to.extend_from_slice(&(bytes.len() as u32).to_le_bytes());
    to.extend_from_slice(bytes);
}

/// Appends a stamp.
pub fn put_stamp(to: &mut Vec<u8>, stamp: &Stamp) {
    to.extend_from_slice(&stamp.size.to_le_bytes());
    to.extend_from_slice(&stamp.seconds.to_le_bytes());
    for word in [stamp.nanoseconds, stamp.mode, stamp.user, stamp.group] {
        to.extend_from_slice(&word.to_le_bytes());
    }
}

/// The fields that have not been read yet.
#[derive(Debug)]
pub struct Fields<'a>(pub &'a [u8]);

impl<'a> Fields<'a> {
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The next `count` bytes.
    pub fn take(&mut self, count: usize) -> io::Result<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(count).ok_or_else(|| {
            io::Error::new(io::ErrorKind::InvalidData, "a frame is shorter than its fields")
        })?;
        self.0 = rest;
        Ok(taken)
    }

    fn array<const COUNT: usize>(&mut self) -> io::Result<[u8; COUNT]> {
        let mut array = [0; COUNT];
        array.copy_from_slice(self.take(COUNT)?);
        Ok(array)
    }

    pub fn byte(&mut self) -> io::Result<u8> {
        Ok(self.array::<1>()?[0])
    }

    pub fn u32(&mut self) -> io::Result<u32> {
        self.array().map(u32::from_le_bytes)
    }

    pub fn u64(&mut self) -> io::Result<u64> {
        self.array().map(u64::from_le_bytes)
    }

    /// Bytes with their length before them.
    pub fn bytes(&mut self) -> io::Result<&'a [u8]> {
        let length = self.u32()?;
        self.take(length as usize)
    }

    pub fn hash(&mut self) -> io::Result<blake3::Hash> {
        self.array().map(blake3::Hash::from_bytes)
    }

    pub fn stamp(&mut self) -> io::Result<Stamp> {
        Ok(Stamp {
            size: self.u64()?,
            seconds: self.u64()?.cast_signed(),
            nanoseconds: self.u32()?,
            mode: self.u32()?,
            user: self.u32()?,
            group: self.u32()?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_read_in_the_order_of_writing_and_no_further() {
        let stamp = Stamp { size: 7, seconds: -5, nanoseconds: 9, mode: 0o100_640, user: 1, group: 2 };
        let mut content = Vec::new();
        put_bytes(&mut content, b"a\nname\xff");
        put_stamp(&mut content, &stamp);
        let mut fields = Fields(&content);
        assert_eq!(fields.bytes().expect("there"), b"a\nname\xff");
        assert_eq!(fields.stamp().expect("there"), stamp);
        assert!(fields.is_empty() && fields.byte().is_err());
        assert!(Fields(&[255, 255, 255, 255, 1]).bytes().is_err());
    }
}
