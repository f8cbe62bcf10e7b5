//! A frozen file system.

use super::super::rule::CauseRule;
use super::super::sign::Sign;

pub const RULE: CauseRule = CauseRule {
    id: "frozen-file-system",
    title: "frozen file system",
    seen: &[Sign::Reason("in percpu_rwsem_wait")],
    cause: "the file system is frozen (fsfreeze): writers wait until somebody thaws it",
    action: "find who froze it (backup, snapshot), then on {node}: `fsfreeze --unfreeze MOUNTPOINT`",
    ..CauseRule::NEW
};
