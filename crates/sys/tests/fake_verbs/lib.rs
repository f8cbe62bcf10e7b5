//! A libibverbs whose devices do not exist, for tests: cards `mlx5_0`, `mlx5_1` and `mlx5_2` of one port each, which reach
//! queue pairs and memory of the same process. Messages move real bytes, so that checks of data are real; a message moves
//! when it is posted, and waits there for a receive, so that nothing gets lost for want of one.
//!
//! It is not a member of the workspace: tests compile it (`compile.rs`). Its configuration is the file beside it whose name
//! has `.conf` added, words of the form `key=value`:
//!
//! | key | means | default |
//! |---|---|---|
//! | `state` | logical state of every port: 1 is down, 4 active | 4 |
//! | `layer` | 1 is InfiniBand, 2 Ethernet | 1 |
//! | `lid` | local identifier of every port, which a path over InfiniBand must name | 7 |
//! | `global` | 1: a path must have a global header, 0: it must have none | 0 |
//! | `sl`, `class` | the service level and, of a global header, the traffic class that a path must have | 0 |
//! | `pkeys` | partition keys of a port | 1 |
//! | `pkey` | the index of a partition key that queue pairs must have | any |
//! | `qps`, `cqes` | queue pairs of a device and entries of a completion queue at most | 65536, 4194304 |
//! | `atomics` | what a device can do of them: 0 is nothing | 1 |
//! | `uc`, `mcast` | 0: no unreliable connections, no groups | 1 |
//! | `silent` | completions that are told before they stop | no end |
//! | `stall` | the number of the request from which on its queue pair ends none, while others go on | none |
//! | `fail` | requests that are done before one of a queue pair fails | no end |
//! | `status`, `vendor` | what that one ends with, and the vendor's code of it | 21, 0 |
//! | `short` | the number of the message that is longer than its receive | none |
//! | `lose` | of every so many datagrams the last is lost | none |
//! | `wrong` | of every so many atomics the last gives a wrong result | none |
//! | `rate` | bytes that each port sends in a millisecond: a request is completed when its port has had the time | no limit |
//! | `slow` | the card, from 1 on, whose port sends a tenth of `rate` | none |
//! | `flip` | the card, from 1 on, whose writes arrive with one bit changed | none |
//!
//! When a device is closed, the file whose name has `.told` added has what was counted: `events` that were raised, `taken`
//! and `acknowledged`, datagrams that went to a group (`grouped`), and queue pairs that are still `attached` to one.

#[expect(dead_code, reason = "declared once, for both sides")]
#[path = "../../src/verbs/abi.rs"]
mod abi;
mod world;

use std::ffi::{c_char, c_int, c_uint, c_void};
use std::time::Instant;

use abi::{
    AhAttr, AsyncEvent, CompChannel, Context, Cq, DeviceAttr, Mr, Opaque, Plain, PortAttr, Qp, QpAttr,
    QpInitAttr, RecvWr, SendWr, mask, send,
};
use world::{Pair, Queue, RC, UC, UD, close, in_time, pipe, read, world};

const NOENT: c_int = 2;
const AGAIN: c_int = 11;
const BUSY: c_int = 16;
const INVAL: c_int = 22;
const NOTSUP: c_int = 95;

/// `IBV_QPS_ERR`.
const ERROR: c_uint = 6;

static NAMES: [&std::ffi::CStr; 3] = [c"mlx5_0", c"mlx5_1", c"mlx5_2"];

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

unsafe extern "C" fn poll_cq(queue: *mut Cq, room: c_int, into: *mut abi::Wc) -> c_int {
    let mut world = world();
    let Some(held) = world.queues.get_mut(&(queue as usize)) else { return -1 };
    let now = Instant::now();
    let count = held.ready.iter().take_while(|(due, _)| *due <= now).count();
    let count = count.min(usize::try_from(room).unwrap_or(0));
    for (at, (_, completion)) in held.ready.drain(..count).enumerate() {
        // SAFETY: there is room for so many.
        unsafe { into.add(at).write(completion) };
    }
    count as c_int
}

