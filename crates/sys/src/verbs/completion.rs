//! Work completions and their status.

use std::fmt;

use super::VerbsError;
use super::abi::{Plain, Wc};

const WITH_IMMEDIATE: u32 = 1 << 1;
const WITH_GRH: u32 = 1;

#[derive(Clone, Copy)]
#[repr(transparent)]
pub struct WorkCompletion(pub(super) Wc);

impl Default for WorkCompletion {
    fn default() -> Self {
        Self(Wc::zeroed())
    }
}

impl fmt::Debug for WorkCompletion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} of request {} on queue pair {}", self.status(), self.0.wr_id, self.0.qp_num)
    }
}

impl WorkCompletion {
    #[inline]
    pub const fn id(&self) -> u64 {
        self.0.wr_id
    }

    pub const fn status(&self) -> Status {
        Status::of(self.0.status)
    }

    /// Whether the request succeeded. Otherwise only number, queue pair and status are valid.
    #[inline]
    pub const fn is_success(&self) -> bool {
        self.0.status == 0
    }

    pub const fn operation(&self) -> WcOpcode {
        WcOpcode::of(self.0.opcode)
    }

    #[inline]
    pub const fn is_receive(&self) -> bool {
        self.0.opcode & RECEIVE != 0
    }

    /// Bytes of a receive or read. A datagram includes 40 bytes of the routing header.
    #[inline]
    pub const fn bytes(&self) -> u32 {
        self.0.byte_len
    }

    pub const fn immediate(&self) -> Option<u32> {
        if self.0.wc_flags & WITH_IMMEDIATE != 0 { Some(u32::from_be(self.0.imm_data)) } else { None }
    }

    pub const fn has_grh(&self) -> bool {
        self.0.wc_flags & WITH_GRH != 0
    }

    pub const fn qp_number(&self) -> u32 {
        self.0.qp_num
    }

    pub const fn source_qp(&self) -> u32 {
        self.0.src_qp
    }

    /// [`VerbsError::WorkCompletion`] where the request failed.
    pub fn check(&self) -> Result<(), VerbsError> {
        if self.is_success() {
            return Ok(());
        }
        Err(VerbsError::WorkCompletion { status: self.status(), vendor: self.0.vendor_err, id: self.0.wr_id })
    }
}

/// Set in every opcode of a receive queue.
const RECEIVE: u32 = 1 << 7;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WcOpcode {
    Send,
    Write,
    Read,
    CompareSwap,
    FetchAdd,
    Receive,
    ReceiveWriteImmediate,
    Other(u32),
}

impl WcOpcode {
    const fn of(code: u32) -> Self {
        match code {
            0 => Self::Send,
            1 => Self::Write,
            2 => Self::Read,
            3 => Self::CompareSwap,
            4 => Self::FetchAdd,
            128 => Self::Receive,
            129 => Self::ReceiveWriteImmediate,
            other => Self::Other(other),
        }
    }
}

macro_rules! statuses {
    ($($(#[$doc:meta])* $variant:ident = $code:literal, $name:literal, $text:literal;)+) => {
        /// Completion status (InfiniBand Architecture Specification, volume 1, "Completion Return Status").
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Status {
            $($(#[$doc])* $variant,)+
            Other(u32),
        }

        impl Status {
            /// From the number in `enum ibv_wc_status`.
            pub const fn of(code: u32) -> Self {
                match code {
                    $($code => Self::$variant,)+
                    other => Self::Other(other),
                }
            }

            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)+
                    Self::Other(_) => "a status that is not known",
                }
            }

            pub const fn text(self) -> &'static str {
                match self {
                    $(Self::$variant => $text,)+
                    Self::Other(_) => "the library is newer than this list",
                }
            }
        }
    };
}

