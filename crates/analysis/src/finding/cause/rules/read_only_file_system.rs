//! A file system that takes no writes.

use super::super::rule::CauseRule;
use super::super::sign::Sign;

pub const RULE: CauseRule = CauseRule {
    id: "read-only-file-system",
    seen: &[Sign::Reason("mounted read-only"), Sign::Reason("has made the file system read-only")],
    cause: "the file system is read-only: mounted so, or made so by the kernel after an error",
    action: "look for its error on {node}, then make it writable: `dmesg`, `mount -o remount,rw MOUNTPOINT`",
    ..CauseRule::NEW
};
