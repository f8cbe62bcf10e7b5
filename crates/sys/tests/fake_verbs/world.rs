//! State of the fake adapters: queue pairs, memory, groups, completions and events.

use std::collections::{HashMap, HashSet, VecDeque};
use std::ffi::{c_int, c_uint, c_void};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use crate::abi::{AhAttr, Plain, SendWr, Sge, Wc, wr};

/// `IBV_WC_*`: completion status.
const LENGTH_ERROR: c_uint = 1;
const FLUSHED: c_uint = 5;
const INVALID_REQUEST: c_uint = 9;
const ACCESS_ERROR: c_uint = 10;
const OPERATION_ERROR: c_uint = 11;
const SILENT: c_uint = 12;
const NOT_READY: c_uint = 13;
const GENERAL_ERROR: c_uint = 21;

/// Opcodes of receive completions: a message, and a write with immediate value.
const RECEIVED: c_uint = 1 << 7;
const RECEIVED_WRITE: c_uint = RECEIVED + 1;

/// `IBV_QPT_*`.
pub const RC: c_uint = 2;
pub const UC: c_uint = 3;
pub const UD: c_uint = 4;

/// `IBV_QPS_ERR`.
const ERROR: c_uint = 6;

/// The queue pair number of multicast datagrams.
const ALL: u32 = 0xff_ffff;

/// Bytes before a datagram.
const HEADER: usize = 40;

/// How long a sender waits for a receive.
const PATIENCE: Duration = Duration::from_secs(60);

#[derive(Default)]
pub struct Pair {
    pub kind: c_uint,
    /// The number of its card, from 1 on.
    pub card: u64,
    pub send: usize,
    pub receive: usize,
    pub peer: u32,
    pub state: c_uint,
    pub qkey: u32,
    /// Whether its requests end no more.
    pub is_stalled: bool,
    pub receives: VecDeque<(u64, Sge)>,
}

#[derive(Default)]
pub struct Queue {
    /// Completions, with the time from when on they are told.
    pub ready: VecDeque<(Instant, Wc)>,
    /// File descriptor of its events.
    pub events: Option<c_int>,
    pub armed: bool,
}

#[derive(Default)]
pub struct World {
    config: HashMap<String, u64>,
    pub pairs: HashMap<u32, Pair>,
    pub queues: HashMap<usize, Queue>,
    /// File descriptors of events, by address of the channel.
    pub channels: HashMap<usize, c_int>,
    /// Start and length of memory, by key.
    pub regions: HashMap<u32, (usize, usize)>,
    /// Queue pairs of groups, by group address.
    pub groups: HashSet<([u64; 2], u32)>,
    counts: HashMap<&'static str, u64>,
    /// When the port of each card has sent everything.
    idle: HashMap<u64, Instant>,
}

unsafe extern "C" {
    pub fn pipe(ends: *mut c_int) -> c_int;
    pub fn read(descriptor: c_int, into: *mut c_void, count: usize) -> isize;
    pub fn write(descriptor: c_int, from: *const c_void, count: usize) -> isize;
    pub fn close(descriptor: c_int) -> c_int;
}

