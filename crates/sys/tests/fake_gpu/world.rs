//! State of the fake driver: memory, streams, events and simulated time.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::ffi::{c_int, c_long, c_void};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, OnceLock};
use std::time::{Duration, Instant};

use crate::kernels;

#[derive(Clone, Debug)]
pub enum Op {
    Wait { at: u64, value: u32 },
    Mark { event: usize },
    Copy { to: u64, from: u64, bytes: usize },
    Set { at: u64, value: u8, bytes: usize },
    Busy { ns: f64 },
    Kernel { name: String, blocks: u32, threads: u32, arguments: Vec<u64> },
}

/// The code of a call that is never answered.
const HANG: c_int = c_int::MIN;

/// The planned failure of a call; does not return from one that is to hang.
pub fn answer(symbol: &str, device: usize) -> Option<c_int> {
    let code = with(|world| world.planned(symbol, device));
    while code == Some(HANG) {
        std::thread::park();
    }
    code
}

#[derive(Clone, Debug)]
pub struct Failure {
    symbol: String,
    device: Option<usize>,
    code: c_int,
    after: u64,
    calls: u64,
}

#[derive(Clone, Debug)]
pub struct Config {
    pub devices: usize,
    pub memory: usize,
    pub pin: usize,
    pub no_peers: bool,
    pub numbers: HashMap<String, f64>,
    failures: Vec<Failure>,
    corrupt: Option<(u64, usize)>,
}

impl Config {
    fn read() -> Self {
        let text =
            own_path().and_then(|path| std::fs::read_to_string(path + ".conf").ok()).unwrap_or_default();
        let mut config = Self {
            devices: 1,
            memory: 256 << 20,
            pin: usize::MAX / 4,
            no_peers: false,
            numbers: HashMap::new(),
            failures: Vec::new(),
            corrupt: None,
        };
        for word in text.split_whitespace() {
            let (key, value) = word.split_once('=').unwrap_or((word, "1"));
            let number = || value.parse::<f64>().unwrap_or_else(|_| panic!("{word}: no number"));
            match key {
                "devices" => config.devices = number() as usize,
                "memory" => config.memory = number() as usize,
                "pin" => config.pin = number() as usize,
                "no_peers" => config.no_peers = true,
                "fail" => config.failures.push(Failure::read(value)),
                "corrupt" => {
                    let (copy, byte) = value.split_once(':').expect("corrupt=N:BYTE");
                    config.corrupt = Some((copy.parse().expect("N"), byte.parse().expect("BYTE")));
                }
                _ => {
                    config.numbers.insert(key.to_owned(), number());
                }
            }
        }
        config
    }

    pub fn number(&self, key: &str, default: f64) -> f64 {
        self.numbers.get(key).copied().unwrap_or(default)
    }
}

impl Failure {
    fn read(text: &str) -> Self {
        let mut parts = text.split(':');
        let name = parts.next().expect("SYMBOL");
        let (symbol, device) =
            name.split_once('@').map_or((name, None), |(name, device)| (name, Some(device)));
        Self {
            symbol: symbol.to_owned(),
            device: device.map(|device| device.parse().expect("DEVICE")),
            code: match parts.next().expect("CODE") {
                "hang" => HANG,
                code => code.parse().expect("CODE"),
            },
            after: parts.next().map_or(0, |after| after.parse().expect("AFTER")),
            calls: 0,
        }
    }
}

/// The file of this library: the file whose mapping holds this function.
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

/// The folder beside this copy that names processes, such as those that have a context.
pub fn folder_of(what: &str) -> Option<std::path::PathBuf> {
    Some(std::path::Path::new(&own_path()?).parent()?.join(what))
}

/// Notes in the folder `what` that this process got there: it has a context (`contexts`), it joins other ranks
/// (`joining`), it has made an operation with other processes (`operating`). The note has the CPUs of the calling thread.
pub fn note(what: &str) {
    if let Some(folder) = folder_of(what) {
        let status = std::fs::read_to_string("/proc/thread-self/status").unwrap_or_default();
        let cpus = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:"));
        let _ = std::fs::create_dir_all(&folder);
        let _ = std::fs::write(folder.join(std::process::id().to_string()), cpus.unwrap_or_default().trim());
    }
}

