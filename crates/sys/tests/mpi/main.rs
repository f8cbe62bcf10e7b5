//! MPI libraries: Open MPI and MPICH of Debian, and those of PyPI, of which one has the ABI of the MPI 5.0 standard.
#![expect(clippy::print_stdout, reason = "a skipped test says so")]

mod headers;
mod libraries;
mod ranks;