unsafe extern "C" fn req_notify_cq(queue: *mut Cq, solicited_only: c_int) -> c_int {
    match world().queues.get_mut(&(queue as usize)) {
        Some(held) if solicited_only == 0 => held.armed = true,
        _ => return NOTSUP,
    }
    0
}

unsafe extern "C" fn post_send(pair: *mut Qp, first: *mut SendWr, _: *mut *mut SendWr) -> c_int {
    // SAFETY: the caller's queue pair, and a chain of requests with a piece of memory each.
    unsafe {
        let number = (*pair).qp_num;
        let mut next = first;
        while let Some(request) = next.as_ref() {
            let mut held = in_time(world(), number, request);
            if !held.pairs.contains_key(&number) {
                return INVAL;
            }
            held.request(number, request, *request.sg_list, request.send_flags & send::SIGNALED != 0);
            next = request.next;
        }
    }
    0
}

unsafe extern "C" fn post_recv(pair: *mut Qp, first: *mut RecvWr, _: *mut *mut RecvWr) -> c_int {
    let mut world = world();
    // SAFETY: as in `post_send`.
    unsafe {
        let mut next = first;
        while let Some(request) = next.as_ref() {
            if !world.posted((*pair).qp_num, request.wr_id, *request.sg_list) {
                return INVAL;
            }
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
    world().tell_counts();
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
    let most = |key: &str, default: u64| world().number(key, default) as c_int;
    (about.max_qp, about.max_qp_wr, about.max_sge) = (most("qps", 1 << 16), 1 << 15, 16);
    (about.max_cq, about.max_cqe, about.max_mr) = (1 << 16, most("cqes", 1 << 22), 1 << 20);
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
    (port.max_mtu, port.active_mtu, port.gid_tbl_len) = (5, 5, 1);
    port.pkey_tbl_len = world.number("pkeys", 1) as u16;
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
unsafe extern "C" fn ibv_create_comp_channel(context: *mut Context) -> *mut CompChannel {
    let mut ends = [0; 2];
    // SAFETY: room for both ends.
    if unsafe { pipe(ends.as_mut_ptr()) } != 0 {
        return std::ptr::null_mut();
    }
    let mut channel = CompChannel::zeroed();
    (channel.context, channel.fd) = (context, ends[0]);
    let channel = give(channel);
    world().channels.insert(channel as usize, ends[1]);
    channel
}

#[unsafe(no_mangle)]
unsafe extern "C" fn ibv_destroy_comp_channel(channel: *mut CompChannel) -> c_int {
    let events = world().channels.remove(&(channel as usize));
    // SAFETY: it was given by `ibv_create_comp_channel`, as were both descriptors.
    unsafe {
        let channel = Box::from_raw(channel);
        for end in events.into_iter().chain([channel.fd]) {
            close(end);
        }
    }
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
    let mut world = world();
    let events = world.channels.get(&(channel as usize)).copied();
    world.queues.insert(queue as usize, Queue { events, ..Queue::default() });
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
unsafe extern "C" fn ibv_get_cq_event(
    channel: *mut CompChannel,
    queue: *mut *mut Cq,
    own: *mut Opaque,
) -> c_int {
    let mut told = [0; size_of::<usize>()];
    // SAFETY: room for so many bytes, the caller's channel and variables, and a queue that is there as long as its events
    // are not acknowledged.
    unsafe {
        if read((*channel).fd, told.as_mut_ptr().cast(), told.len()) != told.len() as isize {
            return -1;
        }
        *queue = usize::from_ne_bytes(told) as *mut Cq;
        *own = (**queue).cq_context;
    }
    world().count("taken");
    0
}

#[unsafe(no_mangle)]
unsafe extern "C" fn ibv_ack_cq_events(_: *mut Cq, count: c_uint) {
    let mut world = world();
    for _ in 0..count {
        world.count("acknowledged");
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn ibv_create_qp(pd: Opaque, attr: *mut QpInitAttr) -> *mut Qp {
    let mut world = world();
    // SAFETY: the caller's structure.
    let attr = unsafe { &*attr };
    match attr.qp_type {
        RC | UD => {}
        UC if world.number("uc", 1) == 1 => {}
        _ => return fails(NOTSUP, std::ptr::null_mut()),
    }
    let mut pair = Qp::zeroed();
    (pair.context, pair.pd, pair.qp_num) = (pd.cast(), pd, world.fresh());
    (pair.send_cq, pair.recv_cq, pair.qp_type) = (attr.send_cq, attr.recv_cq, attr.qp_type);
    let (send, receive) = (attr.send_cq as usize, attr.recv_cq as usize);
    // SAFETY: a domain is the context that it was made in.
    let card = unsafe { (*pd.cast::<Context>()).device } as u64;
    world.pairs.insert(pair.qp_num, Pair { kind: attr.qp_type, card, send, receive, ..Pair::default() });
    give(pair)
}

#[unsafe(no_mangle)]
unsafe extern "C" fn ibv_modify_qp(pair: *mut Qp, attr: *mut QpAttr, what: c_int) -> c_int {
    let mut world = world();
    // SAFETY: the caller's queue pair and structure.
    let (number, attr) = unsafe { ((*pair).qp_num, &*attr) };
    let pkey = u64::from(attr.pkey_index);
    let is_foreign = pkey >= world.number("pkeys", 1) || pkey != world.number("pkey", pkey);
    let is_beyond = what & mask::PKEY_INDEX != 0 && is_foreign;
    if is_beyond || what & mask::AV != 0 && world.is_astray(&attr.ah_attr) {
        return INVAL;
    }
    let Some(pair) = world.pairs.get_mut(&number) else { return NOENT };
    if what & mask::DEST_QPN != 0 {
        pair.peer = attr.dest_qp_num;
    }
    if what & mask::QKEY != 0 {
        pair.qkey = attr.qkey;
    }
    if what & mask::STATE != 0 {
        pair.state = attr.qp_state;
    }
    if what & mask::STATE != 0 && attr.qp_state == ERROR {
        world.fail(number);
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
    let mut world = world();
    // SAFETY: the caller's queue pair.
    let number = unsafe { (*pair).qp_num };
    if world.groups.iter().any(|(_, member)| *member == number) {
        return BUSY;
    }
    world.pairs.remove(&number);
    // SAFETY: it was given by `ibv_create_qp`.
    drop(unsafe { Box::from_raw(pair) });
    0
}

#[unsafe(no_mangle)]
unsafe extern "C" fn ibv_attach_mcast(pair: *mut Qp, group: *const [u64; 2], lid: u16) -> c_int {
    let mut world = world();
    // SAFETY: the caller's queue pair and address.
    let (number, kind, group) = unsafe { ((*pair).qp_num, (*pair).qp_type, *group) };
    let first = group[0].to_ne_bytes()[0];
    let is_of_four = group[0] == 0 && group[1].to_ne_bytes()[2..4] == [0xff; 2];
    let is_group = first == 0xff || is_of_four && group[1].to_ne_bytes()[4] >> 4 == 0xe;
    match (world.number("mcast", 1), world.number("layer", 1)) {
        (0, _) => return NOTSUP,
        // Only the subnet manager knows that of a group.
        (_, 1) if lid < 0xc000 => return INVAL,
        _ if kind != UD || !is_group => return INVAL,
        _ => {}
    }
    world.groups.insert((group, number));
    0
}

#[unsafe(no_mangle)]
unsafe extern "C" fn ibv_detach_mcast(pair: *mut Qp, group: *const [u64; 2], _: u16) -> c_int {
    // SAFETY: the caller's queue pair and address.
    let member = unsafe { (*group, (*pair).qp_num) };
    if world().groups.remove(&member) { 0 } else { INVAL }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn ibv_create_ah(_: Opaque, path: *mut AhAttr) -> *mut AhAttr {
    // SAFETY: the caller's structure.
    let path = unsafe { *path };
    if world().is_astray(&path) {
        return fails(INVAL, std::ptr::null_mut());
    }
    give(path)
}

#[unsafe(no_mangle)]
unsafe extern "C" fn ibv_destroy_ah(path: *mut AhAttr) -> c_int {
    // SAFETY: it was given by `ibv_create_ah`.
    drop(unsafe { Box::from_raw(path) });
    0
}