/// Processes that have a context and still run.
pub fn with_context() -> Vec<u32> {
    let entries = folder_of("contexts")
        .and_then(|folder| std::fs::read_dir(folder).ok())
        .into_iter()
        .flatten()
        .flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    pids.filter(|pid| std::path::Path::new(&format!("/proc/{pid}")).exists()).collect()
}

pub struct Stream {
    device: usize,
    work: VecDeque<(Op, f64)>,
    /// Simulated time in ns.
    now: f64,
}

pub struct World {
    pub config: Config,
    /// Memory of devices by address.
    pub memory: BTreeMap<u64, (usize, Box<[u64]>)>,
    pub pinned: BTreeMap<u64, usize>,
    pub streams: HashMap<usize, Stream>,
    pub events: HashMap<usize, Option<f64>>,
    pub functions: HashMap<usize, String>,
    modules: HashMap<usize, String>,
    next: usize,
    copies: u64,
    floor: f64,
}

pub fn with<R>(work: impl FnOnce(&mut World) -> R) -> R {
    static WORLD: OnceLock<Mutex<World>> = OnceLock::new();
    let world = WORLD.get_or_init(|| Mutex::new(World::new()));
    work(&mut world.lock().expect("no function of the fake panics"))
}

impl World {
    fn new() -> Self {
        Self {
            config: Config::read(),
            memory: BTreeMap::new(),
            pinned: BTreeMap::new(),
            streams: HashMap::new(),
            events: HashMap::new(),
            functions: HashMap::new(),
            modules: HashMap::new(),
            next: 1,
            copies: 0,
            floor: 0.0,
        }
    }

    fn name(&mut self) -> usize {
        self.next += 1;
        self.next
    }

    /// The configured failure code of this call.
    pub fn planned(&mut self, symbol: &str, device: usize) -> Option<c_int> {
        let is_it = |failure: &&mut Failure| {
            failure.symbol == symbol && failure.device.is_none_or(|wanted| wanted == device)
        };
        let failure = self.config.failures.iter_mut().find(is_it)?;
        failure.calls += 1;
        (failure.calls > failure.after).then_some(failure.code)
    }

    pub fn used(&self, device: usize) -> usize {
        self.memory.values().filter(|(owner, _)| *owner == device).map(|(_, words)| words.len() * 8).sum()
    }

    pub fn allocate(&mut self, device: usize, bytes: usize) -> u64 {
        // Never the same words as before, as with a real driver.
        let words = vec![0xdead_beef_dead_beef_u64; bytes.div_ceil(8).max(1)].into_boxed_slice();
        let address = words.as_ptr() as u64;
        self.memory.insert(address, (device, words));
        address
    }

    pub fn stream(&mut self, device: usize) -> usize {
        let name = self.name();
        self.streams.insert(name, Stream { device, work: VecDeque::new(), now: 0.0 });
        name
    }

    pub fn event(&mut self) -> usize {
        let name = self.name();
        self.events.insert(name, None);
        name
    }

    pub fn module(&mut self, text: &str) -> usize {
        let name = self.name();
        self.modules.insert(name, text.to_owned());
        name
    }

    pub fn function(&mut self, module: usize, wanted: &str) -> Option<usize> {
        self.modules.get(&module)?.contains(&format!(".entry {wanted}(")).then(|| {
            let name = self.name();
            self.functions.insert(name, wanted.to_owned());
            name
        })
    }

    pub fn queue(&mut self, stream: usize, op: Op) -> c_int {
        let floor = self.floor;
        match self.streams.get_mut(&stream) {
            Some(stream) => {
                stream.work.push_back((op, floor));
                0
            }
            None => 400,
        }
    }

