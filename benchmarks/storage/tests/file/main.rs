//! `storage.file` against file systems that are throttled, frozen, full, read-only, broken or that lie.
//!
//! Loop devices and FUSE need root, `mount`, `losetup` and `mkfs.ext4`; without them a test fails in CI and is
//! skipped elsewhere.

mod answers;
mod broken;
mod frozen;
mod fuse;
mod killed;
mod planted;
mod rig;
mod throttled;
