//! What the parameters ask for, in one piece.

use seatrial_model::{Bytes, Case, Cause, Nanos, Params, Reason, Value};

/// Bytes of a request: large enough that their number does not matter, small enough to count time finely.
const BLOCK: u64 = 1 << 20;

/// What hdparm -t reads at once (TIMING_BUF_MB in its source).
const BUFFERED_BLOCK: u64 = 2 << 20;

/// Requests under way: what a fast disk needs to have one while another is answered.
const DEPTH: usize = 4;

/// Bytes of a random request, and how many are under way: what data sheets of disks state.
const RANDOM_BLOCK: u64 = 4 << 10;
const RANDOM_DEPTH: usize = 32;

/// The parameters of a case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RawConfig {
    /// The kernel's names of the disks.
    pub disks: Vec<String>,
    /// Whether the page cache is left out.
    pub direct: bool,
    /// Bytes of a request.
    pub block: usize,
    /// Requests kept under way.
    pub depth: usize,
    /// Whether somebody asked for so many.
    pub is_depth_given: bool,
    /// Whether blocks come from all over the disk.
    pub random: bool,
    /// Whether all disks are read at once.
    pub together: bool,
    pub time: Nanos,
}

impl RawConfig {
    /// Reads a case.
    pub fn of(case: &Case) -> Result<Self, Reason> {
        let disks: Vec<String> = case.planned.text("disks")?.split(' ').map(str::to_owned).collect();
        if disks.iter().any(String::is_empty) {
            return Err(Reason::new(Cause::Protocol, "the case names no disk"));
        }
        let params = &case.params;
        let direct = params.text("mode")? == "direct";
        Ok(Self {
            disks,
            direct,
            block: block(params) as usize,
            depth: depth(params),
            is_depth_given: matches!(params.get("depth"), Some(Value::Count(_))),
            random: is_random(params),
            together: params.flag("together")?,
            time: params.nanos("time")?,
        })
    }
}

fn is_direct(params: &Params) -> bool {
    params.text("mode").is_ok_and(|mode| mode == "direct")
}

/// Whether blocks come from all over the disk.
pub fn is_random(params: &Params) -> bool {
    params.text("pattern").is_ok_and(|pattern| pattern == "random")
}

/// Bytes of a request.
pub fn block(params: &Params) -> u64 {
    let usual = match (is_random(params), is_direct(params)) {
        (true, _) => RANDOM_BLOCK,
        (false, true) => BLOCK,
        (false, false) => BUFFERED_BLOCK,
    };
    params.bytes("block").ok().flatten().map_or(usual, Bytes::get)
}

/// Requests kept under way.
pub fn depth(params: &Params) -> usize {
    match params.get("depth") {
        Some(Value::Count(depth)) => usize::try_from(*depth).unwrap_or(DEPTH),
        _ if !is_direct(params) => 1,
        _ if is_random(params) => RANDOM_DEPTH,
        _ => DEPTH,
    }
}
