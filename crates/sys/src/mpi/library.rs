//! A loaded MPI library.
#![expect(unsafe_code, reason = "calls functions of the library")]

use std::ffi::{c_char, c_int};
use std::path::Path;

use super::abi::{Abi, Constants};
use super::error::MpiError;
use super::table::Table;
use crate::library::{Library, text};

/// Bytes of the longest text that a library of any interface writes (MPI_MAX_LIBRARY_VERSION_STRING).
const TEXT_BYTES: usize = 8192;

/// A loaded library. A process can load one: the symbols of two would mix, as plugins have to see them.
#[derive(Debug)]
pub struct Mpi {
    pub(super) table: Table,
    pub(super) constants: Constants,
    abi: Abi,
    name: String,
}

macro_rules! call {
    ($mpi:expr, $field:ident($($arg:expr),* $(,)?)) => {{
        let mpi: &$crate::mpi::Mpi = $mpi;
        let entry = mpi.table.$field;
        match entry.function {
            None => Err(mpi.missing(entry.symbol)),
            Some(function) => {
                // SAFETY: the arguments are of the types that the function takes, and pointers among them lead to
                // memory of the stated length that lives through the call, or until the request is waited for.
                mpi.answer(entry.symbol, unsafe { function($($arg),*) })
            }
        }
    }};
}
pub(super) use call;

impl Mpi {
    /// Loads the library at `path`, or the one that the dynamic linker knows by that name. Its symbols are visible to
    /// its plugins, which some builds of Open MPI need.
    pub fn open(path: &Path) -> Result<Self, MpiError> {
        let library = Library::open_global(path)?;
        let name = path.display().to_string();
        let table = Table::load(&library);
        let abi = abi_of(&library, &table);
        let constants = Constants::of(abi, &library)
            .map_err(|symbol| MpiError::Missing { library: name.clone(), symbol })?;
        let mut mpi = Self { table, constants, abi, name };
        // What is no MPI library says nothing, which is told when it is asked for.
        if let Ok(version) = mpi.says() {
            mpi.constants = mpi.constants.of_maker(abi, &version);
        }
        Ok(mpi)
    }

    pub const fn abi(&self) -> Abi {
        self.abi
    }

    /// What the library says of itself, which may be many lines; works before the process is a rank.
    pub fn says(&self) -> Result<String, MpiError> {
        let mut written: Vec<c_char> = vec![0; TEXT_BYTES];
        let mut length: c_int = 0;
        call!(self, library_version(written.as_mut_ptr(), &raw mut length))?;
        Ok(text(&written).trim_end().to_owned())
    }

    /// The version of the MPI standard that the library implements.
    pub fn standard(&self) -> Result<(u32, u32), MpiError> {
        let (mut major, mut minor): (c_int, c_int) = (0, 0);
        call!(self, version(&raw mut major, &raw mut minor))?;
        Ok((major.unsigned_abs(), minor.unsigned_abs()))
    }

    /// Leaves the job, after all its ranks have come so far.
    pub fn finish(&self) -> Result<(), MpiError> {
        call!(self, finalize())
    }

    /// Ends all ranks of the job with `code`.
    pub fn abort(&self, code: i32) -> Result<(), MpiError> {
        call!(self, abort(self.constants.world, code))
    }

    #[cold]
    pub(super) fn missing(&self, symbol: &'static str) -> MpiError {
        MpiError::Missing { library: self.name.clone(), symbol }
    }

    #[inline]
    pub(super) fn answer(&self, call: &'static str, code: c_int) -> Result<(), MpiError> {
        if code == 0 { Ok(()) } else { Err(self.refused(call, code)) }
    }

    #[cold]
    fn refused(&self, call: &'static str, code: c_int) -> MpiError {
        MpiError::Refused { call, text: self.told(code) }
    }

    /// The library's words for an error.
    fn told(&self, code: c_int) -> String {
        let mut written: Vec<c_char> = vec![0; TEXT_BYTES];
        let mut length: c_int = 0;
        let told = self.table.error_string.function.is_some_and(|function| {
            // SAFETY: the text has room for the longest that a library writes.
            unsafe { function(code, written.as_mut_ptr(), &raw mut length) == 0 }
        });
        match text(&written).trim() {
            words if told && !words.is_empty() => format!("{words} ({code})"),
            _ => format!("error {code}"),
        }
    }
}

/// The interface of a library. A library of another interface may have the function of the standard's ABI, and answers
/// then that it has no version of it.
fn abi_of(library: &Library, table: &Table) -> Abi {
    let (mut major, mut minor): (c_int, c_int) = (-1, -1);
    let is_standard = table.abi_version.function.is_some_and(|function| {
        // SAFETY: the function writes two integers, and may be called before MPI_Init (MPI 5.0, 20.1).
        unsafe { function(&raw mut major, &raw mut minor) == 0 && major > 0 }
    });
    match library.first(&[c"ompi_mpi_comm_world"]) {
        _ if is_standard => Abi::Standard,
        Some(_) => Abi::OpenMpi,
        None => Abi::Mpich,
    }
}