    /// Does all work of a stream. Work behind a closed gate would wait for ever: that is a timeout.
    pub fn finish(&mut self, name: usize) -> c_int {
        let Some(mut stream) = self.streams.remove(&name) else { return 400 };
        let mut answer = 0;
        while let Some((op, floor)) = stream.work.pop_front() {
            stream.now = stream.now.max(floor);
            if let Err(code) = self.work(op, &mut stream) {
                answer = code;
                stream.work.clear();
            }
        }
        if !self.config.numbers.contains_key("apart") {
            self.floor = self.floor.max(stream.now);
        }
        self.streams.insert(name, stream);
        answer
    }

    fn work(&mut self, op: Op, stream: &mut Stream) -> Result<(), c_int> {
        match op {
            Op::Wait { at, value } => wait(at, value),
            Op::Mark { event } => {
                self.events.insert(event, Some(stream.now));
                Ok(())
            }
            Op::Copy { to, from, bytes } => {
                // SAFETY: whoever queued it vouches for both ranges, as with a real driver.
                unsafe { std::ptr::copy(from as *const u8, to as *mut u8, bytes) };
                if let Some((first, byte)) = self.config.corrupt
                    && self.copies >= first
                    && byte < bytes
                {
                    // SAFETY: the byte lies in the target.
                    unsafe { *(to as *mut u8).add(byte) ^= 0x10 };
                }
                // Smaller copies are the benchmarks' own.
                self.copies += u64::from(bytes >= 4096);
                stream.now += bytes as f64 / self.rate(to, from) + self.config.number("copy_ns", 0.0);
                Ok(())
            }
            Op::Set { at, value, bytes } => {
                // SAFETY: as above.
                unsafe { std::ptr::write_bytes(at as *mut u8, value, bytes) };
                stream.now += 1000.0;
                Ok(())
            }
            Op::Busy { ns } => {
                stream.now += ns;
                Ok(())
            }
            Op::Kernel { name, blocks, threads, arguments } => {
                stream.now += kernels::run(self, stream.device, &name, (blocks, threads), &arguments)?;
                Ok(())
            }
        }
    }

    /// GB/s, that is bytes per nanosecond, of a copy.
    pub fn rate(&self, to: u64, from: u64) -> f64 {
        match (self.owner(to), self.owner(from)) {
            (Some(one), Some(other)) if one == other => self.config.number("local", 1000.0),
            (Some(_), Some(_)) => self.config.number("peer", 400.0),
            (Some(_), None) => self.config.number("h2d", 50.0) * self.nearness(from),
            _ => self.config.number("d2h", 40.0) * self.nearness(to),
        }
    }

    /// Fraction of the rate for host memory, by the NUMA node of the page.
    fn nearness(&self, at: u64) -> f64 {
        match self.config.numbers.get("node") {
            Some(node) if f64::from(node_of(at)) != *node => self.config.number("far", 50.0) / 100.0,
            _ => 1.0,
        }
    }

    /// The device that owns an address; `None` for host memory.
    pub fn owner(&self, address: u64) -> Option<usize> {
        let (start, (device, words)) = self.memory.range(..=address).next_back()?;
        (address < start + words.len() as u64 * 8).then_some(*device)
    }
}

unsafe extern "C" {
    fn syscall(number: c_long, ...) -> c_long;
}

/// The NUMA node of the page at an address (move_pages(2) with no target nodes), or an error number below 0.
fn node_of(at: u64) -> c_int {
    const MOVE_PAGES: c_long = if cfg!(target_arch = "x86_64") { 279 } else { 239 };
    let (pages, mut status) = ([at], -1);
    // SAFETY: one address and room for one answer; nothing is moved.
    unsafe {
        let (own, count, nowhere, flags): (c_long, c_long, *const c_void, c_long) =
            (0, 1, std::ptr::null(), 0);
        syscall(MOVE_PAGES, own, count, pages.as_ptr(), nowhere, &raw mut status, flags);
    }
    status
}

pub fn wait(at: u64, value: u32) -> Result<(), c_int> {
    let until = Instant::now() + Duration::from_secs(20);
    // SAFETY: the word is pinned memory of the caller's.
    let word = unsafe { &*(at as *const AtomicU32) };
    while (word.load(Ordering::Acquire).wrapping_sub(value) as i32) < 0 {
        if Instant::now() > until {
            return Err(702);
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    Ok(())
}
