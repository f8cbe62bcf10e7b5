//! A libibverbs whose devices do not exist, for tests: cards `mlx5_0`, `mlx5_1` and `mlx5_2` of one port each, which reach
//! queue pairs and memory of the same process. Messages move real bytes, so that checks of data are real; a message moves
//! when it is posted. Datagrams, atomics and events it has not.
//!
//! It is not a member of the workspace: tests compile it (`compile.rs`). Its configuration is the file beside it whose name
//! has `.conf` added, words of the form `key=value`:
//!
//! | key | means | default |
//! |---|---|---|
//! | `state` | logical state of every port: 1 is down, 4 active | 4 |
//! | `layer` | 1 is InfiniBand, 2 Ethernet | 1 |
//! | `lid` | local identifier of every port, which a connection over InfiniBand must name | 7 |
//! | `global` | 1: a connection must have a global header, 0: it must have none | 0 |
//! | `atomics` | what a device can do of them: 0 is nothing | 1 |
//! | `uc` | 0: no unreliable connections | 1 |
//! | `silent` | completions that are told before they stop | no end |
//! | `fail` | completions before all end with status 21 (a general error) | no end |
//! | `vendor` | the vendor's code of those | 0 |

#[expect(dead_code, reason = "declared once, for both sides")]
#[path = "../../src/verbs/abi.rs"]
mod abi;

use std::collections::{HashMap, VecDeque};
use std::ffi::{c_char, c_int, c_uint, c_void};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use abi::{
    AhAttr, AsyncEvent, CompChannel, Context, Cq, DeviceAttr, Mr, Opaque, Plain, PortAttr, Qp, QpAttr,
    QpInitAttr, RecvWr, SendWr, Sge, Wc, mask, send, wr,
};

const NOENT: c_int = 2;
const AGAIN: c_int = 11;
const INVAL: c_int = 22;
const NOTSUP: c_int = 95;

/// `IBV_WC_*`: how work ended.
const ACCESS_ERROR: c_uint = 10;
const NOT_READY: c_uint = 13;
const GENERAL_ERROR: c_uint = 21;

/// What a receive queue tells: a message, and a write with an immediate value.
const RECEIVED: c_uint = 1 << 7;
const RECEIVED_WRITE: c_uint = RECEIVED + 1;

/// `IBV_QPT_*`.
const RC: c_uint = 2;
const UC: c_uint = 3;

/// How long a sender waits for a receive.
const PATIENCE: std::time::Duration = std::time::Duration::from_secs(60);

static NAMES: [&std::ffi::CStr; 3] = [c"mlx5_0", c"mlx5_1", c"mlx5_2"];

/// A queue pair as the other end finds it.
struct Pair {
    send: usize,
    receive: usize,
    peer: u32,
    state: c_uint,
    receives: VecDeque<(u64, Sge)>,
}

struct World {
    config: HashMap<String, u64>,
    pairs: HashMap<u32, Pair>,
    /// What completion queues hold, by their addresses.
    queues: HashMap<usize, VecDeque<Wc>>,
    /// Memory by its key: where it begins, and how long it is.
    regions: HashMap<u32, (usize, usize)>,
    next: u32,
    completed: u64,
}

fn world() -> MutexGuard<'static, World> {
    static WORLD: OnceLock<Mutex<World>> = OnceLock::new();
    let world = WORLD.get_or_init(|| {
        let text = own_path().and_then(|path| std::fs::read_to_string(path + ".conf").ok());
        let words = text.as_deref().unwrap_or_default().split_whitespace();
        let number = |text: &str| text.parse().unwrap_or_else(|_| panic!("'{text}' is no number"));
        let config = words.map(|word| {
            let (key, value) = word.split_once('=').expect("key=value");
            (key.to_owned(), number(value))
        });
        Mutex::new(World {
            config: config.collect(),
            pairs: HashMap::new(),
            queues: HashMap::new(),
            regions: HashMap::new(),
            next: 1,
            completed: 0,
        })
    });
    world.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The file that this code is of.
