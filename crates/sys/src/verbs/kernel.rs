//! Posting of requests, in the path of every message: no allocation, lock or system call of ours.
#![expect(unsafe_code, reason = "calls the device's provider with lists that point into themselves")]

use std::ffi::c_int;
use std::ops::Range;
use std::ptr;
use std::sync::Arc;

use super::abi::{RecvWr, SendWr};
use super::{QueuePair, ReceiveList, SendList, Transport, VerbsError};
use crate::Errno;

// SAFETY: the pointers in a list are set where it is posted, and lead nowhere before; what they stand for is kept by
// the list.
unsafe impl Send for SendList {}
// SAFETY: as above.
unsafe impl Send for ReceiveList {}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PostError {
    /// Requests of the range accepted before.
    pub accepted: usize,
    /// The provider's errno: ENOMEM where the queue is full.
    pub errno: Errno,
}

impl From<PostError> for VerbsError {
    fn from(error: PostError) -> Self {
        Self::Post { errno: error.errno, accepted: error.accepted }
    }
}

impl std::fmt::Display for PostError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        VerbsError::from(*self).fmt(f)
    }
}

impl std::error::Error for PostError {}

impl QueuePair {
    /// Posts a range of send requests in order, without waiting; EINVAL for a wrong state or transport. Panics when
    /// the range is beyond the end of the list.
    #[inline]
    pub fn post_send(&self, list: &mut SendList, range: Range<usize>) -> Result<(), PostError> {
        let (requests, pieces) = (&mut list.requests[range.clone()], &mut list.pieces[range]);
        let count = requests.len();
        if count == 0 {
            return Ok(());
        }
        let is_ours = list.device.as_ref().is_some_and(|device| Arc::ptr_eq(device, self.pd.device()));
        if !is_ours || list.is_datagrams != (self.transport() == Transport::Ud) {
            return Err(PostError { accepted: 0, errno: Errno::INVAL });
        }
        let (first, piece) = (requests.as_mut_ptr(), pieces.as_mut_ptr());
        for at in 0..count {
            // SAFETY: both lists are `count` long.
            unsafe {
                let request = first.add(at);
                (*request).sg_list = piece.add(at);
                (*request).next = if at + 1 < count { first.add(at + 1) } else { ptr::null_mut() };
            }
        }
        let mut bad: *mut SendWr = ptr::null_mut();
        // SAFETY: the queue pair is alive; the chain is whole and lives through the call, after which the provider has
        // no use for it (ibv_post_send(3)). What the requests name is of this device and kept by the list; memory that
        // is deregistered before they are done is refused by the device.
        let code = unsafe { (self.send)(self.raw.as_ptr(), first, &raw mut bad) };
        if code == 0 {
            Ok(())
        } else {
            Err(refused(code, bad.addr(), first.addr(), size_of::<SendWr>(), count))
        }
    }

    /// Posts a range of receives in order, without waiting. Panics when the range is beyond the end of the list.
    #[inline]
    pub fn post_receive(&self, list: &mut ReceiveList, range: Range<usize>) -> Result<(), PostError> {
        let (requests, pieces) = (&mut list.requests[range.clone()], &mut list.pieces[range]);
        let count = requests.len();
        if count == 0 {
            return Ok(());
        }
        if !list.device.as_ref().is_some_and(|device| Arc::ptr_eq(device, self.pd.device())) {
            return Err(PostError { accepted: 0, errno: Errno::INVAL });
        }
        let (first, piece) = (requests.as_mut_ptr(), pieces.as_mut_ptr());
        for at in 0..count {
            // SAFETY: both lists are `count` long.
            unsafe {
                let request = first.add(at);
                (*request).sg_list = piece.add(at);
                (*request).next = if at + 1 < count { first.add(at + 1) } else { ptr::null_mut() };
            }
        }
        let mut bad: *mut RecvWr = ptr::null_mut();
        // SAFETY: as in `post_send`.
        let code = unsafe { (self.receive)(self.raw.as_ptr(), first, &raw mut bad) };
        if code == 0 {
            Ok(())
        } else {
            Err(refused(code, bad.addr(), first.addr(), size_of::<RecvWr>(), count))
        }
    }
}

#[cold]
fn refused(code: c_int, bad: usize, first: usize, size: usize, count: usize) -> PostError {
    let errno =
        if code == -1 { super::error::last() } else { Errno::from_raw_os_error(code.saturating_abs()) };
    let accepted = bad.checked_sub(first).map_or(0, |bytes| (bytes / size).min(count));
    PostError { accepted, errno }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_that_was_not_taken_tells_how_many_were() {
        let size = size_of::<SendWr>();
        let error = refused(libc::ENOMEM, 0x1000 + 3 * size, 0x1000, size, 8);
        assert_eq!(error, PostError { accepted: 3, errno: Errno::NOMEM });
        assert_eq!(
            refused(-libc::EINVAL, 0, 0x1000, size, 8),
            PostError { accepted: 0, errno: Errno::INVAL }
        );
    }
}
