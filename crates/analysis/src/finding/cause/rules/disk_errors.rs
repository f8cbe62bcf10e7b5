//! Errors of a disk.

use seatrial_model::Actor;

use super::super::rule::CauseRule;
use super::super::sign::Sign;

pub const RULE: CauseRule = CauseRule {
    id: "disk-errors",
    title: "disk errors",
    families: &["storage", "transfer"],
    seen: &[
        Sign::KernelLog(&["I/O error", "medium error", "Medium Error"]),
        Sign::Counted(&["state.file_system_errors"]),
    ],
    cause: "a disk of {node} has errors: {seen}",
    actor: Actor::Vendor,
    action: "replace the disk if its own counters show errors too: `smartctl -a /dev/DISK`, `nvme smart-log /dev/DISK`",
    ..CauseRule::NEW
};
