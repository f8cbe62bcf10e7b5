//! Lists of requests: made once, altered in place, posted as often as one likes.
//!
//! Nothing here is unsafe: a list is numbers, and it keeps the memory and the handles that they stand for.

use std::ptr;
use std::sync::Arc;

use super::abi::{Plain, RecvWr, SendWr, Sge, send, wr};
use super::{AddressHandle, MemoryRegion, RdmaDevice, Remote, VerbKind, VerbsError};

/// What is to be done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verb {
    /// Write memory of the peer.
    Write,
    /// Write memory of the peer, and end a receive of it that gets this number.
    WriteImmediate(u32),
    /// Send into a receive of the peer.
    Send,
    /// The same, with a number.
    SendImmediate(u32),
    /// Read memory of the peer.
    Read,
    /// Where the peer's eight bytes are `compare`, make them `swap`; what they were comes back.
    CompareSwap {
        /// What they must be.
        compare: u64,
        swap: u64,
    },
    /// Add to the peer's eight bytes; what they were comes back.
    FetchAdd { add: u64 },
}

impl Verb {
    /// The sort of operation.
    pub const fn kind(self) -> VerbKind {
        match self {
            Self::Write | Self::WriteImmediate(_) => VerbKind::Write,
            Self::Send | Self::SendImmediate(_) => VerbKind::Send,
            Self::Read => VerbKind::Read,
            Self::CompareSwap { .. } | Self::FetchAdd { .. } => VerbKind::Atomic,
        }
    }

    const fn code(self) -> u32 {
        match self {
            Self::Write => wr::RDMA_WRITE,
            Self::WriteImmediate(_) => wr::RDMA_WRITE_WITH_IMM,
            Self::Send => wr::SEND,
            Self::SendImmediate(_) => wr::SEND_WITH_IMM,
            Self::Read => wr::RDMA_READ,
            Self::CompareSwap { .. } => wr::ATOMIC_CMP_AND_SWP,
            Self::FetchAdd { .. } => wr::ATOMIC_FETCH_AND_ADD,
        }
    }
}

/// Whom a datagram goes to.
#[derive(Clone, Copy, Debug)]
pub struct UdTarget<'a> {
    pub handle: &'a Arc<AddressHandle>,
    /// The peer's queue pair.
    pub qp_number: u32,
    /// The key that it wants to see.
    pub qkey: u32,
}

#[derive(Clone, Copy, Debug)]
pub struct Work<'a> {
    /// A number that its completion comes with.
    pub id: u64,
    /// What is to be done.
    pub verb: Verb,
    /// Memory of ours: where data comes from, or where what was read goes.
    pub memory: &'a Arc<MemoryRegion>,
    /// From which byte of it on.
    pub offset: usize,
    /// How many bytes; 8 for atomic operations.
    pub bytes: u32,
    /// Memory of the peer; none for sends.
    pub remote: Option<Remote>,
    /// Whom it goes to, of datagrams.
    pub to: Option<UdTarget<'a>>,
    /// Whether its end is told; every queue needs it now and then, or it fills up.
    pub signalled: bool,
    /// Whether the request carries the bytes itself, which saves the device from fetching them.
    pub inline: bool,
    /// Whether it waits until all reads and atomics before it are done.
    pub fence: bool,
    /// Whether the peer's queue may tell of it where it waits for such only.
    pub solicited: bool,
}

impl<'a> Work<'a> {
    /// A request that tells of its end; the rest is for struct update.
    pub const fn new(verb: Verb, memory: &'a Arc<MemoryRegion>, offset: usize, bytes: u32) -> Self {
        Self {
            id: 0,
            verb,
            memory,
            offset,
            bytes,
            remote: None,
            to: None,
            signalled: true,
            inline: false,
            fence: false,
            solicited: false,
        }
    }
}

