//! The asynchronous engine: many requests at a time through an io_uring of the thread.
#![expect(unsafe_code, reason = "requests that point to memory")]

use std::io;
use std::mem::ManuallyDrop;
use std::os::fd::{AsRawFd, OwnedFd};

use io_uring::types::{Fd, Fixed};
use io_uring::{IoUring, cqueue, opcode, squeue};
use rustix::io::Errno;

use super::{Buffers, Completion, Engine, Operation, Request};

/// Bytes of one registered buffer at most (io_uring_register(2), `IORING_REGISTER_BUFFERS`).
const MOST_REGISTERED: usize = 1 << 30;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setup {
    pub flags: &'static str,
    /// Completions are polled instead of signalled by interrupts (`IORING_SETUP_IOPOLL`).
    pub polled: bool,
    /// Whether the memory is registered, which saves the page lookup of each request; else why not.
    pub fixed_buffers: Result<(), Errno>,
    pub fixed_files: Result<(), Errno>,
}

pub struct Ring {
    ring: IoUring,
    flags: &'static str,
    polled: bool,
    slots: usize,
}

impl Ring {
    /// A ring with room for `slots` requests, for the calling thread only. `polled` requests polled completions,
    /// which need direct I/O and a device with polled queues.
    ///
    /// # Errors
    /// `EPERM` when `kernel.io_uring_disabled` or a sandbox refuses, `ENOSYS` without io_uring, `ENOMEM` when the
    /// limit on locked memory is too low (before Linux 5.12).
    pub fn new(slots: usize, polled: bool) -> Result<Self, Errno> {
        let (ring, flags) = build(slots, polled)?;
        Ok(Self { ring, flags, polled, slots })
    }
}

impl std::fmt::Debug for Ring {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Ring").field("flags", &self.flags).field("slots", &self.slots).finish_non_exhaustive()
    }
}

pub struct Uring {
    ring: IoUring,
    files: Vec<OwnedFd>,
    /// Leaked where requests are in flight when the engine is dropped: the kernel may still write to it.
    buffers: ManuallyDrop<Buffers>,
    /// By slot: the request in flight, and its bytes moved so far.
    under_way: Vec<Option<(Request, usize)>>,
    count: usize,
    slots_a_piece: usize,
    setup: Setup,
}

impl std::fmt::Debug for Uring {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Uring")
            .field("files", &self.files)
            .field("under_way", &self.count)
            .field("setup", &self.setup)
            .finish_non_exhaustive()
    }
}

impl Uring {
    /// Panics when the ring has fewer entries than `buffers` has slots.
    pub fn new(ring: Ring, files: Vec<OwnedFd>, buffers: Buffers) -> Self {
        assert!(buffers.count() <= ring.slots, "{} slots and a ring for {}", buffers.count(), ring.slots);
        let Ring { ring, flags, polled, .. } = ring;
        let raw: Vec<_> = files.iter().map(AsRawFd::as_raw_fd).collect();
        let fixed_files = ring.submitter().register_files(&raw).map_err(|error| errno_of(&error));
        // As few registered buffers as possible: fewer lookups, and one entry for a huge page.
        let slots_a_piece = (MOST_REGISTERED / buffers.stride()).max(1);
        let pieces: Vec<_> = (0..buffers.count())
            .step_by(slots_a_piece)
            .map(|slot| libc::iovec {
                iov_base: buffers.address(slot).as_ptr().cast(),
                iov_len: buffers.stride() * slots_a_piece.min(buffers.count() - slot),
            })
            .collect();
        // SAFETY: the pieces lie inside the mapping, which lives as long as the ring; the kernel pins their pages.
        let fixed_buffers = unsafe { ring.submitter().register_buffers(&pieces) };
        let fixed_buffers = fixed_buffers.map_err(|error| errno_of(&error));
        let setup = Setup { flags, polled, fixed_buffers, fixed_files };
        let under_way = vec![None; buffers.count()];
        Self { ring, files, buffers: ManuallyDrop::new(buffers), under_way, count: 0, slots_a_piece, setup }
    }

    pub const fn setup(&self) -> &Setup {
        &self.setup
    }

    /// Submits the rest of the request in `slot`. The ring has an entry for every slot.
    fn push(&mut self, slot: usize) {
        let (Request { file, operation, offset, bytes, .. }, moved) =
            self.under_way[slot].expect("only called for requests under way");
        // SAFETY: `moved` is at most the size of the slot, which `queue` checked.
        let memory = unsafe { self.buffers.address(slot).add(moved) }.as_ptr();
        let length = u32::try_from(bytes - moved).unwrap_or(u32::MAX);
        let (offset, index) = (offset + moved as u64, (slot / self.slots_a_piece) as u16);
        let fixed = self.setup.fixed_buffers.is_ok();
        macro_rules! entry {
            ($file:expr) => {
                match (operation, fixed) {
                    (Operation::Read, true) => {
                        opcode::ReadFixed::new($file, memory, length, index).offset(offset).build()
                    }
                    (Operation::Read, false) => {
                        opcode::Read::new($file, memory, length).offset(offset).build()
                    }
                    (Operation::Write, true) => {
                        opcode::WriteFixed::new($file, memory, length, index).offset(offset).build()
                    }
                    (Operation::Write, false) => {
                        opcode::Write::new($file, memory, length).offset(offset).build()
                    }
                }
            };
        }
        let entry: squeue::Entry = match self.setup.fixed_files {
            Ok(()) => entry!(Fixed(file as u32)),
            Err(_) => entry!(Fd(self.files[file].as_raw_fd())),
        };
        // SAFETY: the memory is lent to the kernel until the completion, and stays mapped even when the engine is
        // dropped before that.
        let pushed = unsafe { self.ring.submission().push(&entry.user_data(slot as u64)) };
        assert!(pushed.is_ok(), "the ring has an entry for every slot");
    }

