//! Lists of requests, built once, modified in place and posted repeatedly.
//!
//! A list is plain numbers, and keeps the memory and handles that they refer to.

use std::ptr;
use std::sync::Arc;

use super::abi::{Plain, RecvWr, SendWr, Sge, send, wr};
use super::{AddressHandle, MemoryRegion, RdmaDevice, Remote, VerbKind, VerbsError};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verb {
    Write,
    /// Write with immediate value, which consumes a receive of the peer.
    WriteImmediate(u32),
    Send,
    SendImmediate(u32),
    Read,
    /// Replaces the peer's eight bytes by `swap` if they equal `compare`; returns the old value.
    CompareSwap {
        compare: u64,
        swap: u64,
    },
    /// Adds to the peer's eight bytes; returns the old value.
    FetchAdd {
        add: u64,
    },
}

impl Verb {
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

#[derive(Clone, Copy, Debug)]
pub struct UdTarget<'a> {
    pub handle: &'a Arc<AddressHandle>,
    pub qp_number: u32,
    pub qkey: u32,
}

#[derive(Clone, Copy, Debug)]
pub struct Work<'a> {
    pub id: u64,
    pub verb: Verb,
    /// Local memory: source of the data, or destination of a read.
    pub memory: &'a Arc<MemoryRegion>,
    pub offset: usize,
    pub bytes: u32,
    pub remote: Option<Remote>,
    pub to: Option<UdTarget<'a>>,
    /// Whether it raises a completion; a queue without any fills up.
    pub signalled: bool,
    /// Whether the request carries the bytes itself, which saves a fetch by the device.
    pub inline: bool,
    /// Whether it waits for all earlier reads and atomics.
    pub fence: bool,
    /// Whether it raises an event in a peer that waits for solicited events only.
    pub solicited: bool,
}

impl<'a> Work<'a> {
    /// A signalled request; set other fields by struct update.
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
    /// A list of requests: all datagrams or none, all on one device.
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

    pub const fn len(&self) -> usize {
        self.requests.len()
    }

    pub const fn is_empty(&self) -> bool {
        self.requests.is_empty()
    }

    /// Panics when the request does not exist, as all setters.
    #[inline]
    pub fn set_id(&mut self, at: usize, id: u64) {
        self.requests[at].wr_id = id;
    }

    #[inline]
    pub fn set_signalled(&mut self, at: usize, signalled: bool) {
        let flags = &mut self.requests[at].send_flags;
        *flags = if signalled { *flags | send::SIGNALED } else { *flags & !send::SIGNALED };
    }

    /// Sets how many bytes, and what [`Self::aim`] sets.
    ///
    /// # Panics
    /// Also when they would be beyond the end of local memory, or it is an atomic operation.
    #[inline]
    pub fn aim_bytes(&mut self, at: usize, bytes: u32, offset: usize, remote_address: u64) {
        assert!(!is_atomic(&self.requests[at]), "an atomic operation is on eight bytes");
        // Length 0 first: no other range may be beyond the end when one of the two calls panics.
        self.pieces[at].length = 0;
        self.aim(at, offset, remote_address);
        let region = &self.memory[at];
        assert!(
            bytes as usize <= region.len() - offset,
            "{bytes} bytes from {offset} on of {}",
            region.len()
        );
        self.pieces[at].length = bytes;
        self.requests[at].num_sge = i32::from(bytes > 0);
    }

    /// Sets the offset in local memory and the remote address, which sends ignore. Panics also when the range exceeds
    /// local memory, or an atomic operation is not aligned to eight bytes.
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

    /// Panics also for requests that are not atomic operations.
    #[inline]
    pub fn set_operands(&mut self, at: usize, compare_or_add: u64, swap: u64) {
        let request = &mut self.requests[at];
        assert!(is_atomic(request), "request {at} has no operands");
        (request.target[1], request.target[2]) = (compare_or_add, swap);
    }

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

const fn two(first: u32, second: u32) -> u64 {
    let ([a, b, c, d], [e, f, g, h]) = (first.to_ne_bytes(), second.to_ne_bytes());
    u64::from_ne_bytes([a, b, c, d, e, f, g, h])
}

fn piece(memory: &MemoryRegion, offset: usize, bytes: u32) -> Sge {
    Sge { addr: memory.address() + offset as u64, length: bytes, lkey: memory.local_key() }
}

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
    pub id: u64,
    pub memory: &'a Arc<MemoryRegion>,
    pub offset: usize,
    /// For datagrams [`GRH_BYTES`](super::GRH_BYTES) more.
    pub bytes: u32,
}

#[derive(Debug)]
pub struct ReceiveList {
    pub(super) requests: Vec<RecvWr>,
    pub(super) pieces: Vec<Sge>,
    pub(super) device: Option<Arc<RdmaDevice>>,
    memory: Vec<Arc<MemoryRegion>>,
}

impl ReceiveList {
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

    pub const fn len(&self) -> usize {
        self.requests.len()
    }

    pub const fn is_empty(&self) -> bool {
        self.requests.is_empty()
    }

    #[inline]
    pub fn set_id(&mut self, at: usize, id: u64) {
        self.requests[at].wr_id = id;
    }

    /// Panics when the range exceeds the memory.
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