/// Send requests, to be posted by ranges.
#[derive(Debug)]
pub struct SendList {
    pub(super) requests: Vec<SendWr>,
    pub(super) pieces: Vec<Sge>,
    pub(super) is_datagrams: bool,
    pub(super) device: Option<Arc<RdmaDevice>>,
    memory: Vec<Arc<MemoryRegion>>,
    _handles: Vec<Arc<AddressHandle>>,
}

impl SendList {
    /// A list of these requests: all datagrams or none, all on one device.
    ///
    /// # Errors
    /// When a range of local memory is beyond its end, a request lacks whom or what it goes to, or they do not belong
    /// together.
    pub fn new(work: &[Work<'_>]) -> Result<Self, VerbsError> {
        let config = |why: &str| Err(VerbsError::Config { why: why.to_owned() });
        let is_datagrams = work.first().is_some_and(|work| work.to.is_some());
        let device = one_device(work.iter().map(|work| work.memory))?;
        let mut list = Self {
            requests: Vec::with_capacity(work.len()),
            pieces: Vec::with_capacity(work.len()),
            is_datagrams,
            device,
            memory: work.iter().map(|work| work.memory.clone()).collect(),
            _handles: work.iter().filter_map(|work| work.to.map(|to| to.handle.clone())).collect(),
        };
        for work in work {
            work.memory.check(work.offset, work.bytes as usize)?;
            if work.to.is_some() != is_datagrams {
                return config("a list of requests holds both datagrams and others");
            }
            let kind = work.verb.kind();
            if is_datagrams && kind != VerbKind::Send {
                return config("a datagram can only be sent");
            }
            if kind == VerbKind::Atomic && (work.bytes != 8 || !work.offset.is_multiple_of(8)) {
                return config("an atomic operation is on eight bytes at a multiple of eight");
            }
            if work.inline && matches!(kind, VerbKind::Read | VerbKind::Atomic) {
                return config("what comes back cannot be inline");
            }
            let on = work.to.map(|to| to.handle.pd.device());
            if let (Some(own), Some(on)) = (&list.device, on)
                && !Arc::ptr_eq(own, on)
            {
                return config("an address handle is of another device than the memory");
            }
            list.requests.push(request(work, kind)?);
            list.pieces.push(piece(work.memory, work.offset, work.bytes));
        }
        Ok(list)
    }

    /// How many there are.
    pub const fn len(&self) -> usize {
        self.requests.len()
    }

    /// Whether there are none.
    pub const fn is_empty(&self) -> bool {
        self.requests.is_empty()
    }

    /// Sets the number that the completion comes with.
    ///
    /// # Panics
    /// When there is no such request; so do all of these.
    #[inline]
    pub fn set_id(&mut self, at: usize, id: u64) {
        self.requests[at].wr_id = id;
    }

    /// Sets whether the end is told.
    #[inline]
    pub fn set_signalled(&mut self, at: usize, signalled: bool) {
        let flags = &mut self.requests[at].send_flags;
        *flags = if signalled { *flags | send::SIGNALED } else { *flags & !send::SIGNALED };
    }

    /// Sets how many bytes.
    ///
    /// # Panics
    /// Also when they would be beyond the end of the memory, or it is an atomic operation.
    #[inline]
    pub fn set_bytes(&mut self, at: usize, bytes: u32) {
        let (region, piece, request) = (&self.memory[at], &mut self.pieces[at], &mut self.requests[at]);
        assert!(!is_atomic(request), "an atomic operation is on eight bytes");
        let offset = (piece.addr - region.address()) as usize;
        assert!(
            bytes as usize <= region.len() - offset,
            "{bytes} bytes from {offset} on of {}",
            region.len()
        );
        piece.length = bytes;
        request.num_sge = i32::from(bytes > 0);
    }

    /// Sets where in local memory, and at which address of the peer's; sends have none of the latter.
    ///
    /// # Panics
    /// Also when the range would be beyond the end of local memory, or an atomic operation not at a multiple of eight.
    #[inline]
    pub fn aim(&mut self, at: usize, offset: usize, remote_address: u64) {
        let (region, piece, request) = (&self.memory[at], &mut self.pieces[at], &mut self.requests[at]);
        let length = piece.length as usize;
        assert!(
            offset <= region.len() && length <= region.len() - offset,
            "{length} bytes from {offset} on of {}",
            region.len()
        );
        assert!(!is_atomic(request) || offset.is_multiple_of(8), "an atomic operation at {offset}");
        piece.addr = region.address() + offset as u64;
        if !matches!(request.opcode, wr::SEND | wr::SEND_WITH_IMM) {
            request.target[0] = remote_address;
        }
    }

    /// Sets what an atomic operation compares with or adds, and what it swaps in.
    ///
    /// # Panics
    /// Also when it is none.
    #[inline]
    pub fn set_operands(&mut self, at: usize, compare_or_add: u64, swap: u64) {
        let request = &mut self.requests[at];
        assert!(is_atomic(request), "request {at} has no operands");
        (request.target[1], request.target[2]) = (compare_or_add, swap);
    }

    /// Sets the number that goes with a message.
    #[inline]
    pub fn set_immediate(&mut self, at: usize, immediate: u32) {
        self.requests[at].imm_data = immediate.to_be();
    }
}

#[inline]
const fn is_atomic(request: &SendWr) -> bool {
    matches!(request.opcode, wr::ATOMIC_CMP_AND_SWP | wr::ATOMIC_FETCH_AND_ADD)
}

fn request(work: &Work<'_>, kind: VerbKind) -> Result<SendWr, VerbsError> {
    let mut request = SendWr::zeroed();
    (request.wr_id, request.opcode) = (work.id, work.verb.code());
    request.num_sge = i32::from(work.bytes > 0);
    let flags = [
        (work.signalled, send::SIGNALED),
        (work.inline, send::INLINE),
        (work.fence, send::FENCE),
        (work.solicited, send::SOLICITED),
    ];
    request.send_flags = flags.iter().filter(|(set, _)| *set).map(|(_, flag)| flag).sum();
    if let Verb::WriteImmediate(number) | Verb::SendImmediate(number) = work.verb {
        request.imm_data = number.to_be();
    }
    request.target = match (kind, work.remote, work.to) {
        (VerbKind::Send, _, None) => [0; 4],
        (VerbKind::Send, _, Some(to)) => {
            [to.handle.raw.expose_provenance() as u64, two(to.qp_number, to.qkey), 0, 0]
        }
        (VerbKind::Write | VerbKind::Read, Some(remote), _) => [remote.address, two(remote.key, 0), 0, 0],
        (VerbKind::Atomic, Some(remote), _) => {
            let (first, second) = match work.verb {
                Verb::CompareSwap { compare, swap } => (compare, swap),
                Verb::FetchAdd { add } => (add, 0),
                _ => (0, 0),
            };
            [remote.address, first, second, two(remote.key, 0)]
        }
        (_, None, _) => {
            return Err(VerbsError::Config { why: "a request lacks the peer's memory".to_owned() });
        }
    };
    Ok(request)
}

/// Two neighbours of 32 bits as they lie in memory.
const fn two(first: u32, second: u32) -> u64 {
    let ([a, b, c, d], [e, f, g, h]) = (first.to_ne_bytes(), second.to_ne_bytes());
    u64::from_ne_bytes([a, b, c, d, e, f, g, h])
}

fn piece(memory: &MemoryRegion, offset: usize, bytes: u32) -> Sge {
    Sge { addr: memory.address() + offset as u64, length: bytes, lkey: memory.local_key() }
}

/// The device that all of this memory is registered on; none where there is no memory.
fn one_device<'a>(
    mut memory: impl Iterator<Item = &'a Arc<MemoryRegion>>,
) -> Result<Option<Arc<RdmaDevice>>, VerbsError> {
    let Some(first) = memory.next() else { return Ok(None) };
    let device = first.protection_domain().device();
    if memory.any(|other| !Arc::ptr_eq(other.protection_domain().device(), device)) {
        return Err(VerbsError::Config { why: "memory of two devices is in one list".to_owned() });
    }
    Ok(Some(device.clone()))
}

