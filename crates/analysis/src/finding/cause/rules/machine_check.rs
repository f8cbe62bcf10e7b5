//! Errors of processor and memory.

use seatrial_model::Actor;

use super::super::rule::CauseRule;
use super::super::sign::Sign;

pub const RULE: CauseRule = CauseRule {
    id: "machine-check",
    title: "errors of memory or processor",
    families: &["mem", "cpu", "mpi"],
    seen: &[
        Sign::KernelLog(&["[Hardware Error]", "EDAC "]),
        Sign::Counted(&["state.memory_uncorrected", "state.memory_corrected", "state.machine_check"]),
    ],
    cause: "the memory or a processor of {node} has errors: {seen}",
    actor: Actor::Vendor,
    action: "find the memory module and replace it: `ras-mc-ctl --errors`, `edac-util -v`, event log of the BMC (`ipmitool sel list`)",
    ..CauseRule::NEW
};
