//! What a case's files are once they are made.

use std::os::fd::OwnedFd;
use std::path::PathBuf;

use seatrial_sys::Errno;
use seatrial_sys::storage::{Alignment, Device, Hiding};

/// Files without a name.
#[derive(Debug)]
pub struct Made {
    /// As many as the job asks for.
    pub files: Vec<OwnedFd>,
    /// How they are hidden.
    pub hiding: Hiding,
    pub directory: PathBuf,
    /// Why the current directory was not taken, if it was to be.
    pub instead: Option<String>,
    /// Why their space could not be reserved, if it could not.
    pub unreserved: Option<Errno>,
    /// What direct requests must be aligned to; none for buffered ones.
    pub alignment: Option<Alignment>,
    /// What they lie on, as far as the file system tells.
    pub device: Device,
}
