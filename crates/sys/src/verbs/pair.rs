//! Queue pairs: creation, state changes, deliberate failure.
#![expect(unsafe_code, reason = "calls functions of the library")]

use std::ffi::c_int;
use std::fmt;
use std::ptr::{self, NonNull};
use std::sync::Arc;

use super::abi::{Plain, PostRecv, PostSend, Qp, QpAttr, QpCap, QpInitAttr, mask};
use super::error::{answer, last};
use super::{Access, CompletionQueue, Connection, ProtectionDomain, VerbsError};
use crate::Errno;

/// Bytes before every received datagram: the routing header or padding (ibv_post_recv(3)).
pub const GRH_BYTES: usize = 40;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transport {
    Rc,
    Uc,
    Ud,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VerbKind {
    Write,
    Read,
    /// Into a receive that the peer posted.
    Send,
    Atomic,
}

impl Transport {
    pub const fn name(self) -> &'static str {
        match self {
            Self::Rc => "RC",
            Self::Uc => "UC",
            Self::Ud => "UD",
        }
    }

    /// Whether the transport has this operation (InfiniBand Architecture Specification, volume 1, "Transport
    /// Functions Supported for Specific Transport Services").
    pub const fn allows(self, verb: VerbKind) -> bool {
        match self {
            Self::Rc => true,
            Self::Uc => matches!(verb, VerbKind::Write | VerbKind::Send),
            Self::Ud => matches!(verb, VerbKind::Send),
        }
    }

    const fn code(self) -> u32 {
        match self {
            Self::Rc => 2,
            Self::Uc => 3,
            Self::Ud => 4,
        }
    }
}

impl fmt::Display for Transport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Attributes of a new queue pair. A request has one scatter/gather entry and completes only if signalled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueuePairSpec {
    pub transport: Transport,
    pub send_depth: u32,
    pub receive_depth: u32,
    pub inline_bytes: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    Reset,
    Init,
    ReadyToReceive,
    ReadyToSend,
    /// Finishes posted sends and takes no more.
    SendDrain,
    SendError,
    Error,
    Other(u32),
}

const INIT: u32 = 1;
pub(super) const READY_TO_RECEIVE: u32 = 2;
pub(super) const READY_TO_SEND: u32 = 3;
const ERROR: u32 = 6;

