//! The three binary interfaces of MPI libraries: how handles are laid out, and the numbers of constants.
//!
//! Sources: mpi.h of MPICH 4.0 and 5.0, mpi_abi.h of MPICH 5.0 (the standard's ABI 1.0), mpi.h of Open MPI 4.1 and 5.0.
//! A test compiles these headers, where they are installed, and compares.

use std::ffi::CStr;

use crate::library::Library;

/// A binary interface. MPI libraries of one interface can stand in for each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Abi {
    /// The ABI of the MPI 5.0 standard.
    Standard,
    /// MPICH, Intel MPI, MVAPICH, Cray MPICH.
    Mpich,
    /// Open MPI and what is derived from it.
    OpenMpi,
}

impl Abi {
    /// The name that users know.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Standard => "MPI standard ABI",
            Self::Mpich => "MPICH",
            Self::OpenMpi => "Open MPI",
        }
    }

    /// Bytes of a handle in memory.
    pub(super) const fn handle_bytes(self) -> usize {
        match self {
            Self::Mpich => 4,
            Self::Standard | Self::OpenMpi => 8,
        }
    }
}

/// A communicator, type, operation, request, window, group, info or error handler as a register holds it: a 32-bit handle is extended by its
/// sign.
pub(super) type Handle = u64;

/// What MPI_Init_thread asks for: which threads of a process may call the library. A library may be slower with a higher
/// level, as it then takes locks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ThreadLevel {
    Single,
    Funneled,
    Serialized,
    Multiple,
}

impl ThreadLevel {
    /// The words for the levels.
    pub const WORDS: &[&str] = &["single", "funneled", "serialized", "multiple"];

    pub fn of(word: &str) -> Option<Self> {
        let levels = [Self::Single, Self::Funneled, Self::Serialized, Self::Multiple];
        levels.into_iter().zip(Self::WORDS).find(|(_, known)| **known == word).map(|(level, _)| level)
    }

    /// The word for this level.
    pub const fn word(self) -> &'static str {
        Self::WORDS[self as usize]
    }
}

/// The constants of a library.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Constants {
    pub world: Handle,
    pub byte: Handle,
    pub float: Handle,
    pub double: Handle,
    pub sum: Handle,
    pub max: Handle,
    pub errors_return: Handle,
    pub int64: Handle,
    pub no_info: Handle,
    /// The status argument of who wants no status.
    pub no_status: usize,
    /// The send buffer of a collective that works in the receive buffer.
    pub in_place: usize,
    /// In the order of [`ThreadLevel`].
    pub thread_levels: [i32; 4],
    pub lock_exclusive: i32,
    pub lock_shared: i32,
    /// No operation before the call has to be completed.
    pub no_precede: i32,
    /// No operation follows the call.
    pub no_succeed: i32,
}

impl Constants {
    /// Of a library of `abi`; `Err` names the symbol that a library of that interface must have.
    pub(super) fn of(abi: Abi, library: &Library) -> Result<Self, &'static str> {
        match abi {
            Abi::Standard => Ok(STANDARD),
            Abi::Mpich => Ok(MPICH),
            Abi::OpenMpi => {
                let address = |symbol: &'static CStr| {
                    let name = symbol.to_str().unwrap_or("a symbol");
                    library.first(&[symbol]).map(|at| at.as_ptr().addr() as Handle).ok_or(name)
                };
                let [world, byte, float, double, sum, max, errors_return, int64, no_info] =
                    OPEN_MPI_HANDLES.map(address);
                Ok(Self {
                    world: world?,
                    byte: byte?,
                    float: float?,
                    double: double?,
                    sum: sum?,
                    max: max?,
                    errors_return: errors_return?,
                    int64: int64?,
                    no_info: no_info?,
                    ..OPEN_MPI
                })
            }
        }
    }
}

/// How the text of Intel MPI about itself begins.
const INTEL: &str = "Intel(R) MPI";

/// MPI_ERRORS_RETURN in mpi_abi.h of Intel MPI 2021.19, which has it and MPI_ERRORS_ABORT the other way round than that of MPICH
/// 5.0.
const ERRORS_RETURN_OF_INTEL: Handle = 0x142;

impl Constants {
    /// The same with the numbers of the library that says `version` of itself, where they differ from those of other libraries of
    /// `abi`.
    pub(super) fn of_maker(self, abi: Abi, version: &str) -> Self {
        if abi == Abi::Standard && version.starts_with(INTEL) {
            return Self { errors_return: ERRORS_RETURN_OF_INTEL, ..self };
        }
        self
    }
}

