//! What would outlive a worker that is killed: told to its supervisor before it is made, and removed when the worker is
//! gone.
//!
//! Each announcement is a name and the open folder in which it will be made, on a [`FdStore`] of the worker's own. The
//! kernel keeps them there, whenever the worker dies, and the supervisor looks at them only then.

use std::ffi::OsStr;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::path::PathBuf;

use seatrial_sys::storage::{FdStore, Item, Purpose};

use super::is_name;
use super::remove::remove_in;
use crate::Stop;

/// A folder that a worker announced.
#[derive(Debug)]
pub struct Announced {
    above: OwnedFd,
    name: String,
}

/// Tells the supervisor of this process, if it has one, that the folder `name` is about to be made in the folder
/// `above`.
pub fn announce(above: BorrowedFd<'_>, name: &str) {
    if let Some(fd_store) = FdStore::lent(Purpose::Leftovers) {
        // Where there is no room for it, the folder has its manifest still.
        let _ = fd_store.put(name.as_bytes(), &[above]);
    }
}

/// Everything on `store` whose name is one that a test gives.
pub fn announced(fd_store: &FdStore) -> Vec<Announced> {
    let one = |Item { label, mut files }: Item| {
        let name = String::from_utf8(label).ok().filter(|name| is_name(name))?;
        Some(Announced { above: files.pop()?, name })
    };
    std::iter::from_fn(|| fd_store.take()).filter_map(one).collect()
}

impl Announced {
    /// Where it would be, as far as the kernel tells.
    pub fn path(&self) -> PathBuf {
        let above = std::fs::read_link(format!("/proc/self/fd/{}", self.above.as_raw_fd()));
        above.unwrap_or_default().join(&self.name)
    }

    /// Removes it as [`remove`](super::remove) does, for no longer than `until`, if it is there. Only for who knows
    /// that nobody makes anything in it any more.
    pub fn remove(&self, until: &Stop) -> Result<(), String> {
        remove_in(self.above.as_fd(), OsStr::new(&self.name), Some(until)).map(drop)
    }
}
