//! Communicators, and messages between two ranks of one.
#![expect(unsafe_code, reason = "the handle of a new communicator is read as its library lays it out")]

use std::ffi::{c_int, c_void};
use std::marker::PhantomData;
use std::ptr;

use super::abi::{Handle, ThreadLevel};
use super::error::MpiError;
use super::library::{Mpi, call};

/// A group of ranks that exchange messages. Ranks count from 0.
#[derive(Debug)]
pub struct Communicator<'a> {
    pub(super) mpi: &'a Mpi,
    pub(super) handle: Handle,
    rank: usize,
    size: usize,
    /// Only the thread that started MPI may call it.
    thread: PhantomData<*const ()>,
}

impl<'a> Communicator<'a> {
    /// Joins the job that a launcher started, waits for its other ranks and returns all of them. Without a launcher this
    /// process is a job of one rank. Can be called once in the life of a process, by the thread that makes all further
    /// calls. `level` is asked of the library; other threads of the process make no calls, whatever it is.
    pub fn start(mpi: &'a Mpi, level: ThreadLevel) -> Result<Self, MpiError> {
        let mut given: c_int = 0;
        let wanted = mpi.constants.thread_levels[level as usize];
        call!(mpi, init(ptr::null_mut(), ptr::null_mut(), wanted, &raw mut given))?;
        if given < wanted {
            let text = format!("the library does not grant the thread level {}", level.word());
            return Err(MpiError::Refused { call: "MPI_Init_thread", text });
        }
        let world = mpi.constants.world;
        // Without this an error ends the process before it can be told.
        call!(mpi, set_error_handler(world, mpi.constants.errors_return))?;
        Self::new(mpi, world)
    }

    fn new(mpi: &'a Mpi, handle: Handle) -> Result<Self, MpiError> {
        let (mut rank, mut size): (c_int, c_int) = (0, 0);
        call!(mpi, rank(handle, &raw mut rank))?;
        call!(mpi, size(handle, &raw mut size))?;
        let number = |count: c_int| usize::try_from(count).unwrap_or(0);
        Ok(Self { mpi, handle, rank: number(rank), size: number(size), thread: PhantomData })
    }

    pub const fn rank(&self) -> usize {
        self.rank
    }

    pub const fn size(&self) -> usize {
        self.size
    }

    /// The communicator of all ranks that give the same `color`, in the order of their ranks. Every rank has to call
    /// it.
    pub fn split(&self, color: u16) -> Result<Self, MpiError> {
        let mut made = [0_u8; 8];
        let key = rank_of(self.rank);
        call!(self.mpi, split(self.handle, color.into(), key, made.as_mut_ptr().cast()))?;
        let handle = self.read_handle(made);
        call!(self.mpi, set_error_handler(handle, self.mpi.constants.errors_return))?;
        Self::new(self.mpi, handle)
    }

    #[inline]
    pub fn send(&self, bytes: &[u8], to: usize, tag: u16) -> Result<(), MpiError> {
        let (count, byte) = (length(bytes.len())?, self.mpi.constants.byte);
        call!(self.mpi, send(bytes.as_ptr().cast(), count, byte, rank_of(to), tag.into(), self.handle))
    }

    /// Waits for a message with `tag` of rank `from`, of at most the length of `bytes`.
    #[inline]
    pub fn receive(&self, bytes: &mut [u8], from: usize, tag: u16) -> Result<(), MpiError> {
        let (count, constants) = (length(bytes.len())?, &self.mpi.constants);
        call!(
            self.mpi,
            receive(
                bytes.as_mut_ptr().cast(),
                count,
                constants.byte,
                rank_of(from),
                tag.into(),
                self.handle,
                constants.no_status
            )
        )
    }

