//! C structures of libibverbs, as on 64-bit systems.
//!
//! Unchanged since IBVERBS_1.1 (rdma-core, `libibverbs/verbs.h`): new fields were only appended, and only to
//! structures that the library allocates. A test compares them with the installed header. Enumerations are plain
//! numbers, since a newer library may return unknown values.
#![expect(unsafe_code, reason = "a promise about zeroed memory")]

use std::ffi::{c_int, c_uint, c_void};

/// Declares structures with field offsets and size, checked at compile time and by the test against the header.
macro_rules! structures {
    ($(
        $(#[$doc:meta])*
        $name:ident = $c:literal, $size:literal { $($field:ident: $type:ty = $at:literal $(as $path:literal)?,)+ }
    )+) => {
        $(
            $(#[$doc])*
            #[repr(C)]
            #[derive(Clone, Copy, Debug)]
            pub struct $name {
                $(pub $field: $type,)+
            }

            // SAFETY: numbers, pointers that may be null, and functions that may be missing: zeros are a value of it.
            unsafe impl Plain for $name {}

            const _: () = assert!(size_of::<$name>() == $size, $c);
            $(const _: () = assert!(std::mem::offset_of!($name, $field) == $at, stringify!($field));)+
        )+

        /// For each structure: its C name, size, and the C names and offsets of its fields.
        #[cfg(test)]
        pub const LAYOUTS: &[(&str, usize, &[(&str, usize)])] = &[
            $(($c, $size, &[$((last(&[stringify!($field) $(, $path)?]), $at),)+]),)+
        ];
    };
}

/// A structure for which all zeros is a value.
///
/// # Safety
/// Has only numbers, raw pointers, and optional functions.
pub unsafe trait Plain: Copy {
    /// All zeros: "not given" for the library.
    fn zeroed() -> Self {
        // SAFETY: that is what the trait promises.
        unsafe { std::mem::zeroed() }
    }
}

#[cfg(test)]
const fn last<'a>(names: &[&'a str]) -> &'a str {
    names[names.len() - 1]
}

pub type Opaque = *mut c_void;

/// A function slot that Seatrial does not use.
type Slot = usize;

pub type PollCq = unsafe extern "C" fn(*mut Cq, c_int, *mut Wc) -> c_int;
pub type ReqNotifyCq = unsafe extern "C" fn(*mut Cq, c_int) -> c_int;
pub type PostSend = unsafe extern "C" fn(*mut Qp, *mut SendWr, *mut *mut SendWr) -> c_int;
pub type PostRecv = unsafe extern "C" fn(*mut Qp, *mut RecvWr, *mut *mut RecvWr) -> c_int;

