//! A cgroup that limits the CPU time of the node.

use super::super::rule::CauseRule;
use super::super::sign::Sign;

pub const RULE: CauseRule = CauseRule {
    id: "cpu-quota",
    title: "CPU quota",
    seen: &[Sign::CpuQuota],
    limits: &["sender-cpu", "receiver-cpu", "sender-starved", "receiver-starved"],
    cause: "a cgroup limits the CPU time: {seen}",
    action: "raise it in the unit or batch system that set it: `/sys/fs/cgroup/GROUP/cpu.max`, v1: `/sys/fs/cgroup/cpu/GROUP/cpu.cfs_quota_us`",
    ..CauseRule::NEW
};
