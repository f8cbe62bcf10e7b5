//! A control group that limits a device.

use super::super::rule::CauseRule;
use super::super::sign::Sign;

pub const RULE: CauseRule = CauseRule {
    id: "throttled-device",
    title: "I/O limit of a control group",
    seen: &[Sign::ThrottledDevice],
    cause: "a control group limits what programs read or write there: {seen}",
    action: "on {node} find the group: `grep -r . /sys/fs/cgroup --include=io.max` (v1: blkio.throttle.*); raise the limit in the unit or batch system that set it",
    ..CauseRule::NEW
};