/// The names of the handles in a header, in the order of [`Constants`].
const HANDLES: [&str; 9] = [
    "MPI_COMM_WORLD",
    "MPI_BYTE",
    "MPI_FLOAT",
    "MPI_DOUBLE",
    "MPI_SUM",
    "MPI_MAX",
    "MPI_ERRORS_RETURN",
    "MPI_INT64_T",
    "MPI_INFO_NULL",
];

/// The objects of Open MPI whose addresses are the handles.
const OPEN_MPI_HANDLES: [&CStr; 9] = [
    c"ompi_mpi_comm_world",
    c"ompi_mpi_byte",
    c"ompi_mpi_float",
    c"ompi_mpi_double",
    c"ompi_mpi_op_sum",
    c"ompi_mpi_op_max",
    c"ompi_mpi_errors_return",
    c"ompi_mpi_int64_t",
    c"ompi_mpi_info_null",
];

/// For the test that compares with the header of a library that says `version` of itself: names, and the value that the header must give, or the object that it must
/// name.
#[doc(hidden)]
pub fn constants(abi: Abi, version: &str) -> Vec<(&'static str, Result<i64, &'static CStr>)> {
    let of = match abi {
        Abi::Standard => STANDARD,
        Abi::Mpich => MPICH,
        Abi::OpenMpi => OPEN_MPI,
    }
    .of_maker(abi, version);
    let numbers =
        [of.world, of.byte, of.float, of.double, of.sum, of.max, of.errors_return, of.int64, of.no_info];
    let handles: Vec<Result<i64, &'static CStr>> = match abi {
        Abi::OpenMpi => OPEN_MPI_HANDLES.map(Err).into(),
        _ => numbers.map(|number| Ok(number as i64)).into(),
    };
    let others = [
        ("MPI_STATUS_IGNORE", of.no_status as i64),
        ("MPI_STATUSES_IGNORE", of.no_status as i64),
        ("MPI_IN_PLACE", of.in_place as i64),
        ("MPI_THREAD_SINGLE", of.thread_levels[0].into()),
        ("MPI_THREAD_FUNNELED", of.thread_levels[1].into()),
        ("MPI_THREAD_SERIALIZED", of.thread_levels[2].into()),
        ("MPI_THREAD_MULTIPLE", of.thread_levels[3].into()),
        ("MPI_LOCK_EXCLUSIVE", of.lock_exclusive.into()),
        ("MPI_LOCK_SHARED", of.lock_shared.into()),
        ("MPI_MODE_NOPRECEDE", of.no_precede.into()),
        ("MPI_MODE_NOSUCCEED", of.no_succeed.into()),
    ];
    HANDLES.into_iter().zip(handles).chain(others.map(|(name, value)| (name, Ok(value)))).collect()
}

/// Without the handles, which are addresses.
const OPEN_MPI: Constants = Constants {
    world: 0,
    byte: 0,
    float: 0,
    double: 0,
    sum: 0,
    max: 0,
    errors_return: 0,
    int64: 0,
    no_info: 0,
    no_status: 0,
    in_place: 1,
    thread_levels: [0, 1, 2, 3],
    lock_exclusive: 1,
    lock_shared: 2,
    no_precede: 2,
    no_succeed: 16,
};

const STANDARD: Constants = Constants {
    world: 0x101,
    byte: 0x247,
    float: 0x210,
    double: 0x214,
    sum: 0x21,
    max: 0x23,
    errors_return: 0x143,
    int64: 0x258,
    no_info: 0x130,
    no_status: 0,
    in_place: 1,
    thread_levels: [0, 1024, 2048, 4096],
    lock_exclusive: 301,
    lock_shared: 302,
    no_precede: 2048,
    no_succeed: 16384,
};

const MPICH: Constants = Constants {
    world: 0x4400_0000,
    byte: 0x4c00_010d,
    float: 0x4c00_040a,
    double: 0x4c00_080b,
    sum: 0x5800_0003,
    max: 0x5800_0001,
    errors_return: 0x5400_0001,
    int64: 0x4c00_083a,
    no_info: 0x1c00_0000,
    no_status: 1,
    in_place: usize::MAX,
    thread_levels: [0, 1, 2, 3],
    lock_exclusive: 234,
    lock_shared: 235,
    no_precede: 8192,
    no_succeed: 16384,
};
