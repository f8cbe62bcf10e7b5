//! The parameters of a case, parsed.

use seatrial_model::{Bytes, Cause, Nanos, Params, Reason, Value, Verification};

use seatrial_stats::mix;

const USUAL_DEPTH: usize = 4;

/// Default size of all parts together, in bytes.
const USUAL_SIZE: u64 = 1 << 30;

/// Least number of blocks in a thread's part by default, so that a block is reused only after many others.
const LEAST_BLOCKS: u64 = 16;

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Operation {
    Read,
    Write,
    /// This share of the blocks is read (0 to 1); the others are written.
    Mixed(f64),
}

impl Operation {
    pub fn reads(self) -> bool {
        self != Self::Write
    }

    pub fn writes(self) -> bool {
        self != Self::Read
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wanted {
    Auto,
    Uring,
    /// io_uring with polling (IORING_SETUP_IOPOLL).
    Polled,
    Sync,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flushed {
    End,
    Each,
    Never,
}

/// Where the blocks of the threads are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// One file per thread.
    Own,
    /// One file, with a part for each thread.
    Shared,
    /// One file of so many `threads`, whose blocks alternate; those of this node begin with number `first`.
    Interleaved { first: u64, threads: u64 },
}

impl Layout {
    /// The same on the node with that number of `nodes` nodes that have equally many threads.
    #[must_use]
    pub fn on_node(self, number: u64, nodes: u64) -> Self {
        match self {
            Self::Interleaved { threads, .. } => {
                Self::Interleaved { first: number * threads, threads: nodes * threads }
            }
            Self::Own | Self::Shared => self,
        }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct JobSpec {
    pub operation: Operation,
    /// Whether files of a write test are filled before the clock starts.
    pub overwrite: bool,
    pub random: bool,
    pub threads: usize,
    /// Block size in bytes.
    pub block: usize,
    /// Requests in flight per thread; `None` leaves it to the engine.
    pub depth: Option<usize>,
    /// Blocks in each thread's part.
    pub blocks: u64,
    pub layout: Layout,
    /// Whether O_DIRECT bypasses the page cache.
    pub direct: bool,
    pub engine: Wanted,
    pub flushed: Flushed,
    /// Share of zeros in the data, in percent.
    pub compressible: f64,
    /// Whether every block is used exactly once.
    pub once: bool,
    /// Measuring time of a round.
    pub time: Nanos,
    /// Most rounds until a steady state; 1 without steady=true.
    pub rounds: u64,
    pub verification: Verification,
}

impl JobSpec {
    pub fn of(params: &Params) -> Result<Self, Reason> {
        let protocol = |error: seatrial_model::ParamError| Reason::new(Cause::Protocol, error.to_string());
        let word = |name: &str| params.text(name).map_err(protocol);
        let contradiction = |text: String| Err(Reason::new(Cause::Contradiction, text));
        let operation = match (word("operation")?, params.get("reads")) {
            ("mixed", Some(Value::Number(percent))) => Operation::Mixed(percent / 100.0),
            ("mixed", Some(Value::Count(percent))) => Operation::Mixed(*percent as f64 / 100.0),
            ("mixed", _) => Operation::Mixed(0.7),
            (other, Some(Value::Number(_) | Value::Count(_))) => {
                return contradiction(format!("reads= needs operation=mixed, but operation={other}"));
            }
            ("write", _) => Operation::Write,
            _ => Operation::Read,
        };
        let overwrite = params.flag("overwrite").unwrap_or(false);
        if overwrite && operation != Operation::Write {
            return contradiction(format!(
                "overwrite=true needs operation=write: with operation={} the files are always filled first",
                word("operation")?
            ));
        }
        let engine = match word("engine")? {
            "io_uring" => Wanted::Uring,
            "polled" => Wanted::Polled,
            "sync" => Wanted::Sync,
            _ => Wanted::Auto,
        };
        let depth = match params.get("depth") {
            Some(Value::Count(depth)) => Some(*depth as usize),
            _ => None,
        };
        if let (Wanted::Sync, Some(depth @ 2..)) = (engine, depth) {
            return contradiction(format!(
                "depth={depth}: engine=sync has one request in flight per thread; raise threads= instead"
            ));
        }
        let direct = word("access")? == "direct";
        if engine == Wanted::Polled && !direct {
            return contradiction(
                "engine=polled needs access=direct: the page cache has no queue to poll".to_owned(),
            );
        }
        let flushed = match word("sync")? {
            "each" => Flushed::Each,
            "none" => Flushed::Never,
            _ => Flushed::End,
        };
        let threads = params.count("threads").map_err(protocol)?.max(1);
        let block = params.bytes("block").map_err(protocol)?.unwrap_or(Bytes::mib(1)).get().max(1);
        let blocks = match params.bytes("size").ok().flatten() {
            None => (USUAL_SIZE / threads / block).max(LEAST_BLOCKS),
            Some(size) => size.get() / threads / block,
        };
        let depth_used = depth.unwrap_or(if engine == Wanted::Sync { 1 } else { USUAL_DEPTH }) as u64;
        if blocks < depth_used {
            return contradiction(format!(
                "each thread has only {blocks} blocks for {depth_used} requests in flight: raise size=, or \
                 lower block=, threads= or depth="
            ));
        }
        let steady = params.flag("steady").unwrap_or(false);
        let rounds = if steady { params.count("rounds").map_err(protocol)? } else { 1 };
        if steady && (!direct || word("work")? == "once") {
            return contradiction(if direct {
                "steady=true needs work=time: work=once ends before a steady state".to_owned()
            } else {
                "steady=true needs access=direct: the page cache hides the state of the storage".to_owned()
            });
        }
        let number = |name: &str| match params.get(name) {
            Some(Value::Number(number)) => *number,
            Some(Value::Count(count)) => *count as f64,
            _ => 0.0,
        };
        Ok(Self {
            operation,
            overwrite,
            random: word("pattern")? == "random",
            threads: threads as usize,
            block: block as usize,
            depth,
            blocks,
            layout: match word("files")? {
                "shared" => Layout::Shared,
                "interleaved" => Layout::Interleaved { first: 0, threads },
                _ => Layout::Own,
            },
            direct,
            engine,
            flushed,
            compressible: number("compressible"),
            once: word("work")? == "once",
            time: params.nanos("time").map_err(protocol)?,
            rounds,
            verification: Verification::of(params),
        })
    }

    /// Requests in flight per thread, for an engine that can have several or only one.
    pub fn depth_with(&self, several: bool) -> usize {
        if several { self.depth.unwrap_or(USUAL_DEPTH) } else { 1 }
    }

    pub fn part_bytes(&self) -> u64 {
        self.blocks * self.block as u64
    }

    pub fn total_bytes(&self) -> u64 {
        self.part_bytes() * self.threads as u64
    }

    /// The file of a thread, by number.
    pub fn file_of(&self, thread: usize) -> usize {
        if self.layout == Layout::Own { thread } else { 0 }
    }

    /// The offset of a block of a thread in its file.
    pub fn offset(&self, thread: usize, block: u64) -> u64 {
        let thread = thread as u64;
        let place = match self.layout {
            Layout::Own => block,
            Layout::Shared => thread * self.blocks + block,
            Layout::Interleaved { first, threads } => block * threads + first + thread,
        };
        place * self.block as u64
    }

    /// Whether the threads of several nodes work in one file.
    pub fn is_of_many_nodes(&self) -> bool {
        matches!(self.layout, Layout::Interleaved { threads, .. } if threads > self.threads as u64)
    }

    /// Whether the files of a trial serve no later trial.
    pub fn is_made_anew(&self) -> bool {
        self.operation.writes() || self.is_of_many_nodes()
    }

    pub fn file_count(&self) -> usize {
        if self.layout == Layout::Own { self.threads } else { 1 }
    }

    pub fn file_bytes(&self) -> u64 {
        match self.layout {
            Layout::Own => self.part_bytes(),
            Layout::Shared => self.total_bytes(),
            Layout::Interleaved { threads, .. } => self.part_bytes() * threads,
        }
    }

    pub fn is_laid_out(&self) -> bool {
        self.operation.reads() || self.overwrite
    }

    /// Blocks at the start of a thread's part that are already filled, when the first `covered` bytes of its file
    /// are.
    pub fn laid_out_of(&self, thread: usize, covered: u64) -> u64 {
        let (thread, filled) = (thread as u64, covered / self.block as u64);
        let own = match self.layout {
            Layout::Own => filled,
            Layout::Shared => filled.saturating_sub(thread * self.blocks),
            Layout::Interleaved { first, threads } => filled.saturating_sub(first + thread).div_ceil(threads),
        };
        own.min(self.blocks)
    }

    /// Whether a pass writes a block; decided by a hash, so that no table is needed.
    pub fn is_written(&self, key: u64, pass: u64, block: u64) -> bool {
        match self.operation {
            Operation::Read => false,
            Operation::Write => true,
            Operation::Mixed(reads) => {
                let share = (mix(key ^ mix(pass ^ mix(block))) >> 11) as f64 / (1_u64 << 53) as f64;
                share >= reads
            }
        }
    }
}
