//! What the parameters ask for, in one piece.

use seatrial_model::{Bytes, Cause, Nanos, Params, Reason, Value};

use seatrial_stats::mix;

/// Requests a thread keeps under way where nobody says how many.
const USUAL_DEPTH: usize = 4;

/// Size of all parts where nobody says.
const USUAL_SIZE: u64 = 1 << 30;

/// Blocks a thread's part has at least, so that none is used again before most others were.
const LEAST_BLOCKS: u64 = 16;

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Operation {
    /// Every block is read.
    Read,
    /// Every block is written.
    Write,
    /// This share of the blocks is read, the others are written (0 to 1).
    Mixed(f64),
}

impl Operation {
    /// Whether anything is read.
    pub fn reads(self) -> bool {
        self != Self::Write
    }

    /// Whether anything is written.
    pub fn writes(self) -> bool {
        self != Self::Read
    }
}

/// The engine asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// The best there is.
    Auto,
    Uring,
    /// A ring that polls.
    Polled,
    Sync,
}

/// When writes are flushed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flushed {
    End,
    Each,
    Never,
}

#[derive(Clone, Debug, PartialEq)]
pub struct JobSpec {
    pub operation: Operation,
    /// Whether files that are only written are filled before as well.
    pub overwrite: bool,
    /// Whether blocks come in an order of their own.
    pub random: bool,
    pub threads: usize,
    /// Bytes of a block.
    pub block: usize,
    /// Requests each thread keeps under way; none leaves it to what the engine can do.
    pub depth: Option<usize>,
    /// Blocks of each thread's part.
    pub blocks: u64,
    /// Whether all threads share one file.
    pub shared: bool,
    /// Whether the page cache is left out.
    pub direct: bool,
    /// How requests are made.
    pub engine: Wanted,
    /// When writes are flushed.
    pub flushed: Flushed,
    /// Percent of the data that are zeros.
    pub compressible: f64,
    /// Whether every block is used once, and no more.
    pub once: bool,
    /// Measuring time, of a round where there are several.
    pub time: Nanos,
    /// Rounds at most until they are alike; 1 where nobody asked for a steady state.
    pub rounds: u64,
}

impl JobSpec {
    /// Reads the parameters of a case.
    pub fn of(params: &Params) -> Result<Self, Reason> {
        let protocol = |error: seatrial_model::ParamError| Reason::new(Cause::Protocol, error.to_string());
        let word = |name: &str| params.text(name).map_err(protocol);
        let contradiction = |text: String| Err(Reason::new(Cause::Contradiction, text));
        let operation = match (word("operation")?, params.get("reads")) {
            ("mixed", Some(Value::Number(percent))) => Operation::Mixed(percent / 100.0),
            ("mixed", Some(Value::Count(percent))) => Operation::Mixed(*percent as f64 / 100.0),
            ("mixed", _) => Operation::Mixed(0.7),
            (other, Some(Value::Number(_) | Value::Count(_))) => {
                return contradiction(format!("reads= is for operation=mixed, not for operation={other}"));
            }
            ("write", _) => Operation::Write,
            _ => Operation::Read,
        };
        let overwrite = params.flag("overwrite").unwrap_or(false);
        if overwrite && operation != Operation::Write {
            return contradiction(format!(
                "overwrite=true is for operation=write: with operation={} the files are filled in any case",
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
                "depth={depth}, but engine=sync has one request under way in each thread: raise threads= instead"
            ));
        }
        let direct = word("access")? == "direct";
        if engine == Wanted::Polled && !direct {
            return contradiction(
                "engine=polled needs access=direct: the page cache has no queues".to_owned(),
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
                "a thread has {blocks} blocks in its part and is to keep {depth_used} under way: raise size=, or lower \
                 block=, threads= or depth="
            ));
        }
        let steady = params.flag("steady").unwrap_or(false);
        let rounds = if steady { params.count("rounds").map_err(protocol)? } else { 1 };
        if steady && (!direct || word("work")? == "once") {
            return contradiction(
                "steady=true needs access=direct and work=time: what goes on until it is steady cannot be done once, \
                 and a page cache is steady when it is full"
                    .to_owned(),
            );
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
            shared: word("files")? == "shared",
            direct,
            engine,
            flushed,
            compressible: number("compressible"),
            once: word("work")? == "once",
            time: params.nanos("time").map_err(protocol)?,
            rounds,
        })
    }

    /// Requests a thread keeps under way with an engine that can have several, or one that cannot.
    pub fn depth_with(&self, several: bool) -> usize {
        if several { self.depth.unwrap_or(USUAL_DEPTH) } else { 1 }
    }

    /// Bytes of a thread's part.
    pub fn part_bytes(&self) -> u64 {
        self.blocks * self.block as u64
    }

    /// Bytes of all parts.
    pub fn total_bytes(&self) -> u64 {
        self.part_bytes() * self.threads as u64
    }

    /// The file of a thread, by number, and where its part begins there.
    pub fn place_of(&self, thread: usize) -> (usize, u64) {
        if self.shared { (0, thread as u64 * self.part_bytes()) } else { (thread, 0) }
    }

    /// How many files there are.
    pub fn file_count(&self) -> usize {
        if self.shared { 1 } else { self.threads }
    }

    /// Bytes of each file.
    pub fn file_bytes(&self) -> u64 {
        if self.shared { self.total_bytes() } else { self.part_bytes() }
    }

    /// Whether the files are filled before the clock starts.
    pub fn is_laid_out(&self) -> bool {
        self.operation.reads() || self.overwrite
    }

    /// Blocks at the beginning of a thread's part that are filled already, where the first `covered` bytes of its file
    /// are.
    pub fn laid_out_of(&self, thread: usize, covered: u64) -> u64 {
        let (_, start) = self.place_of(thread);
        covered.saturating_sub(start).min(self.part_bytes()) / self.block as u64
    }

    /// Whether a block is written in a pass, decided by a hash and so without a table.
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