    fn reap(&mut self, done: &mut Vec<Completion>) {
        let mut again = Vec::new();
        for completion in self.ring.completion() {
            let slot = completion.user_data() as usize;
            let Some((request, moved)) = self.under_way.get_mut(slot).and_then(Option::as_mut) else {
                continue;
            };
            let result = match usize::try_from(completion.result()) {
                Ok(0) => Ok(*moved),
                Ok(more) => {
                    *moved += more;
                    if *moved < request.bytes {
                        again.push(slot);
                        continue;
                    }
                    Ok(*moved)
                }
                Err(_) => match Errno::from_raw_os_error(-completion.result()) {
                    Errno::INTR | Errno::AGAIN => {
                        again.push(slot);
                        continue;
                    }
                    errno => Err(errno),
                },
            };
            self.under_way[slot] = None;
            self.buffers.give_back(slot);
            self.count -= 1;
            done.push(Completion { slot, result });
        }
        again.into_iter().for_each(|slot| self.push(slot));
    }

    fn enter(&self, wait: usize) -> Result<(), Errno> {
        match self.ring.submitter().submit_and_wait(wait) {
            Ok(_) => Ok(()),
            Err(error) => match errno_of(&error) {
                // A signal, or completions to reap first.
                Errno::INTR | Errno::BUSY | Errno::AGAIN => Ok(()),
                errno => Err(errno),
            },
        }
    }
}

impl Drop for Uring {
    fn drop(&mut self) {
        if self.count == 0 {
            // SAFETY: nothing is under way, and nobody uses the buffers after the drop.
            unsafe { ManuallyDrop::drop(&mut self.buffers) };
        }
    }
}

impl Engine for Uring {
    fn name(&self) -> &'static str {
        "io_uring"
    }

    fn slots(&self) -> usize {
        self.under_way.len()
    }

    fn buffer(&mut self, slot: usize) -> &mut [u8] {
        self.buffers.slot(slot)
    }

    fn queue(&mut self, request: Request) {
        let slot = request.slot;
        assert!(request.bytes <= self.buffers.each() && request.file < self.files.len(), "{request:?}");
        self.buffers.lend(slot);
        self.under_way[slot] = Some((request, 0));
        self.count += 1;
        self.push(slot);
    }

    fn overlaps(&self) -> bool {
        true
    }

    fn hand_over(&mut self) -> Result<(), Errno> {
        self.enter(0)
    }

    fn wait(&mut self, count: usize, done: &mut Vec<Completion>) -> Result<(), Errno> {
        let before = done.len();
        loop {
            let missing = count.saturating_sub(done.len() - before).min(self.count);
            if missing == 0 {
                return Ok(());
            }
            self.enter(missing)?;
            self.reap(done);
        }
    }

    fn under_way(&self) -> usize {
        self.count
    }
}

/// Ring flags, best first: no index array (Linux 6.6); completions handled when we wait (6.1); no interrupts for
/// completions (5.19, 6.0); no flags.
const FLAGS: [&str; 4] = [
    "single_issuer coop_taskrun defer_taskrun no_sqarray",
    "single_issuer coop_taskrun defer_taskrun",
    "single_issuer coop_taskrun",
    "plain",
];

fn build(slots: usize, polled: bool) -> Result<(IoUring, &'static str), Errno> {
    let entries = u32::try_from(slots.next_power_of_two().max(2)).unwrap_or(u32::MAX);
    let mut last = Errno::INVAL;
    for words in FLAGS {
        let mut builder = IoUring::<squeue::Entry, cqueue::Entry>::builder();
        builder.setup_clamp();
        if polled {
            builder.setup_iopoll();
        }
        for word in words.split(' ') {
            match word {
                "single_issuer" => builder.setup_single_issuer(),
                "coop_taskrun" => builder.setup_coop_taskrun(),
                "defer_taskrun" => builder.setup_defer_taskrun(),
                "no_sqarray" => builder.setup_no_sqarray(),
                _ => &mut builder,
            };
        }
        match builder.build(entries).map_err(|error| errno_of(&error)) {
            Ok(ring) => return Ok((ring, words)),
            Err(Errno::INVAL) => last = Errno::INVAL,
            Err(errno) => return Err(errno),
        }
    }
    Err(last)
}

fn errno_of(error: &io::Error) -> Errno {
    Errno::from_io_error(error).unwrap_or(Errno::IO)
}
