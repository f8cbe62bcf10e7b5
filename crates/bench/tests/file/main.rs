//! `storage.file` against file systems on loop devices that are throttled, frozen, full, read-only or broken.
//!
//! All of it needs root, `mount`, `losetup` and `mkfs.ext4`; without them a test is loud in CI and says elsewhere that it
//! was skipped.

mod broken;
mod frozen;
mod killed;
mod rig;
mod throttled;