structures! {
    /// Calls that the header inlines, implemented by the device's provider.
    Ops = "struct ibv_context_ops", 256 {
        before_poll: [Slot; 11] = 0 as "_compat_query_device",
        poll_cq: Option<PollCq> = 88,
        req_notify_cq: Option<ReqNotifyCq> = 96,
        before_send: [Slot; 12] = 104 as "_compat_cq_event",
        post_send: Option<PostSend> = 200,
        post_recv: Option<PostRecv> = 208,
        rest: [Slot; 5] = 216 as "_compat_create_ah",
    }
    /// An opened device; a lock and more follow.
    Context = "struct ibv_context", 280 {
        device: Opaque = 0,
        ops: Ops = 8,
        cmd_fd: c_int = 264,
        async_fd: c_int = 268,
        num_comp_vectors: c_int = 272,
    }
    DeviceAttr = "struct ibv_device_attr", 232 {
        fw_ver: [u8; 64] = 0,
        node_guid: u64 = 64,
        sys_image_guid: u64 = 72,
        max_mr_size: u64 = 80,
        page_size_cap: u64 = 88,
        vendor_id: u32 = 96,
        vendor_part_id: u32 = 100,
        hw_ver: u32 = 104,
        max_qp: c_int = 108,
        max_qp_wr: c_int = 112,
        device_cap_flags: c_uint = 116,
        max_sge: c_int = 120,
        max_sge_rd: c_int = 124,
        max_cq: c_int = 128,
        max_cqe: c_int = 132,
        max_mr: c_int = 136,
        max_pd: c_int = 140,
        max_qp_rd_atom: c_int = 144,
        max_ee_rd_atom: c_int = 148,
        max_res_rd_atom: c_int = 152,
        max_qp_init_rd_atom: c_int = 156,
        max_ee_init_rd_atom: c_int = 160,
        atomic_cap: c_uint = 164,
        others: [c_int; 14] = 168 as "max_ee",
        max_pkeys: u16 = 224,
        local_ca_ack_delay: u8 = 226,
        phys_port_cnt: u8 = 227,
    }
    /// Port attributes. The exported function fills the fields before `port_cap_flags2`.
    PortAttr = "struct ibv_port_attr", 56 {
        state: c_uint = 0,
        max_mtu: c_uint = 4,
        active_mtu: c_uint = 8,
        gid_tbl_len: c_int = 12,
        port_cap_flags: u32 = 16,
        max_msg_sz: u32 = 20,
        bad_pkey_cntr: u32 = 24,
        qkey_viol_cntr: u32 = 28,
        pkey_tbl_len: u16 = 32,
        lid: u16 = 34,
        sm_lid: u16 = 36,
        lmc: u8 = 38,
        max_vl_num: u8 = 39,
        sm_sl: u8 = 40,
        subnet_timeout: u8 = 41,
        init_type_reply: u8 = 42,
        active_width: u8 = 43,
        active_speed: u8 = 44,
        phys_state: u8 = 45,
        link_layer: u8 = 46,
        flags: u8 = 47,
        port_cap_flags2: u16 = 48,
        active_speed_ex: u32 = 52,
    }
    Mr = "struct ibv_mr", 48 {
        context: *mut Context = 0,
        pd: Opaque = 8,
        addr: Opaque = 16,
        length: usize = 24,
        handle: u32 = 32,
        lkey: u32 = 36,
        rkey: u32 = 40,
    }
    CompChannel = "struct ibv_comp_channel", 16 {
        context: *mut Context = 0,
        fd: c_int = 8,
        refcnt: c_int = 12,
    }
    /// A completion queue; a lock and more follow.
    Cq = "struct ibv_cq", 32 {
        context: *mut Context = 0,
        channel: *mut CompChannel = 8,
        cq_context: Opaque = 16,
        handle: u32 = 24,
        cqe: c_int = 28,
    }
    Wc = "struct ibv_wc", 48 {
        wr_id: u64 = 0,
        status: c_uint = 8,
        opcode: c_uint = 12,
        vendor_err: u32 = 16,
        byte_len: u32 = 20,
        imm_data: u32 = 24,
        qp_num: u32 = 28,
        src_qp: u32 = 32,
        wc_flags: c_uint = 36,
        pkey_index: u16 = 40,
        slid: u16 = 42,
        sl: u8 = 44,
        dlid_path_bits: u8 = 45,
    }
    /// The global routing header of a path. A GID is aligned as a 64-bit number.
    GlobalRoute = "struct ibv_global_route", 24 {
        dgid: [u64; 2] = 0,
        flow_label: u32 = 16,
        sgid_index: u8 = 20,
        hop_limit: u8 = 21,
        traffic_class: u8 = 22,
    }
    AhAttr = "struct ibv_ah_attr", 32 {
        grh: GlobalRoute = 0,
        dlid: u16 = 24,
        sl: u8 = 26,
        src_path_bits: u8 = 27,
        static_rate: u8 = 28,
        is_global: u8 = 29,
        port_num: u8 = 30,
    }
    QpCap = "struct ibv_qp_cap", 20 {
        max_send_wr: u32 = 0,
        max_recv_wr: u32 = 4,
        max_send_sge: u32 = 8,
        max_recv_sge: u32 = 12,
        max_inline_data: u32 = 16,
    }
    QpInitAttr = "struct ibv_qp_init_attr", 64 {
        qp_context: Opaque = 0,
        send_cq: *mut Cq = 8,
        recv_cq: *mut Cq = 16,
        srq: Opaque = 24,
        cap: QpCap = 32,
        qp_type: c_uint = 52,
        sq_sig_all: c_int = 56,
    }
    QpAttr = "struct ibv_qp_attr", 144 {
        qp_state: c_uint = 0,
        cur_qp_state: c_uint = 4,
        path_mtu: c_uint = 8,
        path_mig_state: c_uint = 12,
        qkey: u32 = 16,
        rq_psn: u32 = 20,
        sq_psn: u32 = 24,
        dest_qp_num: u32 = 28,
        qp_access_flags: c_uint = 32,
        cap: QpCap = 36,
        ah_attr: AhAttr = 56,
        alt_ah_attr: AhAttr = 88,
        pkey_index: u16 = 120,
        alt_pkey_index: u16 = 122,
        en_sqd_async_notify: u8 = 124,
        sq_draining: u8 = 125,
        max_rd_atomic: u8 = 126,
        max_dest_rd_atomic: u8 = 127,
        min_rnr_timer: u8 = 128,
        port_num: u8 = 129,
        timeout: u8 = 130,
        retry_cnt: u8 = 131,
        rnr_retry: u8 = 132,
        alt_port_num: u8 = 133,
        alt_timeout: u8 = 134,
        rate_limit: u32 = 136,
    }
    /// A queue pair; a lock and more follow.
    Qp = "struct ibv_qp", 64 {
        context: *mut Context = 0,
        qp_context: Opaque = 8,
        pd: Opaque = 16,
        send_cq: *mut Cq = 24,
        recv_cq: *mut Cq = 32,
        srq: Opaque = 40,
        handle: u32 = 48,
        qp_num: u32 = 52,
        state: c_uint = 56,
        qp_type: c_uint = 60,
    }
    Sge = "struct ibv_sge", 16 {
        addr: u64 = 0,
        length: u32 = 8,
        lkey: u32 = 12,
    }
    /// A send request. `target` is the union `wr`: address and key; address, two operands and key; or handle, queue
    /// pair and its key.
    SendWr = "struct ibv_send_wr", 128 {
        wr_id: u64 = 0,
        next: *mut SendWr = 8,
        sg_list: *mut Sge = 16,
        num_sge: c_int = 24,
        opcode: c_uint = 28,
        send_flags: c_uint = 32,
        imm_data: u32 = 36,
        target: [u64; 4] = 40 as "wr",
        xrc: [u32; 2] = 72 as "qp_type",
        window: [u64; 6] = 80 as "bind_mw",
    }
    RecvWr = "struct ibv_recv_wr", 32 {
        wr_id: u64 = 0,
        next: *mut RecvWr = 8,
        sg_list: *mut Sge = 16,
        num_sge: c_int = 24,
    }
    AsyncEvent = "struct ibv_async_event", 16 {
        element: u64 = 0,
        event_type: c_uint = 8,
    }
}

