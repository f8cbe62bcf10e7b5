//! Reads and writes that repeat short transfers.

use std::os::fd::AsFd;

use rustix::io::{Errno, pread, pwrite};

/// Reads `bytes` from `offset` on; returns their number, which is smaller only at the end of the file.
pub fn read_whole(file: impl AsFd, bytes: &mut [u8], offset: u64) -> Result<usize, Errno> {
    whole(bytes.len(), |done| pread(file.as_fd(), &mut bytes[done..], offset + done as u64))
}

/// Writes all of `bytes` from `offset` on; `EIO` when a write moves nothing without an error.
pub fn write_whole(file: impl AsFd, bytes: &[u8], offset: u64) -> Result<(), Errno> {
    let taken = whole(bytes.len(), |done| pwrite(file.as_fd(), &bytes[done..], offset + done as u64))?;
    if taken < bytes.len() { Err(Errno::IO) } else { Ok(()) }
}

/// Calls with the bytes done so far until `len` are done or a call moves nothing; returns the bytes done.
pub(super) fn whole(len: usize, mut call: impl FnMut(usize) -> Result<usize, Errno>) -> Result<usize, Errno> {
    let mut done = 0;
    while done < len {
        match call(done) {
            Ok(0) => break,
            Ok(more) => done += more,
            Err(Errno::INTR) => {}
            Err(errno) => return Err(errno),
        }
    }
    Ok(done)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answered(answers: &[Result<usize, Errno>]) -> (Result<usize, Errno>, Vec<usize>) {
        let (mut answers, mut asked) = (answers.iter().copied(), Vec::new());
        let call = |done| {
            asked.push(done);
            answers.next().expect("no more calls than answers")
        };
        (whole(10, call), asked)
    }

    #[test]
    fn a_piece_is_asked_for_until_it_is_whole_and_a_signal_changes_nothing() {
        assert_eq!(answered(&[Ok(10)]), (Ok(10), vec![0]));
        assert_eq!(answered(&[Err(Errno::INTR), Ok(4), Err(Errno::INTR), Ok(6)]), (Ok(10), vec![0, 0, 4, 4]));
    }

    #[test]
    fn what_moves_nothing_is_the_end_and_an_error_is_told() {
        assert_eq!(answered(&[Ok(4), Ok(0)]), (Ok(4), vec![0, 4]));
        assert_eq!(answered(&[Ok(4), Err(Errno::NOSPC)]), (Err(Errno::NOSPC), vec![0, 4]));
    }

    #[test]
    fn what_was_written_is_read_up_to_the_end_of_the_file() {
        let file = tempfile::tempfile().expect("a file");
        write_whole(&file, b"0123456789", 5).expect("written");
        let mut bytes = [0xff; 16];
        assert_eq!(read_whole(&file, &mut bytes, 3), Ok(12));
        assert_eq!(bytes, *b"\0\x000123456789\xff\xff\xff\xff");
        let read_only = std::fs::File::open("/dev/null").expect("opened");
        assert_eq!(write_whole(&read_only, b"x", 0), Err(Errno::BADF));
    }
}
