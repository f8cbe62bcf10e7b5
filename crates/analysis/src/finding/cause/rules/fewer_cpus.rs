//! Fewer CPUs to run on.

use super::super::rule::CauseRule;
use super::super::sign::Sign;

pub const RULE: CauseRule = CauseRule {
    id: "fewer-cpus",
    title: "fewer CPUs",
    seen: &[Sign::Lower(&["CPUs to run on"])],
    limits: &["sender-cpu", "receiver-cpu", "sender-starved", "receiver-starved"],
    cause: "programs on {node} may use fewer CPUs: {seen}",
    action: "look at the cpuset and offline CPUs of {node}: `grep Cpus_allowed_list /proc/self/status`, `lscpu --extended`",
    ..CauseRule::NEW
};
