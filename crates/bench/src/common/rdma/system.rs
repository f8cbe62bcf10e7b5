//! Where libibverbs and the kernel's files are: the machine's own, or what a test has put in their place.

use std::path::PathBuf;
use std::sync::Arc;

use seatrial_sys::root::SysRoot;
use seatrial_sys::verbs::{Verbs, VerbsError};

/// Where they are.
#[derive(Clone, Debug)]
pub struct System {
    /// The library; none is looked for where the dynamic linker looks.
    pub library: Option<PathBuf>,
    /// The kernel's files.
    pub root: SysRoot,
}

impl System {
    /// The machine's own.
    pub fn live() -> Self {
        Self { library: None, root: SysRoot::live() }
    }

    /// Loads the library.
    ///
    /// # Errors
    /// When it cannot be had.
    pub fn verbs(&self) -> Result<Arc<Verbs>, VerbsError> {
        self.library.as_deref().map_or_else(Verbs::open, Verbs::open_at)
    }
}
