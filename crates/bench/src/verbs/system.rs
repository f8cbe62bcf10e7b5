//! Where libibverbs and the kernel's files are: the machine's own, or what a test has put in their place.

use std::path::PathBuf;
use std::sync::Arc;

use seatrial_sys::root::SysRoot;
use seatrial_sys::verbs::{Verbs, VerbsError};

std::thread_local! {
    /// What a test has put in the place of the machine's own.
    static INSTEAD: std::cell::RefCell<Option<System>> = const { std::cell::RefCell::new(None) };
}

#[derive(Clone, Debug)]
pub struct System {
    /// The library; none is looked for where the dynamic linker looks.
    pub library: Option<PathBuf>,
    pub root: SysRoot,
}

impl System {
    pub(super) fn live() -> Self {
        if let Some(instead) = INSTEAD.with_borrow(Clone::clone) {
            return instead;
        }
        Self { library: None, root: SysRoot::live() }
    }

    /// While `make` runs, this thread takes it for the machine's own.
    pub fn instead<T>(&self, make: impl FnOnce() -> T) -> T {
        INSTEAD.set(Some(self.clone()));
        let made = make();
        INSTEAD.set(None);
        made
    }

    /// Loads the library.
    pub fn verbs(&self) -> Result<Arc<Verbs>, VerbsError> {
        self.library.as_deref().map_or_else(Verbs::open, Verbs::open_at)
    }
}
