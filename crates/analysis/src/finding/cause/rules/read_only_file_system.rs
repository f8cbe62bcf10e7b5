//! A file system that takes no writes.

use super::super::rule::CauseRule;
use super::super::sign::Sign;

pub const RULE: CauseRule = CauseRule {
    id: "read-only-file-system",
    title: "read-only file system",
    seen: &[Sign::Reason("mounted read-only"), Sign::Reason("has made the file system read-only")],
    cause: "the file system is mounted read-only, by its mount options or by the kernel after an error",
    action: "if `dmesg` on {node} shows an error of it, repair that first; then `mount -o remount,rw MOUNTPOINT`",
    ..CauseRule::NEW
};
