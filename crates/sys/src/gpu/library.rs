//! Shared libraries that may or may not be there.
#![expect(unsafe_code, reason = "dlopen, dlsym and dlerror")]

use std::ffi::{CStr, CString, c_char, c_void};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::ptr::NonNull;

/// Why a library could not be had.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LibraryError {
    /// No file of that name in the places where the linker looks.
    #[error("{name} not found")]
    NotFound {
        /// The name that was looked for.
        name: String,
    },
    /// There is one, and the linker refuses it.
    #[error("{name} cannot be loaded: {why}")]
    Refused { name: String, why: String },
}

/// A loaded library. It is never unloaded: drivers leave threads and handlers behind that point into it.
#[derive(Debug)]
pub struct Library {
    handle: NonNull<c_void>,
}

// SAFETY: the handle is only given to dlsym, which any thread may call at any time (dlsym(3), "MT-Safe").
unsafe impl Send for Library {}
// SAFETY: as above.
unsafe impl Sync for Library {}

impl Library {
    /// Loads the library called `name`, looked for where the dynamic linker looks (dlopen(3)).
    pub fn open(name: &str) -> Result<Self, LibraryError> {
        Self::load(name.as_bytes(), name)
    }

    /// Loads the library at `path`.
    pub fn open_at(path: &Path) -> Result<Self, LibraryError> {
        Self::load(path.as_os_str().as_bytes(), &path.display().to_string())
    }

    fn load(file: &[u8], name: &str) -> Result<Self, LibraryError> {
        let refused = |why: String| LibraryError::Refused { name: name.to_owned(), why };
        let file = CString::new(file).map_err(|_| refused("its name holds a zero byte".to_owned()))?;
        // SAFETY: the name is a C string; loading runs the library's initialisers, which is what we are here for.
        let handle = unsafe { libc::dlopen(file.as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL) };
        NonNull::new(handle).map(|handle| Self { handle }).ok_or_else(|| {
            let why = last_error();
            // glibc and musl have no code for it, only these words.
            match why.contains("No such file") && why.starts_with(name) {
                true => LibraryError::NotFound { name: name.to_owned() },
                false => refused(why),
            }
        })
    }

    /// The address of the first of `symbols` that the library has.
    pub(crate) fn first(&self, symbols: &[&CStr]) -> Option<NonNull<c_void>> {
        // SAFETY: the handle is of a library that is never closed, and the names are C strings.
        symbols
            .iter()
            .find_map(|symbol| NonNull::new(unsafe { libc::dlsym(self.handle.as_ptr(), symbol.as_ptr()) }))
    }
}

fn last_error() -> String {
    // SAFETY: the text belongs to this thread and stays until its next call of the dl functions.
    let text = unsafe { libc::dlerror() };
    if text.is_null() {
        return "the linker gives no reason".to_owned();
    }
    // SAFETY: not null, so it is a C string.
    unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned()
}

/// A function of a library, if the library has it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry<F> {
    /// Its name, without the number of its form.
    pub symbol: &'static str,
    pub function: Option<F>,
}

/// The name of a function for people: the headers define it to one of its numbered forms.
pub(super) fn plain(symbol: &'static CStr) -> &'static str {
    let symbol = symbol.to_str().unwrap_or("a function");
    symbol.strip_suffix("_v2").or(symbol.strip_suffix("_v3")).unwrap_or(symbol)
}

/// Declares a table of functions of a library, each with the names it goes by, newest first. Functions that the
/// library lacks are `None`.
macro_rules! table {
    ($(#[$doc:meta])* $name:ident { $($field:ident($($arg:ty),* $(,)?) = $first:literal $(, $older:literal)*;)* }) => {
        $(#[$doc])*
        #[derive(Debug)]
        pub(super) struct $name {
            $(pub $field: $crate::gpu::library::Entry<unsafe extern "C" fn($($arg),*) -> std::ffi::c_int>,)*
        }

        impl $name {
            pub fn load(library: &$crate::gpu::Library) -> Self {
                Self {
                    $($field: $crate::gpu::library::Entry {
                        symbol: $crate::gpu::library::plain($first),
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
pub(super) use table;

/// What a library wrote, up to the zero behind it.
pub(super) fn text(written: &[c_char]) -> String {
    // A character has a sign on x86-64 and none on Arm.
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
    }
}