fn own_path() -> Option<String> {
    let here = own_path as *const () as usize;
    let maps = std::fs::read_to_string("/proc/self/maps").ok()?;
    maps.lines().find_map(|line| {
        let (range, rest) = line.split_once(' ')?;
        let (from, to) = range.split_once('-')?;
        let number = |text| usize::from_str_radix(text, 16).ok();
        (number(from)?..number(to)?).contains(&here).then(|| rest[rest.find('/')?..].to_owned().into())?
    })
}

impl World {
    fn number(&self, key: &str, default: u64) -> u64 {
        self.config.get(key).copied().unwrap_or(default)
    }

    fn fresh(&mut self) -> u32 {
        self.next += 1;
        self.next
    }

    fn complete(&mut self, queue: usize, mut completion: Wc) {
        self.completed += 1;
        if self.completed > self.number("silent", u64::MAX) {
            return;
        }
        if self.completed > self.number("fail", u64::MAX) {
            completion.status = GENERAL_ERROR;
            completion.vendor_err = self.number("vendor", 0) as u32;
        }
        self.queues.entry(queue).or_default().push_back(completion);
    }

    /// Whether a peer may reach so much memory with this key.
    fn reaches(&self, address: u64, bytes: u32, key: u32) -> bool {
        self.regions.get(&key).is_some_and(|(start, size)| {
            let (from, to) = (address as usize, address as usize + bytes as usize);
            *start <= from && to <= start + size
        })
    }

    /// Takes a receive of the peer for a message, and tells of it there.
    fn receive(&mut self, peer: u32, bytes: u32, opcode: c_uint, immediate: Option<u32>) -> Option<Sge> {
        let pair = self.pairs.get_mut(&peer)?;
        let (id, piece) = pair.receives.pop_front()?;
        let mut completion = Wc::zeroed();
        (completion.wr_id, completion.opcode, completion.byte_len) = (id, opcode, bytes);
        completion.qp_num = peer;
        if let Some(immediate) = immediate {
            (completion.imm_data, completion.wc_flags) = (immediate, 1 << 1);
        }
        let queue = pair.receive;
        self.complete(queue, completion);
        Some(piece)
    }

    /// Does a request; the status that it ends with, and the code of what was done.
    ///
    /// # Safety
    /// Its piece of memory is there, as is what is registered.
    unsafe fn does(&mut self, peer: u32, request: &SendWr, piece: Sge) -> (c_uint, c_uint) {
        let (address, key) = (request.target[0], request.target[1] as u32);
        let with_immediate = matches!(request.opcode, wr::RDMA_WRITE_WITH_IMM | wr::SEND_WITH_IMM);
        let immediate = with_immediate.then_some(request.imm_data);
        let (from, to) = (piece.addr as *mut u8, address as *mut u8);
        match request.opcode {
            wr::RDMA_WRITE | wr::RDMA_WRITE_WITH_IMM => {
                if !self.reaches(address, piece.length, key) {
                    return (ACCESS_ERROR, 1);
                }
                // SAFETY: both pieces are there, as promised and as just looked up.
                unsafe { std::ptr::copy(from, to, piece.length as usize) };
                if immediate.is_some() {
                    self.receive(peer, piece.length, RECEIVED_WRITE, immediate);
                }
                (0, 1)
            }
            wr::RDMA_READ => {
                if !self.reaches(address, piece.length, key) {
                    return (ACCESS_ERROR, 2);
                }
                // SAFETY: as above.
                unsafe { std::ptr::copy(to, from, piece.length as usize) };
                (0, 2)
            }
            _ => match self.receive(peer, piece.length, RECEIVED, immediate) {
                Some(into) if into.length >= piece.length => {
                    // SAFETY: as above; receives are posted with memory that is there.
                    unsafe { std::ptr::copy(from, into.addr as *mut u8, piece.length as usize) };
                    (0, 0)
                }
                _ => (NOT_READY, 0),
            },
        }
    }
}