pub fn world() -> MutexGuard<'static, World> {
    static WORLD: OnceLock<Mutex<World>> = OnceLock::new();
    let world = WORLD.get_or_init(|| {
        let text = own_path().and_then(|path| std::fs::read_to_string(path + ".conf").ok());
        let words = text.as_deref().unwrap_or_default().split_whitespace();
        let number = |text: &str| text.parse().unwrap_or_else(|_| panic!("'{text}' is not a number"));
        let config = words.map(|word| {
            let (key, value) = word.split_once('=').expect("key=value");
            (key.to_owned(), number(value))
        });
        Mutex::new(World { config: config.collect(), ..World::default() })
    });
    world.lock().unwrap_or_else(PoisonError::into_inner)
}

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
    pub fn number(&self, key: &str, default: u64) -> u64 {
        self.config.get(key).copied().unwrap_or(default)
    }

    /// Increments a counter and returns it.
    pub fn count(&mut self, name: &'static str) -> u64 {
        let count = self.counts.entry(name).or_default();
        *count += 1;
        *count
    }

    /// Whether the next event of this name is the last of the number in `key`.
    fn is_due(&mut self, name: &'static str, key: &str) -> bool {
        let every = self.number(key, u64::MAX);
        self.count(name).is_multiple_of(every)
    }

    pub fn fresh(&mut self) -> u32 {
        self.count("numbers") as u32 + 1
    }

    /// Writes the counters to the file beside the library with `.told` added to its name.
    pub fn tell_counts(&self) {
        let mut text: String = self.counts.iter().map(|(name, count)| format!("{name}={count}\n")).collect();
        text.push_str(&format!("attached={}\n", self.groups.len()));
        if let Some(path) = own_path() {
            std::fs::write(path + ".told", text).expect("written");
        }
    }

    /// Whether a path does not exist in this fabric.
    pub fn is_astray(&self, path: &AhAttr) -> bool {
        let (lid, global) = (self.number("lid", 7) as u16, self.number("global", 0) as u8);
        let class = if path.is_global == 1 { self.number("class", 0) } else { 0 };
        let is_elsewhere = self.number("layer", 1) == 1 && path.dlid != lid;
        let is_of_other = u64::from(path.sl) != self.number("sl", 0);
        let is_otherwise = path.is_global == 1 && u64::from(path.grh.traffic_class) != class;
        is_elsewhere || is_of_other || is_otherwise || path.is_global != global || path.port_num != 1
    }

    fn complete(&mut self, queue: usize, completion: Wc) {
        self.complete_at(queue, Instant::now(), completion);
    }

    /// When the port of a card has sent so many more bytes.
    fn sent(&mut self, card: u64, bytes: u32) -> Instant {
        let now = Instant::now();
        let Some(rate) = self.config.get("rate").copied() else { return now };
        let rate = if card == self.number("slow", 0) { rate / 10 } else { rate };
        let idle = self.idle.entry(card).or_insert(now);
        *idle = (*idle).max(now) + Duration::from_nanos(u64::from(bytes) * 1_000_000 / rate);
        *idle
    }

    fn complete_at(&mut self, queue: usize, due: Instant, completion: Wc) {
        if self.count("completions") > self.number("silent", u64::MAX) {
            return;
        }
        let held = self.queues.entry(queue).or_default();
        held.ready.push_back((due, completion));
        if let Some(events) = held.events.filter(|_| std::mem::take(&mut held.armed)) {
            let bytes = queue.to_ne_bytes();
            // SAFETY: as many bytes as there are.
            assert_eq!(unsafe { write(events, bytes.as_ptr().cast(), bytes.len()) }, bytes.len() as isize);
            self.count("events");
        }
    }

    /// Fails a queue pair: flushes its posted requests.
    pub fn fail(&mut self, number: u32) {
        let Some(pair) = self.pairs.get_mut(&number) else { return };
        pair.state = ERROR;
        let (queue, receives) = (pair.receive, std::mem::take(&mut pair.receives));
        for (id, _) in receives {
            self.flush(queue, number, id);
        }
    }

    fn flush(&mut self, queue: usize, number: u32, id: u64) {
        let mut completion = Wc::zeroed();
        (completion.wr_id, completion.qp_num, completion.status) = (id, number, FLUSHED);
        self.complete(queue, completion);
    }

    pub fn posted(&mut self, number: u32, id: u64, piece: Sge) -> bool {
        match self.pairs.get_mut(&number) {
            Some(Pair { state: ERROR, receive, .. }) => {
                let queue = *receive;
                self.flush(queue, number, id);
            }
            Some(pair) => pair.receives.push_back((id, piece)),
            None => return false,
        }
        true
    }

    /// Whether a peer may access the range with this key.
    fn reaches(&self, address: u64, bytes: u32, key: u32) -> bool {
        self.regions.get(&key).is_some_and(|(start, size)| {
            let (from, to) = (address as usize, address as usize + bytes as usize);
            *start <= from && to <= start + size
        })
    }

    /// Takes a receive of a queue pair for a message and tells of it there; the status that its sender gets.
    ///
    /// # Safety
    /// Both pieces of memory are there.
    unsafe fn receive(&mut self, to: u32, mut told: Wc, from: Option<Sge>) -> c_uint {
        let Some(pair) = self.pairs.get_mut(&to) else { return SILENT };
        if pair.state == ERROR {
            return SILENT;
        }
        let (queue, skip) = (pair.receive, if pair.kind == UD { HEADER } else { 0 });
        let Some((id, into)) = pair.receives.pop_front() else { return NOT_READY };
        (told.wr_id, told.qp_num) = (id, to);
        told.byte_len += skip as u32;
        if from.is_some_and(|from| from.length as usize + skip > into.length as usize)
            || self.count("received") == self.number("short", 0)
        {
            told.status = LENGTH_ERROR;
            self.complete(queue, told);
            self.fail(to);
            return INVALID_REQUEST;
        }
        if let Some(from) = from {
            let into = into.addr as *mut u8;
            // SAFETY: as promised, and the receive is long enough. What stands in front of a datagram means nothing.
            unsafe {
                into.write_bytes(0xee, skip);
                std::ptr::copy(from.addr as *const u8, into.add(skip), from.length as usize);
            }
        }
        self.complete(queue, told);
        0
    }

    /// Sends a datagram; those that nobody takes are lost, and their sender learns nothing of it.
    ///
    /// # Safety
    /// Its piece of memory and its address handle are there.
    unsafe fn send(&mut self, number: u32, request: &SendWr, told: Wc, piece: Sge) {
        if self.is_due("datagrams", "lose") {
            return;
        }
        // SAFETY: as promised.
        let path = unsafe { *(request.target[0] as *const AhAttr) };
        let (to, qkey) = (request.target[1] as u32, (request.target[1] >> 32) as u32);
        if to == ALL {
            self.count("grouped");
        }
        for to in self.addressed(number, to, path.grh.dgid) {
            if self.pairs.get(&to).is_some_and(|pair| pair.qkey == qkey && pair.kind == UD) {
                let flags = told.wc_flags | u32::from(path.is_global);
                // SAFETY: as promised.
                unsafe { self.receive(to, Wc { wc_flags: flags, src_qp: number, ..told }, Some(piece)) };
            }
        }
    }

    /// The queue pairs that receive a datagram.
    fn addressed(&self, from: u32, to: u32, group: [u64; 2]) -> Vec<u32> {
        if to != ALL {
            return vec![to];
        }
        let members = self.groups.iter().filter(|(address, member)| *address == group && *member != from);
        members.map(|(_, member)| *member).collect()
    }

    /// Does a request; the status that it ends with, and the code of what was done.
    ///
    /// # Safety
    /// Its piece of memory is there, as is what is registered and the handle that it names.
    unsafe fn does(&mut self, number: u32, request: &SendWr, piece: Sge) -> (c_uint, c_uint) {
        let (kind, peer) = self.pairs.get(&number).map_or((0, 0), |pair| (pair.kind, pair.peer));
        let (address, key) = (request.target[0], request.target[1] as u32);
        let mut told = Wc::zeroed();
        (told.opcode, told.byte_len) = (RECEIVED, piece.length);
        if matches!(request.opcode, wr::RDMA_WRITE_WITH_IMM | wr::SEND_WITH_IMM) {
            (told.imm_data, told.wc_flags) = (request.imm_data, 1 << 1);
        }
        let (from, to) = (piece.addr as *mut u8, address as *mut u8);
        // An unreliable connection reports nothing to the sender.
        let ends = |status| if kind == RC { status } else { 0 };
        match request.opcode {
            wr::RDMA_WRITE | wr::RDMA_WRITE_WITH_IMM | wr::RDMA_READ => {
                let code = if request.opcode == wr::RDMA_READ { 2 } else { 1 };
                if !self.reaches(address, piece.length, key) {
                    return (ACCESS_ERROR, code);
                }
                let (from, to) = if code == 2 { (to, from) } else { (from, to) };
                // SAFETY: both pieces are there, as promised and as just looked up.
                unsafe { std::ptr::copy(from, to, piece.length as usize) };
                let card = self.pairs.get(&number).map_or(0, |pair| pair.card);
                if code == 1 && card == self.number("flip", 0) {
                    // SAFETY: as above, and a message has a byte.
                    unsafe { *to.add(piece.length as usize - 1) ^= 1 };
                }
                if told.wc_flags == 0 {
                    return (0, code);
                }
                told.opcode = RECEIVED_WRITE;
                // SAFETY: nothing is copied.
                (ends(unsafe { self.receive(peer, told, None) }), code)
            }
            wr::ATOMIC_CMP_AND_SWP | wr::ATOMIC_FETCH_AND_ADD => {
                let (operand, swap) = (request.target[1], request.target[2]);
                if !address.is_multiple_of(8) {
                    return (INVALID_REQUEST, 0);
                }
                if !self.reaches(address, 8, request.target[3] as u32) {
                    return (ACCESS_ERROR, 0);
                }
                let is_swap = request.opcode == wr::ATOMIC_CMP_AND_SWP;
                let wrong = u64::from(self.is_due("atomics", "wrong"));
                // SAFETY: as above, and the word is aligned.
                unsafe {
                    let word = address as *mut u64;
                    let before = word.read_volatile();
                    match is_swap {
                        true if before == operand => word.write_volatile(swap),
                        true => {}
                        false => word.write_volatile(before.wrapping_add(operand)),
                    }
                    from.cast::<u64>().write_unaligned(before + wrong);
                }
                (0, if is_swap { 3 } else { 4 })
            }
            _ if kind == UD => {
                // SAFETY: as promised.
                unsafe { self.send(number, request, told, piece) };
                (0, 0)
            }
            // SAFETY: as promised; receives are posted with memory that is there.
            _ => (ends(unsafe { self.receive(peer, told, Some(piece)) }), 0),
        }
    }

    /// Does a request and tells how it ended, where that is wanted or it failed.
    ///
    /// # Safety
    /// As [`Self::does`].
    pub unsafe fn request(&mut self, number: u32, request: &SendWr, piece: Sge, is_told: bool) {
        if self.count("posts") == self.number("stall", 0)
            && let Some(pair) = self.pairs.get_mut(&number)
        {
            pair.is_stalled = true;
        }
        let Some(pair) = self.pairs.get(&number).filter(|pair| !pair.is_stalled) else { return };
        let (queue, peer, has_failed, card) = (pair.send, pair.peer, pair.state == ERROR, pair.card);
        let mut completion = Wc::zeroed();
        (completion.wr_id, completion.qp_num, completion.byte_len) = (request.wr_id, number, piece.length);
        let ended = if has_failed {
            (FLUSHED, 0)
        } else if self.count("requests") > self.number("fail", u64::MAX) {
            completion.vendor_err = self.number("vendor", 0) as u32;
            (self.number("status", GENERAL_ERROR.into()) as c_uint, 0)
        } else {
            // SAFETY: as promised.
            unsafe { self.does(number, request, piece) }
        };
        (completion.status, completion.opcode) = ended;
        if ended.0 != 0 && !has_failed {
            // Flushed requests complete first, in another queue: a reader of that queue must not take them for the
            // cause.
            self.fail(number);
            if matches!(ended.0, INVALID_REQUEST | ACCESS_ERROR | OPERATION_ERROR) {
                self.fail(peer);
            }
        }
        let due = self.sent(card, piece.length);
        if ended.0 != 0 || is_told {
            self.complete_at(queue, due, completion);
        }
    }

    /// Whether a message has no receive yet that may still be posted.
    fn is_early(&self, number: u32, request: &SendWr) -> bool {
        let Some(pair) = self.pairs.get(&number) else { return false };
        let to = match (request.opcode, pair.kind) {
            (wr::SEND | wr::SEND_WITH_IMM, UD) => {
                // SAFETY: handles are there as long as requests name them.
                let group = unsafe { (*(request.target[0] as *const AhAttr)).grh.dgid };
                self.addressed(number, request.target[1] as u32, group)
            }
            (wr::SEND | wr::SEND_WITH_IMM | wr::RDMA_WRITE_WITH_IMM, _) => vec![pair.peer],
            _ => return false,
        };
        let waits =
            |to: &u32| self.pairs.get(to).is_some_and(|pair| pair.receives.is_empty() && pair.state != ERROR);
        pair.state != ERROR && to.iter().any(waits)
    }
}

/// Waits, with a limit, until a receive for a message is posted, so that messages are lost only by configuration.
pub fn in_time(
    mut held: MutexGuard<'static, World>,
    number: u32,
    request: &SendWr,
) -> MutexGuard<'static, World> {
    let clock = Instant::now();
    while held.is_early(number, request) && clock.elapsed() < PATIENCE {
        drop(held);
        std::thread::yield_now();
        held = world();
    }
    held
}