impl State {
    const fn of(code: u32) -> Self {
        match code {
            0 => Self::Reset,
            INIT => Self::Init,
            READY_TO_RECEIVE => Self::ReadyToReceive,
            READY_TO_SEND => Self::ReadyToSend,
            4 => Self::SendDrain,
            5 => Self::SendError,
            ERROR => Self::Error,
            other => Self::Other(other),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Init {
    /// From 1.
    pub port: u8,
    /// Index in the port's partition table; 0 is the default partition on most fabrics.
    pub pkey_index: u16,
    /// Required key of received datagrams; ignored by connections.
    pub qkey: u32,
    /// Access of the peer; ignored by datagrams.
    pub access: Access,
}

pub struct QueuePair {
    pub(super) raw: NonNull<Qp>,
    pub(super) send: PostSend,
    pub(super) receive: PostRecv,
    transport: Transport,
    number: u32,
    granted: QpCap,
    pub(super) pd: Arc<ProtectionDomain>,
    /// Must outlive the queue pair.
    _queues: [Arc<CompletionQueue>; 2],
}

// SAFETY: providers lock their queues (rdma-core, Documentation/libibverbs.md), so that any thread may call.
unsafe impl Send for QueuePair {}
// SAFETY: as above.
unsafe impl Sync for QueuePair {}

impl fmt::Debug for QueuePair {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "QueuePair({} {} of {})", self.transport, self.number, self.pd.device().name())
    }
}

impl QueuePair {
    /// A new queue pair with these completion queues of its device, which may be the same.
    pub fn new(
        pd: &Arc<ProtectionDomain>,
        send: &Arc<CompletionQueue>,
        receive: &Arc<CompletionQueue>,
        spec: &QueuePairSpec,
    ) -> Result<Arc<Self>, VerbsError> {
        let device = pd.device();
        if [send, receive].iter().any(|queue| !Arc::ptr_eq(queue.device(), device)) {
            return Err(VerbsError::Config { why: "a completion queue is of another device".to_owned() });
        }
        let most = device.about().max_qp_depth;
        if let Some(asked) = [spec.send_depth, spec.receive_depth].into_iter().find(|depth| *depth > most) {
            return Err(VerbsError::TooMuch {
                what: "a queue depth",
                asked: asked.into(),
                most: most.into(),
            });
        }
        let what = || format!("{} queue pair on {}", spec.transport, device.name());
        let refused = |errno| VerbsError::Refused { call: "ibv_create_qp", what: what(), errno };
        let ops = &device.raw().ops;
        let (Some(post_send), Some(post_recv)) = (ops.post_send, ops.post_recv) else {
            return Err(refused(Errno::NOSYS));
        };
        let mut attr = QpInitAttr::zeroed();
        (attr.send_cq, attr.recv_cq, attr.qp_type) = (send.raw(), receive.raw(), spec.transport.code());
        attr.cap = QpCap {
            max_send_wr: spec.send_depth.max(1),
            max_recv_wr: spec.receive_depth.max(1),
            max_send_sge: 1,
            max_recv_sge: 1,
            max_inline_data: spec.inline_bytes,
        };
        // SAFETY: the domain and both queues are alive and of one device; the structure lives through the call.
        let raw = unsafe { (device.table().ibv_create_qp)(pd.raw.as_ptr(), &raw mut attr) };
        let Some(raw) = NonNull::new(raw) else {
            return Err(match (last(), spec.inline_bytes) {
                (Errno::OPNOTSUPP | Errno::NOSYS, _) => VerbsError::Lacks {
                    device: device.name().to_owned(),
                    feature: format!("{} queue pairs", spec.transport),
                },
                // Devices do not report the limit of inline data; only trying finds it.
                (Errno::INVAL, 1..) => VerbsError::Refused {
                    call: "ibv_create_qp",
                    what: format!("a {} with {} bytes of inline data", what(), spec.inline_bytes),
                    errno: Errno::INVAL,
                },
                (errno, _) => refused(errno),
            });
        };
        // SAFETY: the library just made it, and does not change its number.
        let number = unsafe { raw.as_ref().qp_num };
        Ok(Arc::new(Self {
            raw,
            send: post_send,
            receive: post_recv,
            transport: spec.transport,
            number,
            granted: attr.cap,
            pd: pd.clone(),
            _queues: [send.clone(), receive.clone()],
        }))
    }

    pub const fn number(&self) -> u32 {
        self.number
    }

    pub const fn transport(&self) -> Transport {
        self.transport
    }

    pub const fn inline_bytes(&self) -> u32 {
        self.granted.max_inline_data
    }

    pub const fn send_depth(&self) -> u32 {
        self.granted.max_send_wr
    }

    pub const fn receive_depth(&self) -> u32 {
        self.granted.max_recv_wr
    }

    /// RESET to INIT; then receives may be posted.
    pub fn init(&self, init: &Init) -> Result<(), VerbsError> {
        let mut attr = QpAttr::zeroed();
        (attr.qp_state, attr.port_num, attr.pkey_index) = (INIT, init.port, init.pkey_index);
        let mut what = mask::STATE | mask::PORT | mask::PKEY_INDEX;
        if self.transport == Transport::Ud {
            attr.qkey = init.qkey;
            what |= mask::QKEY;
        } else {
            // Remote access is for reliable connections only; some providers refuse it on others.
            let access = match self.transport {
                Transport::Rc => init.access,
                _ => Access { remote_read: false, remote_atomic: false, ..init.access },
            };
            attr.qp_access_flags = access.flags();
            what |= mask::ACCESS_FLAGS;
        }
        self.modify(&mut attr, what, "INIT")
    }

