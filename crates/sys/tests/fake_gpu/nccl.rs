//! `libnccl.so.2` of the same devices, for the ranks of one process: an operation is done when the last rank has called it,
//! and takes 10 us and what `busbw` says in its stream. With `processes` each rank is a process (`between.rs`).

use std::cell::RefCell;
use std::collections::HashMap;
use std::ffi::{CStr, c_char, c_int, c_void};
use std::io::Write;
use std::sync::{Condvar, Mutex};
use std::time::Duration;

use crate::between;
use crate::world::{Op, answer, with};

#[derive(Clone, Copy, Debug)]
pub enum What {
    AllReduce,
    Reduce,
    Broadcast,
    AllGather,
    ReduceScatter,
    Send(usize),
    Receive(usize),
}

#[derive(Clone, Copy, Debug)]
pub struct Call {
    pub what: What,
    pub from: usize,
    pub to: usize,
    pub count: usize,
    pub kind: c_int,
}

impl Call {
    /// Bytes that it sends.
    pub fn sent(&self, ranks: usize) -> usize {
        let parts = if matches!(self.what, What::ReduceScatter) { ranks } else { 1 };
        form(self.kind).0 * self.count * parts
    }
}

#[derive(Default)]
struct Job {
    devices: HashMap<usize, usize>,
    /// Calls by rank, of the operation that is under way.
    calls: HashMap<usize, Vec<Call>>,
    done: u64,
    /// A rank failed: nobody waits for it.
    is_broken: bool,
}

struct Comm {
    id: u64,
    rank: usize,
    ranks: usize,
}

static JOBS: Mutex<Option<HashMap<u64, Job>>> = Mutex::new(None);
static CHANGED: Condvar = Condvar::new();