#[derive(Clone, Copy, Debug)]
pub struct ReceiveWork<'a> {
    /// A number that its completion comes with.
    pub id: u64,
    /// Where the message goes.
    pub memory: &'a Arc<MemoryRegion>,
    /// From which byte of it on.
    pub offset: usize,
    /// How many bytes at most; for datagrams [`GRH_BYTES`](super::GRH_BYTES) more.
    pub bytes: u32,
}

/// Receive requests, to be posted by ranges.
#[derive(Debug)]
pub struct ReceiveList {
    pub(super) requests: Vec<RecvWr>,
    pub(super) pieces: Vec<Sge>,
    pub(super) device: Option<Arc<RdmaDevice>>,
    memory: Vec<Arc<MemoryRegion>>,
}

impl ReceiveList {
    /// A list of these requests, all on one device.
    ///
    /// # Errors
    /// When a range is beyond the end of its memory, or the memory is of two devices.
    pub fn new(work: &[ReceiveWork<'_>]) -> Result<Self, VerbsError> {
        let device = one_device(work.iter().map(|work| work.memory))?;
        for work in work {
            work.memory.check(work.offset, work.bytes as usize)?;
        }
        let request = |work: &ReceiveWork<'_>| RecvWr {
            wr_id: work.id,
            next: ptr::null_mut(),
            sg_list: ptr::null_mut(),
            num_sge: i32::from(work.bytes > 0),
        };
        Ok(Self {
            requests: work.iter().map(request).collect(),
            pieces: work.iter().map(|work| piece(work.memory, work.offset, work.bytes)).collect(),
            device,
            memory: work.iter().map(|work| work.memory.clone()).collect(),
        })
    }