    /// INIT to RTR to RTS, ready to receive and send.
    pub fn connect(&self, to: &Connection) -> Result<(), VerbsError> {
        let is_reliable = match self.transport {
            Transport::Rc => true,
            Transport::Uc => false,
            Transport::Ud => {
                return Err(VerbsError::Config {
                    why: "datagrams are not connected: see `ready`".to_owned(),
                });
            }
        };
        let about = self.pd.device().about();
        let (out, most) = (to.reads_out.min(about.max_reads_out), to.reads_in.min(about.max_reads_in));
        let to = Connection { reads_out: out, reads_in: most, ..*to };
        let (mut attr, what) = to.receiving(is_reliable)?;
        self.modify(&mut attr, what, &format!("RTR, {}", to.path))?;
        let (mut attr, what) = to.sending(is_reliable);
        self.modify(&mut attr, what, "RTS")
    }

    /// INIT to RTR to RTS for datagrams, which have no peer.
    pub fn ready(&self) -> Result<(), VerbsError> {
        if self.transport != Transport::Ud {
            return Err(VerbsError::Config { why: "a connection needs a peer: see `connect`".to_owned() });
        }
        let mut attr = QpAttr::zeroed();
        attr.qp_state = READY_TO_RECEIVE;
        self.modify(&mut attr, mask::STATE, "RTR")?;
        attr.qp_state = READY_TO_SEND;
        self.modify(&mut attr, mask::STATE | mask::SQ_PSN, "RTS")
    }

    /// To ERR: all posted requests end with [`Status::Flushed`](super::Status::Flushed).
    pub fn fail(&self) -> Result<(), VerbsError> {
        let mut attr = QpAttr::zeroed();
        attr.qp_state = ERROR;
        self.modify(&mut attr, mask::STATE, "ERR")
    }

    pub fn state(&self) -> Result<State, VerbsError> {
        let (mut attr, mut init) = (QpAttr::zeroed(), QpInitAttr::zeroed());
        // SAFETY: the queue pair is alive, as are both structures.
        let code = unsafe {
            (self.pd.device().table().ibv_query_qp)(
                self.raw.as_ptr(),
                &raw mut attr,
                mask::STATE,
                &raw mut init,
            )
        };
        answer("ibv_query_qp", code, || format!("{self:?}"))?;
        Ok(State::of(attr.qp_state))
    }

    fn modify(&self, attr: &mut QpAttr, what: c_int, to: &str) -> Result<(), VerbsError> {
        // SAFETY: the queue pair is alive, and the structure lives through the call.
        let code =
            unsafe { (self.pd.device().table().ibv_modify_qp)(self.raw.as_ptr(), ptr::from_mut(attr), what) };
        answer("ibv_modify_qp", code, || {
            format!("{} queue pair {} of {} to {to}", self.transport, self.number, self.pd.device().name())
        })
    }
}

impl Drop for QueuePair {
    fn drop(&mut self) {
        // Over a dead path soft-RoCE retransmits for ever, except in the error state.
        //
        // Packets still held by the kernel reference the queue pair. Destroying waits for them uninterruptibly, for
        // 50 s at most (__rxe_cleanup in Linux drivers/infiniband/sw/rxe/rxe_pool.c; before 2025 for less than a
        // second), and then frees it anyway, after which the last packet may crash the kernel, as when an interface
        // with queued packets is removed. Process exit would destroy it in the same way.
        let _ = self.fail();
        // SAFETY: nothing else has it, and events that are about it are acknowledged as soon as they are taken.
        unsafe { (self.pd.device().table().ibv_destroy_qp)(self.raw.as_ptr()) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn transports_have_the_operations_of_the_specification() {
        let all = [VerbKind::Write, VerbKind::Read, VerbKind::Send, VerbKind::Atomic];
        let of = |transport: Transport| all.map(|verb| transport.allows(verb));
        assert_eq!(of(Transport::Rc), [true; 4]);
        assert_eq!(of(Transport::Uc), [true, false, true, false]);
        assert_eq!(of(Transport::Ud), [false, false, true, false]);
    }

    #[test]
    fn states_have_the_numbers_of_the_header() {
        assert_eq!((0..7).map(State::of).filter(|state| matches!(state, State::Other(_))).count(), 0);
        assert_eq!((State::of(ERROR), State::of(7)), (State::Error, State::Other(7)));
    }
}
