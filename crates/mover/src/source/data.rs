//! Where a file has data and where holes.

use std::fs::File;

use rustix::fs::{SeekFrom, seek};
use rustix::io::Errno;

/// The next range of bytes with data at or after `offset` in a file of `size` bytes; `None` if only a hole follows. A file
/// system without holes has one range (lseek(2)).
pub fn data_from(file: &File, offset: u64, size: u64) -> Option<(u64, u64)> {
    if offset >= size {
        return None;
    }
    let start = match seek(file, SeekFrom::Data(offset)) {
        Ok(start) => start,
        Err(Errno::NXIO) => return None,
        Err(_) => return Some((offset, size)),
    };
    let end = seek(file, SeekFrom::Hole(start)).unwrap_or(size);
    (start < size).then(|| (start, end.clamp(start, size)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::FileExt;

    #[test]
    fn all_data_of_a_file_with_holes_is_found() {
        let file = tempfile::tempfile().expect("a file");
        file.set_len(4 << 20).expect("set");
        file.write_all_at(b"data", 1 << 20).expect("written");
        let (mut at, mut ranges) = (0, Vec::new());
        while let Some((start, end)) = data_from(&file, at, 4 << 20) {
            assert!(start >= at && end > start && end <= 4 << 20);
            ranges.push(start..end);
            at = end;
        }
        assert!(ranges.iter().any(|range| range.contains(&(1 << 20)) && range.contains(&((1 << 20) + 3))));
        assert_eq!(data_from(&file, 4 << 20, 4 << 20), None);
    }
}
