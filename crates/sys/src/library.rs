//! Shared libraries that may or may not be installed.
#![expect(unsafe_code, reason = "libraries are loaded and their symbols looked up")]

use std::ffi::{CStr, OsStr, c_char, c_int, c_void};
use std::mem::{ManuallyDrop, MaybeUninit};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::ptr::NonNull;

use libloading::os::unix::{Library as Handle, RTLD_GLOBAL, RTLD_LOCAL, RTLD_NOW};

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LibraryError {
    /// No file of that name where the dynamic linker looks.
    #[error("{name} not found")]
    NotFound { name: String },
    #[error("{name} cannot be loaded: {why}")]
    Refused { name: String, why: String },
}

/// A loaded library. It is never unloaded: drivers leave threads and handlers behind that point into it.
#[derive(Debug)]
pub struct Library {
    handle: ManuallyDrop<Handle>,
}

impl Library {
    /// Loads the library called `name` from where the dynamic linker looks (dlopen(3)).
    pub fn open(name: &str) -> Result<Self, LibraryError> {
        Self::load(name.as_ref(), RTLD_LOCAL)
    }

    pub fn open_at(path: &Path) -> Result<Self, LibraryError> {
        Self::load(path.as_os_str(), RTLD_LOCAL)
    }

    /// As [`Self::open_at`]; libraries that are loaded later, such as its own plugins, find its symbols.
    pub fn open_global(path: &Path) -> Result<Self, LibraryError> {
        Self::load(path.as_os_str(), RTLD_GLOBAL)
    }

    fn load(file: &OsStr, scope: c_int) -> Result<Self, LibraryError> {
        // SAFETY: loading runs the library's initialisers, which is what a driver's library is loaded for.
        let loaded = unsafe { Handle::open(Some(file), RTLD_NOW | scope) };
        loaded.map(|handle| Self { handle: ManuallyDrop::new(handle) }).map_err(|error| {
            let name = file.to_string_lossy().into_owned();
            let why = match error {
                libloading::Error::DlOpen { source } => source.to_string(),
                other => other.to_string(),
            };
            // glibc and musl have no code for a missing file, only these words.
            match why.contains("No such file") && why.starts_with(&name) {
                true => LibraryError::NotFound { name },
                false => LibraryError::Refused { name, why },
            }
        })
    }

    /// The address of the first of `symbols` that the library has.
    pub(crate) fn first(&self, symbols: &[&CStr]) -> Option<NonNull<c_void>> {
        // SAFETY: the symbol is only asked for its address.
        let address = |symbol: &&CStr| unsafe { self.handle.get::<*mut c_void>(*symbol) }.ok();
        symbols.iter().find_map(|symbol| NonNull::new(address(symbol)?.as_raw_ptr()))
    }

    /// The file that holds the function `symbol` (dladdr(3)).
    pub(crate) fn file_of(&self, symbol: &CStr) -> Option<PathBuf> {
        let address = self.first(&[symbol])?;
        let mut found = MaybeUninit::<libc::Dl_info>::zeroed();
        // SAFETY: the address is only looked up, and the structure is ours.
        let known = unsafe { libc::dladdr(address.as_ptr(), found.as_mut_ptr()) };
        // SAFETY: the function filled it; all zeros are pointers and numbers too.
        let name = unsafe { found.assume_init() }.dli_fname;
        if known == 0 || name.is_null() {
            return None;
        }
        // SAFETY: the name is that of a library that is never unloaded.
        let name = unsafe { CStr::from_ptr(name) };
        Some(PathBuf::from(OsStr::from_bytes(name.to_bytes())))
    }
}

/// A function of a library, if the library has it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Entry<F> {
    pub symbol: &'static str,
    pub function: Option<F>,
}

/// The name of a function without its version suffix.
pub(crate) fn plain(symbol: &'static CStr) -> &'static str {
    let symbol = symbol.to_str().unwrap_or("a function");
    symbol.strip_suffix("_v2").or(symbol.strip_suffix("_v3")).unwrap_or(symbol)
}

/// Declares a table of functions of a library, each with its symbols, newest first. Missing functions are `None`.
macro_rules! table {
    ($(#[$doc:meta])* $name:ident { $($field:ident($($arg:ty),* $(,)?) = $first:literal $(, $older:literal)*;)* }) => {
        $(#[$doc])*
        #[derive(Debug)]
        pub(crate) struct $name {
            $(pub $field: $crate::library::Entry<unsafe extern "C" fn($($arg),*) -> std::ffi::c_int>,)*
        }

        impl $name {
            pub fn load(library: &$crate::library::Library) -> Self {
                Self {
                    $($field: $crate::library::Entry {
                        symbol: $crate::library::plain($first),
                        // SAFETY: the address is that of the function of this name, whose type is written here as its
                        // header declares it.
                        function: library.first(&[$first $(, $older)*]).map(|address| unsafe {
                            std::mem::transmute::<
                                *mut std::ffi::c_void,
                                unsafe extern "C" fn($($arg),*) -> std::ffi::c_int,
                            >(address.as_ptr())
                        }),
                    },)*
                }
            }
        }
    };
}
pub(crate) use table;

pub(crate) fn text(written: &[c_char]) -> String {
    // `c_char` is signed on x86-64 and unsigned on Arm.
    let bytes = written.iter().map(|character| character.to_ne_bytes()[0]);
    String::from_utf8_lossy(&bytes.take_while(|byte| *byte != 0).collect::<Vec<_>>()).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_ends_at_its_zero_and_keeps_its_umlauts() {
        let written =
            "H\u{fc}gel\0rest".bytes().map(|byte| c_char::from_ne_bytes([byte])).collect::<Vec<_>>();
        assert_eq!(text(&written), "H\u{fc}gel");
    }

    #[test]
    fn a_library_that_is_not_there_is_told_from_one_that_is_none() {
        let missing = Library::open("libnobody-has-this.so.9").expect_err("no such library");
        assert_eq!(missing.to_string(), "libnobody-has-this.so.9 not found");
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("text.so");
        std::fs::write(&path, "no library").expect("written");
        assert!(matches!(Library::open_at(&path), Err(LibraryError::Refused { .. })));
    }

    #[test]
    fn the_newest_name_that_is_there_is_taken() {
        let library = Library::open("libc.so.6").expect("the C library");
        let old = library.first(&[c"getpid"]).expect("every C library has it");
        assert_eq!(library.first(&[c"getpid_v9", c"getpid"]), Some(old));
        assert_eq!(library.first(&[c"getpid_v9"]), None);
        let file = library.file_of(c"getpid").expect("a file");
        assert!(file.to_string_lossy().contains("libc"), "{}", file.display());
    }
}