thread_local! {
    /// The calls of a group that is open.
    static GROUP: RefCell<Option<(Vec<Call>, usize, usize)>> = const { RefCell::new(None) };
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct Id([c_char; 128]);

#[unsafe(no_mangle)]
pub unsafe extern "C" fn ncclGetVersion(version: *mut c_int) -> c_int {
    unsafe { *version = 22809 };
    0
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn ncclGetUniqueId(id: *mut Id) -> c_int {
    if let Some(code) = answer("ncclGetUniqueId", 0) {
        return code;
    }
    unsafe { *id = Id([0; 128]) };
    let number = if between::are_processes() { between::new_id() } else { id as u64 };
    let bytes = unsafe { &mut (*id).0 };
    bytes.iter_mut().zip(number.to_le_bytes()).for_each(|(to, byte)| *to = byte as c_char);
    0
}

#[unsafe(no_mangle)]
pub extern "C" fn ncclGetLastError(_: *mut c_void) -> *const c_char {
    let text: &CStr = c"as planned by the test";
    text.as_ptr()
}

/// Waits until `is_so` of the job; the lock is held again.
fn until(id: u64, is_so: impl Fn(&Job) -> bool) -> bool {
    let patience = with(|world| world.config.number("patience", 20.0));
    let mut jobs = JOBS.lock().expect("no function of the fake panics");
    for _ in 0..(100.0 * patience) as u32 {
        let job = jobs.as_ref().and_then(|jobs| jobs.get(&id));
        if job.is_some_and(&is_so) {
            return true;
        }
        if job.is_some_and(|job| job.is_broken) {
            return false;
        }
        jobs = CHANGED.wait_timeout(jobs, Duration::from_millis(10)).expect("no poison").0;
    }
    false
}

fn change<R>(id: u64, act: impl FnOnce(&mut Job) -> R) -> R {
    let mut jobs = JOBS.lock().expect("no function of the fake panics");
    let done = act(jobs.get_or_insert_default().entry(id).or_default());
    CHANGED.notify_all();
    done
}

/// Waits for ranks that are threads of this process; a code where that fails.
fn join(id: u64, (rank, ranks): (usize, usize), device: usize) -> Option<c_int> {
    change(id, |job| job.devices.insert(rank, device));
    if !until(id, |job| job.devices.len() == ranks) {
        return Some(2);
    }
    let is_shared = change(id, |job| job.devices.iter().any(|(other, at)| *other != rank && *at == device));
    is_shared.then_some(5)
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn ncclCommInitRank(
    comm: *mut *mut c_void,
    ranks: c_int,
    id: Id,
    rank: c_int,
) -> c_int {
    let device = crate::current();
    let mut bytes = [0; 8];
    bytes.iter_mut().zip(id.0).for_each(|(to, byte)| *to = byte as u8);
    let (id, ranks, rank) = (u64::from_le_bytes(bytes), ranks as usize, rank as usize);
    if let Some(code) = answer("ncclCommInitRank", device) {
        change(id, |job| job.is_broken = true);
        return code;
    }
    crate::world::note("joining");
    let refusal = if between::are_processes() {
        (!between::join(id, (rank, ranks))).then_some(2)
    } else {
        join(id, (rank, ranks), device)
    };
    if let Some(code) = refusal {
        return code;
    }
    log("Using network Socket");
    log(&format!("Channel 00/0 : {rank}[{device}] -> {}[0] via P2P/CUMEM", (rank + 1) % ranks));
    log("2 coll channels, 2 collnet channels, 0 nvls channels, 2 p2p channels, 2 p2p channels per peer");
    unsafe { *comm = Box::into_raw(Box::new(Comm { id, rank, ranks })).cast() };
    0
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn ncclCommDestroy(comm: *mut c_void) -> c_int {
    drop(unsafe { Box::from_raw(comm.cast::<Comm>()) });
    0
}

/// Bytes of an element and its name among the types of products, by the number of its type.
fn form(kind: c_int) -> (usize, &'static str) {
    match kind {
        2 => (4, "int32"),
        6 => (2, "fp16"),
        8 => (8, "fp64"),
        9 => (2, "bf16"),
        _ => (4, "fp32"),
    }
}

/// The number of a type.
pub fn kind(name: &str) -> c_int {
    [2, 6, 8, 9].into_iter().find(|kind| form(*kind).1 == name).unwrap_or(7)
}

/// # Safety
/// As with a real library: whoever called it vouches for the address.
unsafe fn items<'a, T>(at: usize, count: usize) -> &'a mut [T] {
    unsafe { std::slice::from_raw_parts_mut(at as *mut T, count) }
}

pub fn load(kind: c_int, at: usize, count: usize) -> Vec<f64> {
    unsafe {
        match kind {
            2 => items::<i32>(at, count).iter().map(|value| f64::from(*value)).collect(),
            6 => (0..count as u64).map(|index| crate::product::element("fp16", at as u64, index)).collect(),
            8 => items::<f64>(at, count).to_vec(),
            9 => items::<u16>(at, count)
                .iter()
                .map(|bits| f64::from(f32::from_bits(u32::from(*bits) << 16)))
                .collect(),
            _ => items::<f32>(at, count).iter().map(|value| f64::from(*value)).collect(),
        }
    }
}

pub fn store(kind: c_int, at: usize, values: &[f64]) {
    fn put<T>(at: usize, values: &[f64], of: impl Fn(f64) -> T) {
        let to = unsafe { items::<T>(at, values.len()) };
        to.iter_mut().zip(values).for_each(|(to, value)| *to = of(*value));
    }
    match kind {
        2 => put(at, values, |value| value as i32),
        6 => put(at, values, crate::product::half),
        8 => put(at, values, |value| value),
        9 => put(at, values, |value| ((value as f32).to_bits() >> 16) as u16),
        _ => put(at, values, |value| value as f32),
    }
}

/// Moves the data of all ranks.
pub fn work(calls: &HashMap<usize, Vec<Call>>, ranks: usize) {
    let of = |rank: usize| calls[&rank][0];
    let first = of(0);
    let kind = first.kind;
    let values = |rank: usize, count: usize| load(kind, of(rank).from, count);
    let sums = |count: usize| {
        (0..ranks).map(|rank| values(rank, count)).reduce(|mut all, more| {
            all.iter_mut().zip(more).for_each(|(sum, value)| *sum += value);
            all
        })
    };
    let put =
        |rank: usize, offset: usize, what: &[f64]| store(kind, of(rank).to + form(kind).0 * offset, what);
    match first.what {
        What::AllReduce => {
            let sums = sums(first.count).unwrap_or_default();
            (0..ranks).for_each(|rank| put(rank, 0, &sums));
        }
        What::Reduce => put(0, 0, &sums(first.count).unwrap_or_default()),
        What::Broadcast => {
            let root = values(0, first.count);
            (0..ranks).for_each(|rank| put(rank, 0, &root));
        }
        What::AllGather => {
            // All are read before any is written: in place they share memory.
            let all: Vec<Vec<f64>> = (0..ranks).map(|source| values(source, first.count)).collect();
            for (source, own) in all.iter().enumerate() {
                (0..ranks).for_each(|rank| put(rank, source * first.count, own));
            }
        }
        What::ReduceScatter => {
            let sums = sums(first.count * ranks).unwrap_or_default();
            (0..ranks).for_each(|rank| put(rank, 0, &sums[rank * first.count..][..first.count]));
        }
        What::Send(_) | What::Receive(_) => {
            for (source, sent) in calls {
                for call in sent {
                    let What::Send(peer) = call.what else { continue };
                    let taken = calls[&peer]
                        .iter()
                        .find(|other| matches!(other.what, What::Receive(from) if from == *source));
                    let taken = taken.expect("a receive for each send");
                    store(kind, taken.to, &load(kind, call.from, call.count));
                }
            }
        }
    }
}

/// Writes a line to the log that the environment asks for.
fn log(line: &str) {
    let is_wanted = std::env::var("NCCL_DEBUG").is_ok_and(|level| level == "INFO");
    if let (true, Ok(file)) = (is_wanted, std::env::var("NCCL_DEBUG_FILE")) {
        let opened = std::fs::OpenOptions::new().create(true).append(true).open(file);
        let _ = opened.and_then(|mut file| writeln!(file, "host:1:1 [0] NCCL INFO {line}"));
    }
}

#[cfg(not(without = "ncclResetDebugInit"))]
#[unsafe(no_mangle)]
pub extern "C" fn ncclResetDebugInit() {}

/// An operation of ranks that are threads of this process.
fn operate(id: u64, (rank, ranks): (usize, usize), calls: Vec<Call>) -> bool {
    let before = change(id, |job| {
        job.calls.insert(rank, calls);
        if job.calls.len() == ranks {
            work(&job.calls, ranks);
            job.calls.clear();
            job.done += 1;
            return job.done - 1;
        }
        job.done
    });
    until(id, |job| job.done > before)
}

fn operation(comm: *mut c_void, stream: usize, calls: Vec<Call>) -> c_int {
    let Comm { id, rank, ranks } = *unsafe { &*comm.cast::<Comm>() };
    if let Some(code) = answer("ncclOperation", rank) {
        change(id, |job| job.is_broken = true);
        return code;
    }
    // What is queued before is done before.
    with(|world| world.finish(stream));
    let bytes: usize = calls.iter().map(|call| form(call.kind).0 * call.count).max().unwrap_or(0);
    if let (0, What::AllReduce) = (rank, calls[0].what) {
        log(&format!("AllReduce: {bytes} Bytes -> Algo RING proto SIMPLE channel{{Lo..Hi}}={{0..1}}"));
    }
    let flips = with(|world| world.config.numbers.get("nccl_flip") == Some(&(rank as f64))) && bytes > 8;
    let target = calls.iter().find(|call| call.to != 0).map(|call| (call.kind, call.to));
    let is_done = if between::are_processes() {
        between::operate(id, (rank, ranks), &calls)
    } else {
        operate(id, (rank, ranks), calls)
    };
    if !is_done {
        return 6;
    }
    if let Some((kind, target)) = target.filter(|_| flips) {
        store(kind, target, &[load(kind, target, 1)[0] + 1.0]);
    }
    let busy = with(|world| 10_000.0 + bytes as f64 / world.config.number("busbw", 100.0));
    with(|world| world.queue(stream, Op::Busy { ns: busy }))
}

fn once(
    (comm, stream): (*mut c_void, *mut c_void),
    what: What,
    from: *const c_void,
    to: *mut c_void,
    (count, kind): (usize, c_int),
) -> c_int {
    let call = Call { what, from: from as usize, to: to as usize, count, kind };
    let is_grouped = GROUP.with_borrow_mut(|group| {
        group.as_mut().map(|group| {
            group.0.push(call);
            (group.1, group.2) = (comm as usize, stream as usize);
        })
    });
    if is_grouped.is_some() { 0 } else { operation(comm, stream as usize, vec![call]) }
}

#[unsafe(no_mangle)]
pub extern "C" fn ncclGroupStart() -> c_int {
    GROUP.set(Some((Vec::new(), 0, 0)));
    0
}

#[unsafe(no_mangle)]
pub extern "C" fn ncclGroupEnd() -> c_int {
    match GROUP.take() {
        Some((calls, comm, stream)) if !calls.is_empty() => operation(comm as *mut c_void, stream, calls),
        _ => 0,
    }
}

macro_rules! operations {
    ($($name:ident($($extra:ident),*) $what:expr;)*) => {$(
        #[unsafe(no_mangle)]
        pub extern "C" fn $name(
            from: *const c_void,
            to: *mut c_void,
            count: usize,
            kind: c_int,
            $($extra: c_int,)*
            comm: *mut c_void,
            stream: *mut c_void,
        ) -> c_int {
            $(let _ = $extra;)*
            once((comm, stream), $what, from, to, (count, kind))
        }
    )*};
}

operations! {
    ncclAllReduce(op) What::AllReduce;
    ncclReduce(op, root) What::Reduce;
    ncclBroadcast(root) What::Broadcast;
    ncclAllGather() What::AllGather;
    ncclReduceScatter(op) What::ReduceScatter;
}

#[cfg(not(without = "ncclSend"))]
#[unsafe(no_mangle)]
pub extern "C" fn ncclSend(
    from: *const c_void,
    count: usize,
    kind: c_int,
    peer: c_int,
    comm: *mut c_void,
    stream: *mut c_void,
) -> c_int {
    once((comm, stream), What::Send(peer as usize), from, std::ptr::null_mut(), (count, kind))
}

#[unsafe(no_mangle)]
pub extern "C" fn ncclRecv(
    to: *mut c_void,
    count: usize,
    kind: c_int,
    peer: c_int,
    comm: *mut c_void,
    stream: *mut c_void,
) -> c_int {
    once((comm, stream), What::Receive(peer as usize), std::ptr::null(), to, (count, kind))
}
