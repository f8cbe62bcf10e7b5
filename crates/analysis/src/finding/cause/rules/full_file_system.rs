//! A file system without room for the files of a test.

use seatrial_model::Actor;

use super::super::rule::CauseRule;
use super::super::sign::Sign;

pub const RULE: CauseRule = CauseRule {
    id: "full-file-system",
    title: "full file system",
    seen: &[
        Sign::Reason("is kept free for others"),
        Sign::Reason("no space is left"),
        Sign::Reason("no space or inodes are left"),
    ],
    cause: "the file system has too little free space",
    actor: Actor::Administrator,
    action: "find on {node} what takes the space: `df -h MOUNTPOINT`, `du -xh --max-depth=1 MOUNTPOINT`",
    ..CauseRule::NEW
};