/// Structures that the library allocates and of which we declare only the beginning.
#[cfg(test)]
pub const OPEN_ENDED: &[&str] = &["struct ibv_context", "struct ibv_cq", "struct ibv_qp"];

pub mod access {
    pub const LOCAL_WRITE: u32 = 1;
    pub const REMOTE_WRITE: u32 = 1 << 1;
    pub const REMOTE_READ: u32 = 1 << 2;
    pub const REMOTE_ATOMIC: u32 = 1 << 3;
    /// `IBV_ACCESS_OPTIONAL_FIRST`: the library drops the flag where the kernel does not know it.
    pub const RELAXED_ORDERING: u32 = 1 << 20;
}

/// `IBV_QP_*`: which fields of [`QpAttr`] are valid.
pub mod mask {
    pub const STATE: c_int = 1;
    pub const ACCESS_FLAGS: c_int = 1 << 3;
    pub const PKEY_INDEX: c_int = 1 << 4;
    pub const PORT: c_int = 1 << 5;
    pub const QKEY: c_int = 1 << 6;
    pub const AV: c_int = 1 << 7;
    pub const PATH_MTU: c_int = 1 << 8;
    pub const TIMEOUT: c_int = 1 << 9;
    pub const RETRY_CNT: c_int = 1 << 10;
    pub const RNR_RETRY: c_int = 1 << 11;
    pub const RQ_PSN: c_int = 1 << 12;
    pub const MAX_QP_RD_ATOMIC: c_int = 1 << 13;
    pub const MIN_RNR_TIMER: c_int = 1 << 15;
    pub const SQ_PSN: c_int = 1 << 16;
    pub const MAX_DEST_RD_ATOMIC: c_int = 1 << 17;
    pub const DEST_QPN: c_int = 1 << 20;

    use std::ffi::c_int;
}

pub mod send {
    pub const FENCE: u32 = 1;
    pub const SIGNALED: u32 = 1 << 1;
    pub const SOLICITED: u32 = 1 << 2;
    pub const INLINE: u32 = 1 << 3;
}

pub mod wr {
    pub const RDMA_WRITE: u32 = 0;
    pub const RDMA_WRITE_WITH_IMM: u32 = 1;
    pub const SEND: u32 = 2;
    pub const SEND_WITH_IMM: u32 = 3;
    pub const RDMA_READ: u32 = 4;
    pub const ATOMIC_CMP_AND_SWP: u32 = 5;
    pub const ATOMIC_FETCH_AND_ADD: u32 = 6;
}