    /// How many there are.
    pub const fn len(&self) -> usize {
        self.requests.len()
    }

    /// Whether there are none.
    pub const fn is_empty(&self) -> bool {
        self.requests.is_empty()
    }

    /// Sets the number that the completion comes with.
    ///
    /// # Panics
    /// When there is no such request.
    #[inline]
    pub fn set_id(&mut self, at: usize, id: u64) {
        self.requests[at].wr_id = id;
    }

    /// Sets where the message goes.
    ///
    /// # Panics
    /// When there is no such request, or the range would be beyond the end of its memory.
    #[inline]
    pub fn aim(&mut self, at: usize, offset: usize) {
        let (region, piece) = (&self.memory[at], &mut self.pieces[at]);
        let length = piece.length as usize;
        assert!(
            offset <= region.len() && length <= region.len() - offset,
            "{length} bytes from {offset} on of {}",
            region.len()
        );
        piece.addr = region.address() + offset as u64;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_numbers_lie_one_after_the_other() {
        assert_eq!(two(0x0102_0304, 0x0506_0708).to_ne_bytes()[..4], 0x0102_0304_u32.to_ne_bytes());
        assert_eq!(two(0x0102_0304, 0x0506_0708).to_ne_bytes()[4..], 0x0506_0708_u32.to_ne_bytes());
    }

    #[test]
    fn verbs_have_the_numbers_of_the_header() {
        let all = [
            Verb::Write,
            Verb::WriteImmediate(0),
            Verb::Send,
            Verb::SendImmediate(0),
            Verb::Read,
            Verb::CompareSwap { compare: 0, swap: 0 },
            Verb::FetchAdd { add: 0 },
        ];
        assert!(all.iter().enumerate().all(|(code, verb)| verb.code() == code as u32));
    }

    #[test]
    fn a_list_of_nothing_is_one() {
        let list = SendList::new(&[]).expect("a list");
        assert!(list.is_empty() && ReceiveList::new(&[]).expect("a list").is_empty());
    }
}
