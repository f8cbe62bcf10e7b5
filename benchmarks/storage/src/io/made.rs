//! The files of a case, after they are made.

use std::os::fd::OwnedFd;
use std::path::PathBuf;

use seatrial_sys::Errno;
use seatrial_sys::storage::{Alignment, Device, Hiding};

#[derive(Debug)]
pub struct Made {
    pub files: Vec<OwnedFd>,
    pub hiding: Hiding,
    pub directory: PathBuf,
    /// With `auto`: why the current directory was not used.
    pub instead: Option<String>,
    /// Why space could not be reserved.
    pub unreserved: Option<Errno>,
    /// Alignment of direct requests; `None` for buffered access.
    pub alignment: Option<Alignment>,
    /// The block device of the files, as far as the file system reports one.
    pub device: Device,
}
