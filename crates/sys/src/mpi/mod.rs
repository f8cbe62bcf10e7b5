//! MPI libraries, loaded at run time: one program for the three binary interfaces that libraries have.
//!
//! Building needs no MPI. [`candidates`] says where a library may be, [`Mpi::open`] loads one and finds out its
//! interface, and a [`Communicator`] joins the job that a launcher started, sends and receives; an [`RmaWindow`]
//! exposes memory to another rank. Errors are returned: the
//! library is asked not to end the process.

mod abi;
mod collective;
mod communicator;
mod error;
mod find;
mod library;
mod non_blocking;
mod rma;
mod table;
mod window;

#[doc(hidden)]
pub use abi::constants;
pub use abi::{Abi, ThreadLevel};
pub use collective::{Datum, Number, Reduction};
pub use communicator::Communicator;
pub use error::MpiError;
pub use find::{Candidate, Found, candidates, launchers};
pub use library::Mpi;
pub use non_blocking::NonBlocking;
pub use rma::{RmaMemory, RmaOperation, RmaSynchronization, RmaWindow};
pub use window::{Window, WindowLayout};
