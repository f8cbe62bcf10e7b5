//! A control group that limits a device.

use super::super::rule::CauseRule;
use super::super::sign::Sign;

pub const RULE: CauseRule = CauseRule {
    id: "throttled-device",
    seen: &[Sign::ThrottledDevice],
    cause: "a control group limits the device: {seen}",
    action: "find the limit in /sys/fs/cgroup on {node} (`grep -r . --include=io.max`, v1: blkio.throttle.*), take it away in the unit or batch system that set it",
    ..CauseRule::NEW
};
