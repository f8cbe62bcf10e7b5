//! A control group that limits a device.

use super::super::rule::CauseRule;
use super::super::sign::Sign;

pub const RULE: CauseRule = CauseRule {
    id: "throttled-device",
    seen: &[Sign::ThrottledDevice],
    cause: "a control group limits the device: {seen}",
    action: "take the limit away where the job is started: `cat io.max` (v1: blkio.throttle.*) of its cgroups on {node}",
    ..CauseRule::NEW
};
