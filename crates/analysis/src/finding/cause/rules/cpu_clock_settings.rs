//! Settings that lower the clock of the CPUs.

use super::super::rule::CauseRule;
use super::super::sign::Sign;

pub const RULE: CauseRule = CauseRule {
    id: "cpu-clock-settings",
    title: "other settings of the CPU clock",
    families: &["mem", "cpu", "net", "rdma", "mpi"],
    seen: &[Sign::Differs(&["cpu.governor", "cpu.boost", "cpu.energy_performance_preference"])],
    limits: &["sender-cpu", "receiver-cpu"],
    cause: "the clock of the CPUs is set otherwise than on the others: {seen}",
    action: "on {node}, as on its peers: {command}; look where the other nodes have it from (tuned, cpupower, firmware setup)",
    ..CauseRule::NEW
};