statuses! {
    Success = 0, "IBV_WC_SUCCESS", "done";
    LocalLength = 1, "IBV_WC_LOC_LEN_ERR",
        "a message is longer than the receive posted for it, or than the port can carry";
    LocalOperation = 2, "IBV_WC_LOC_QP_OP_ERR",
        "the request does not fit the queue pair: its transport or its sizes";
    LocalEec = 3, "IBV_WC_LOC_EEC_OP_ERR", "an end-to-end context failed";
    LocalProtection = 4, "IBV_WC_LOC_PROT_ERR",
        "local memory is not registered for it: wrong key, range, access or protection domain";
    Flushed = 5, "IBV_WC_WR_FLUSH_ERR",
        "the queue pair was in error before this request was looked at; an earlier completion has the cause";
    WindowBind = 6, "IBV_WC_MW_BIND_ERR", "a memory window could not be bound";
    BadResponse = 7, "IBV_WC_BAD_RESP_ERR", "the peer answered with an unexpected packet";
    LocalAccess = 8, "IBV_WC_LOC_ACCESS_ERR", "the peer's write with immediate met memory that may not be written";
    // Soft-RoCE causes this by itself, as far as its source tells (Linux drivers/infiniband/sw/rxe, rxe_comp.c and
    // rxe_req.c): a late acknowledgement, after half of a long message was retransmitted, moves the next expected
    // packet behind the message without completing it (COMPST_UPDATE_COMP). A further retransmission before that
    // reuses packet numbers (req_retry), and the peer sees the middle of a message where it expects a start. Reads
    // and atomics are not the cause: soft-RoCE takes any number of them.
    RemoteInvalidRequest = 9, "IBV_WC_REM_INV_REQ_ERR",
        "the peer calls the request invalid: not allowed on its queue pair, or longer than its receive; where software plays the \
         device, on a busy machine, also after parts of a long message were sent again, which smaller messages avoid";
    RemoteAccess = 10, "IBV_WC_REM_ACCESS_ERR",
        "the peer's memory may not be reached so: wrong key, range, access or protection domain";
    RemoteOperation = 11, "IBV_WC_REM_OP_ERR", "the peer met an error of its own while doing it";
    RetryExceeded = 12, "IBV_WC_RETRY_EXC_ERR",
        "no answer after all retries: the peer is gone or in error, the path is cut or loses too much, or GID, LID, MTU \
         or partition are wrong";
    RnrRetryExceeded = 13, "IBV_WC_RNR_RETRY_EXC_ERR",
        "the peer had no receive posted through all retries: it is too slow or too few were posted";
    DomainViolation = 14, "IBV_WC_LOC_RDD_VIOL_ERR", "the reliable datagram domains differ";
    RemoteInvalidDatagram = 15, "IBV_WC_REM_INV_RD_REQ_ERR", "the peer refuses the reliable datagram";
    RemoteAborted = 16, "IBV_WC_REM_ABORT_ERR", "the peer aborted the operation";
    InvalidEec = 17, "IBV_WC_INV_EECN_ERR", "the number of an end-to-end context is wrong";
    InvalidEecState = 18, "IBV_WC_INV_EEC_STATE_ERR", "an end-to-end context is in the wrong state";
    Fatal = 19, "IBV_WC_FATAL_ERR", "the device or its driver failed: see the kernel log";
    ResponseTimeout = 20, "IBV_WC_RESP_TIMEOUT_ERR", "no response in time";
    General = 21, "IBV_WC_GENERAL_ERR", "an error without a name: see the vendor's code";
    TagMatching = 22, "IBV_WC_TM_ERR", "tag matching failed";
    TagRendezvous = 23, "IBV_WC_TM_RNDV_INCOMPLETE", "a rendezvous of tag matching was not completed";
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Other(code) => write!(f, "status {code}"),
            known => f.write_str(known.name()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statuses_have_the_numbers_of_the_header_and_texts_of_their_own() {
        let all: Vec<Status> = (0..24).map(Status::of).collect();
        assert!(all.iter().all(|status| status.name().starts_with("IBV_WC_")));
        for (at, status) in all.iter().enumerate() {
            assert!(
                all[..at].iter().all(|other| other.name() != status.name() && other.text() != status.text())
            );
        }
        assert_eq!((Status::of(12), Status::of(13)), (Status::RetryExceeded, Status::RnrRetryExceeded));
        assert_eq!(Status::of(99).to_string(), "status 99");
    }

    #[test]
    fn a_completion_tells_what_its_flags_say_and_no_more() {
        let mut wc = Wc::zeroed();
        (wc.wr_id, wc.opcode, wc.byte_len, wc.imm_data) = (7, 128, 44, 0x0102_0304_u32.to_be());
        let plain = WorkCompletion(wc);
        assert_eq!((plain.immediate(), plain.has_grh(), plain.is_receive()), (None, false, true));
        assert_eq!((plain.id(), plain.bytes(), plain.operation()), (7, 44, WcOpcode::Receive));
        wc.wc_flags = 3;
        let told = WorkCompletion(wc);
        assert_eq!((told.immediate(), told.has_grh(), told.check()), (Some(0x0102_0304), true, Ok(())));
        wc.status = 5;
        let error = WorkCompletion(wc).check().expect_err("flushed");
        assert_eq!(error, VerbsError::WorkCompletion { status: Status::Flushed, vendor: 0, id: 7 });
    }
}
