//! The parameters of a case, parsed.

use seatrial_model::{Bytes, Case, Cause, Nanos, Params, Reason, Value};

/// Bytes per sequential request: large enough for full rate, small enough for fine time resolution.
const BLOCK: u64 = 1 << 20;

/// Block of hdparm -t (TIMING_BUF_MB in its source).
const BUFFERED_BLOCK: u64 = 2 << 20;

/// Default requests in flight: enough to keep a fast disk busy.
const DEPTH: usize = 4;

/// Default block and depth of random reads, as in data sheets of disks.
const RANDOM_BLOCK: u64 = 4 << 10;
const RANDOM_DEPTH: usize = 32;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RawConfig {
    pub disks: Vec<String>,
    pub direct: bool,
    /// Bytes per request.
    pub block: usize,
    pub depth: usize,
    pub is_depth_given: bool,
    pub random: bool,
    pub together: bool,
    pub time: Nanos,
}

impl RawConfig {
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

pub fn is_random(params: &Params) -> bool {
    params.text("pattern").is_ok_and(|pattern| pattern == "random")
}

pub fn block(params: &Params) -> u64 {
    let usual = match (is_random(params), is_direct(params)) {
        (true, _) => RANDOM_BLOCK,
        (false, true) => BLOCK,
        (false, false) => BUFFERED_BLOCK,
    };
    params.bytes("block").ok().flatten().map_or(usual, Bytes::get)
}

pub fn depth(params: &Params) -> usize {
    match params.get("depth") {
        Some(Value::Count(depth)) => usize::try_from(*depth).unwrap_or(DEPTH),
        _ if !is_direct(params) => 1,
        _ if is_random(params) => RANDOM_DEPTH,
        _ => DEPTH,
    }
}