/// Waits until the peer has a receive, as a reliable card does; not for ever.
fn with_receive(mut held: MutexGuard<'static, World>, peer: u32) -> MutexGuard<'static, World> {
    let clock = std::time::Instant::now();
    while held.pairs.get(&peer).is_some_and(|pair| pair.receives.is_empty()) && clock.elapsed() < PATIENCE {
        drop(held);
        std::thread::yield_now();
        held = world();
    }
    held
}

fn fails<T>(code: c_int, answer: T) -> T {
    unsafe extern "C" {
        fn __errno_location() -> *mut c_int;
    }
    // SAFETY: every thread has one.
    unsafe { *__errno_location() = code };
    answer
}

fn give<T>(value: T) -> *mut T {
    Box::into_raw(Box::new(value))
}

unsafe extern "C" fn poll_cq(queue: *mut Cq, room: c_int, into: *mut Wc) -> c_int {
    let mut world = world();
    let Some(held) = world.queues.get_mut(&(queue as usize)) else { return -1 };
    let count = held.len().min(usize::try_from(room).unwrap_or(0));
    for (at, completion) in held.drain(..count).enumerate() {
        // SAFETY: there is room for so many.
        unsafe { into.add(at).write(completion) };
    }
    count as c_int
}

unsafe extern "C" fn req_notify_cq(_: *mut Cq, _: c_int) -> c_int {
    NOTSUP
}

unsafe extern "C" fn post_send(pair: *mut Qp, first: *mut SendWr, _: *mut *mut SendWr) -> c_int {
    let mut held = world();
    // SAFETY: the caller's queue pair, and a chain of requests with a piece of memory each.
    unsafe {
        let number = (*pair).qp_num;
        let mut next = first;
        while let Some(request) = next.as_ref() {
            let (queue, peer, state) = match held.pairs.get(&number) {
                Some(pair) => (pair.send, pair.peer, pair.state),
                None => return INVAL,
            };
            if (*pair).qp_type == RC && matches!(request.opcode, wr::SEND | wr::SEND_WITH_IMM) {
                held = with_receive(held, peer);
            }
            let mut completion = Wc::zeroed();
            (completion.wr_id, completion.qp_num) = (request.wr_id, number);
            // In error, what is posted is flushed.
            let ended = if state == 6 { (5, 0) } else { held.does(peer, request, *request.sg_list) };
            (completion.status, completion.opcode) = ended;
            completion.byte_len = (*request.sg_list).length;
            if ended.0 != 0 || request.send_flags & send::SIGNALED != 0 {
                held.complete(queue, completion);
            }
            next = request.next;
        }
    }
    0
}

unsafe extern "C" fn post_recv(pair: *mut Qp, first: *mut RecvWr, _: *mut *mut RecvWr) -> c_int {
    let mut world = world();
    // SAFETY: as in `post_send`.
    unsafe {
        let Some(pair) = world.pairs.get_mut(&(*pair).qp_num) else { return INVAL };
        let mut next = first;
        while let Some(request) = next.as_ref() {
            pair.receives.push_back((request.wr_id, *request.sg_list));
            next = request.next;
        }
    }
    0
}

#[unsafe(no_mangle)]
unsafe extern "C" fn ibv_get_device_list(count: *mut c_int) -> *mut Opaque {
    let list: Vec<Opaque> = (1..=NAMES.len()).map(|at| at as Opaque).chain([std::ptr::null_mut()]).collect();
    // SAFETY: the caller's variable.
    unsafe { *count = NAMES.len() as c_int };
    Box::leak(list.into_boxed_slice()).as_mut_ptr()
}

#[unsafe(no_mangle)]
unsafe extern "C" fn ibv_free_device_list(_: *mut Opaque) {}

#[unsafe(no_mangle)]
unsafe extern "C" fn ibv_get_device_name(device: Opaque) -> *const c_char {
    NAMES[device as usize - 1].as_ptr()
}

#[unsafe(no_mangle)]
unsafe extern "C" fn ibv_get_device_guid(device: Opaque) -> u64 {
    (device as u64).to_be()
}

#[unsafe(no_mangle)]
unsafe extern "C" fn ibv_open_device(device: Opaque) -> *mut Context {
    let mut context = Context::zeroed();
    (context.device, context.cmd_fd, context.async_fd, context.num_comp_vectors) = (device, -1, -1, 1);
    context.ops.poll_cq = Some(poll_cq);
    context.ops.req_notify_cq = Some(req_notify_cq);
    context.ops.post_send = Some(post_send);
    context.ops.post_recv = Some(post_recv);
    give(context)
}

#[unsafe(no_mangle)]
unsafe extern "C" fn ibv_close_device(context: *mut Context) -> c_int {
    // SAFETY: it was given by `ibv_open_device`.
    drop(unsafe { Box::from_raw(context) });
    0
}

#[unsafe(no_mangle)]
unsafe extern "C" fn ibv_query_device(context: *mut Context, into: *mut DeviceAttr) -> c_int {
    let mut about = DeviceAttr::zeroed();
    about.fw_ver[..4].copy_from_slice(b"28.1");
    // SAFETY: the caller's context.
    about.node_guid = (unsafe { (*context).device } as u64).to_be();
    (about.sys_image_guid, about.max_mr_size) = (about.node_guid, u64::MAX);
    (about.max_qp, about.max_qp_wr, about.max_sge) = (1 << 16, 1 << 15, 16);
    (about.max_cq, about.max_cqe, about.max_mr) = (1 << 16, 1 << 22, 1 << 20);
    (about.max_qp_rd_atom, about.max_qp_init_rd_atom, about.phys_port_cnt) = (16, 16, 1);
    about.atomic_cap = world().number("atomics", 1) as c_uint;
    // SAFETY: the caller's structure.
    unsafe { into.write(about) };
    0
}

#[unsafe(no_mangle)]
unsafe extern "C" fn ibv_query_port(_: *mut Context, _: u8, into: *mut PortAttr) -> c_int {
    let world = world();
    let mut port = PortAttr::zeroed();
    (port.state, port.lid) = (world.number("state", 4) as c_uint, world.number("lid", 7) as u16);
    port.link_layer = world.number("layer", 1) as u8;
    (port.max_mtu, port.active_mtu, port.gid_tbl_len, port.pkey_tbl_len) = (5, 5, 1, 1);
    port.max_msg_sz = 1 << 31;
    // SAFETY: the caller's structure.
    unsafe { into.write(port) };
    0
}

#[unsafe(no_mangle)]
unsafe extern "C" fn ibv_get_async_event(_: *mut Context, _: *mut AsyncEvent) -> c_int {
    fails(AGAIN, -1)
}

#[unsafe(no_mangle)]
unsafe extern "C" fn ibv_ack_async_event(_: *mut AsyncEvent) {}

#[unsafe(no_mangle)]
unsafe extern "C" fn ibv_alloc_pd(context: *mut Context) -> Opaque {
    context.cast()
}

#[unsafe(no_mangle)]
unsafe extern "C" fn ibv_dealloc_pd(_: Opaque) -> c_int {
    0
}

#[unsafe(no_mangle)]
unsafe extern "C" fn ibv_reg_mr(pd: Opaque, start: *mut c_void, bytes: usize, _: c_int) -> *mut Mr {
    let mut world = world();
    let key = world.fresh();
    world.regions.insert(key, (start as usize, bytes));
    let mut region = Mr::zeroed();
    (region.pd, region.addr, region.length, region.lkey, region.rkey) = (pd, start, bytes, key, key);
    give(region)
}

#[unsafe(no_mangle)]
unsafe extern "C" fn ibv_dereg_mr(region: *mut Mr) -> c_int {
    // SAFETY: it was given by `ibv_reg_mr`.
    let region = unsafe { Box::from_raw(region) };
    world().regions.remove(&region.rkey);
    0
}

#[unsafe(no_mangle)]
unsafe extern "C" fn ibv_create_comp_channel(_: *mut Context) -> *mut CompChannel {
    fails(NOTSUP, std::ptr::null_mut())
}

#[unsafe(no_mangle)]
unsafe extern "C" fn ibv_destroy_comp_channel(_: *mut CompChannel) -> c_int {
    0
}

#[unsafe(no_mangle)]
unsafe extern "C" fn ibv_create_cq(
    context: *mut Context,
    depth: c_int,
    own: Opaque,
    channel: *mut CompChannel,
    _: c_int,
) -> *mut Cq {
    let mut queue = Cq::zeroed();
    (queue.context, queue.channel, queue.cq_context, queue.cqe) = (context, channel, own, depth);
    let queue = give(queue);
    world().queues.insert(queue as usize, VecDeque::new());
    queue
}

#[unsafe(no_mangle)]
unsafe extern "C" fn ibv_destroy_cq(queue: *mut Cq) -> c_int {
    world().queues.remove(&(queue as usize));
    // SAFETY: it was given by `ibv_create_cq`.
    drop(unsafe { Box::from_raw(queue) });
    0
}

#[unsafe(no_mangle)]
unsafe extern "C" fn ibv_get_cq_event(_: *mut CompChannel, _: *mut *mut Cq, _: *mut Opaque) -> c_int {
    fails(AGAIN, -1)
}

#[unsafe(no_mangle)]
unsafe extern "C" fn ibv_ack_cq_events(_: *mut Cq, _: c_uint) {}

#[unsafe(no_mangle)]
unsafe extern "C" fn ibv_create_qp(pd: Opaque, attr: *mut QpInitAttr) -> *mut Qp {
    let mut world = world();
    // SAFETY: the caller's structure.
    let attr = unsafe { &*attr };
    match attr.qp_type {
        RC => {}
        UC if world.number("uc", 1) == 1 => {}
        _ => return fails(NOTSUP, std::ptr::null_mut()),
    }
    let mut pair = Qp::zeroed();
    (pair.context, pair.pd, pair.qp_num) = (pd.cast(), pd, world.fresh());
    (pair.send_cq, pair.recv_cq, pair.qp_type) = (attr.send_cq, attr.recv_cq, attr.qp_type);
    let (send, receive) = (attr.send_cq as usize, attr.recv_cq as usize);
    let held = Pair { send, receive, peer: 0, state: 0, receives: VecDeque::new() };
    world.pairs.insert(pair.qp_num, held);
    give(pair)
}

#[unsafe(no_mangle)]
unsafe extern "C" fn ibv_modify_qp(pair: *mut Qp, attr: *mut QpAttr, what: c_int) -> c_int {
    let mut world = world();
    // SAFETY: the caller's queue pair and structure.
    let (number, attr) = unsafe { ((*pair).qp_num, &*attr) };
    let path = &attr.ah_attr;
    let is_infiniband = world.number("layer", 1) == 1;
    let (lid, global) = (world.number("lid", 7) as u16, world.number("global", 0) as u8);
    let is_wrong = is_infiniband && path.dlid != lid || path.is_global != global || path.port_num != 1;
    if what & mask::AV != 0 && is_wrong {
        return INVAL;
    }
    let Some(pair) = world.pairs.get_mut(&number) else { return NOENT };
    if what & mask::DEST_QPN != 0 {
        pair.peer = attr.dest_qp_num;
    }
    if what & mask::STATE != 0 {
        pair.state = attr.qp_state;
    }
    0
}

#[unsafe(no_mangle)]
unsafe extern "C" fn ibv_query_qp(pair: *mut Qp, attr: *mut QpAttr, _: c_int, _: *mut QpInitAttr) -> c_int {
    // SAFETY: the caller's queue pair and structure.
    unsafe {
        let world = world();
        let Some(pair) = world.pairs.get(&(*pair).qp_num) else { return NOENT };
        (*attr).qp_state = pair.state;
    }
    0
}

#[unsafe(no_mangle)]
unsafe extern "C" fn ibv_destroy_qp(pair: *mut Qp) -> c_int {
    // SAFETY: it was given by `ibv_create_qp`.
    let pair = unsafe { Box::from_raw(pair) };
    world().pairs.remove(&pair.qp_num);
    0
}

#[unsafe(no_mangle)]
unsafe extern "C" fn ibv_create_ah(_: Opaque, _: *mut AhAttr) -> Opaque {
    fails(NOTSUP, std::ptr::null_mut())
}

#[unsafe(no_mangle)]
unsafe extern "C" fn ibv_destroy_ah(_: Opaque) -> c_int {
    0
}
