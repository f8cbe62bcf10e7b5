//! Fewer CPUs to run on.

use super::super::rule::CauseRule;
use super::super::sign::Sign;

pub const RULE: CauseRule = CauseRule {
    id: "fewer-cpus",
    seen: &[Sign::Lower(&["CPUs to run on"])],
    limits: &["sender-cpu", "receiver-cpu", "sender-starved", "receiver-starved"],
    cause: "{node} has fewer CPUs to run on: {seen}",
    action: "look at the cpuset and offline CPUs of {node}: `grep Cpus_allowed_list /proc/self/status`, `lscpu --extended`",
    ..CauseRule::NEW
};
