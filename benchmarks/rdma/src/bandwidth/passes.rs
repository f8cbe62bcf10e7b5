//! The content of messages: one while the clock runs, and another after it, over all memory.

use seatrial_bench::verbs::RdmaEndpoint;
use seatrial_model::Reason;
use seatrial_sys::verbs::VerbKind;

pub const FIRST: u64 = 0;

/// Pass written after the clock has stopped, over all memory.
pub const LAST: u64 = 1;

/// Writes the content of this pass into the first `slots` of each queue pair that are sent or read.
pub fn fill(endpoint: &RdmaEndpoint, generation: u64, slots: u64) -> Result<(), Reason> {
    endpoint.fill_out(generation, slots, |slot| source(endpoint.config.method.verb, slot))
}

/// The slot whose content is in this one.
pub fn source(verb: VerbKind, slot: u64) -> u64 {
    if verb == VerbKind::Send { 0 } else { slot }
}