    /// Sends the messages of `out` to rank `to` and receives into all of `into` from rank `from`, all at once; returns when
    /// all are done. A message may stand in `out` many times.
    pub fn exchange(
        &self,
        out: &[&[u8]],
        to: usize,
        into: &mut [&mut [u8]],
        from: usize,
        tag: u16,
    ) -> Result<(), MpiError> {
        let mut requests = Requests::new(self.mpi, out.len() + into.len());
        let byte = self.mpi.constants.byte;
        let mut start = || -> Result<(), MpiError> {
            for bytes in into.iter_mut() {
                let (count, at) = (length(bytes.len())?, bytes.as_mut_ptr().cast());
                let request = requests.next();
                call!(
                    self.mpi,
                    start_receive(at, count, byte, rank_of(from), tag.into(), self.handle, request)
                )?;
                requests.started += 1;
            }
            for bytes in out {
                let (count, at) = (length(bytes.len())?, bytes.as_ptr().cast());
                let request = requests.next();
                call!(self.mpi, start_send(at, count, byte, rank_of(to), tag.into(), self.handle, request))?;
                requests.started += 1;
            }
            Ok(())
        };
        let started = start();
        // What was started has to end before the buffers may go.
        requests.wait()?;
        started
    }

    fn read_handle(&self, bytes: [u8; 8]) -> Handle {
        handle_of(bytes, self.mpi.abi().handle_bytes())
    }
}

/// The handle that a library wrote in its first `width` bytes; one of 32 bits is an `int`.
pub(super) fn handle_of(bytes: [u8; 8], width: usize) -> Handle {
    match width {
        4 => i64::from(i32::from_ne_bytes([bytes[0], bytes[1], bytes[2], bytes[3]])) as Handle,
        _ => Handle::from_ne_bytes(bytes),
    }
}

/// The requests of one exchange, as wide as the library's handles.
#[derive(Debug)]
pub(super) struct Requests<'a> {
    mpi: &'a Mpi,
    bytes: Vec<u64>,
    pub(super) started: usize,
}

impl<'a> Requests<'a> {
    pub(super) fn new(mpi: &'a Mpi, most: usize) -> Self {
        Self { mpi, bytes: vec![0; most], started: 0 }
    }

    pub(super) const fn room(&self) -> usize {
        self.bytes.len()
    }

    /// The place of the next request.
    pub(super) fn next(&mut self) -> *mut c_void {
        let at = self.started * self.mpi.abi().handle_bytes();
        // SAFETY: `started` is below the number that there is room for, and no handle is wider than 8 bytes.
        unsafe { self.bytes.as_mut_ptr().cast::<u8>().add(at).cast() }
    }

    /// Starts `count` more. `start` gets the number of each and the place of its request, and returns the library's answer, of
    /// which the first that is an error is returned.
    pub(super) fn start_all(&mut self, count: usize, start: impl Fn(usize, *mut c_void) -> c_int) -> c_int {
        let (mut place, width) = (self.next(), self.mpi.abi().handle_bytes());
        for number in 0..count {
            let code = start(number, place);
            if code != 0 {
                return code;
            }
            self.started += 1;
            place = place.wrapping_byte_add(width);
        }
        0
    }

    pub(super) fn wait(&mut self) -> Result<(), MpiError> {
        let count = length(self.started)?;
        call!(self.mpi, wait_all(count, self.bytes.as_mut_ptr().cast(), self.mpi.constants.no_status))
    }
}

#[inline]
pub(super) fn rank_of(rank: usize) -> c_int {
    c_int::try_from(rank).unwrap_or(c_int::MAX)
}

/// A count as MPI takes it.
#[inline]
pub(super) fn length(bytes: usize) -> Result<c_int, MpiError> {
    let most = c_int::MAX as usize;
    c_int::try_from(bytes).map_err(|_| MpiError::TooLong { what: "a message", bytes, most })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_narrow_handle_keeps_its_sign_and_a_wide_one_its_bits() {
        let narrow = |handle: i32| {
            let mut bytes = [0xff; 8];
            bytes[..4].copy_from_slice(&handle.to_ne_bytes());
            handle_of(bytes, 4)
        };
        assert_eq!(narrow(0x4400_0000), 0x4400_0000);
        assert_eq!(narrow(i32::MIN + 2) as i64, i64::from(i32::MIN + 2));
        assert_eq!(handle_of(0x7fff_1234_5678_9abc_u64.to_ne_bytes(), 8), 0x7fff_1234_5678_9abc);
    }

    #[test]
    fn a_message_longer_than_two_gibibytes_is_refused() {
        assert_eq!(length(i32::MAX as usize), Ok(i32::MAX));
        let error = length(1 << 31).expect_err("too long");
        assert!(error.to_string().contains("2147483648 bytes, 2147483647 at most"), "{error}");
    }
}
