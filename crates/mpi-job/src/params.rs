//! Parameters of every benchmark that runs an MPI job.

use seatrial_model::{Kind, ParamSpec};
use seatrial_sys::mpi::ThreadLevel;

pub const LIBRARY: ParamSpec = ParamSpec::new("library", Kind::Text, "auto").word("auto").doc(
    "MPI library, as a file or the prefix of an installation; auto: SEATRIAL_MPI, LD_LIBRARY_PATH, beside mpirun, then the \
     dynamic linker.",
);

pub const LAUNCHER: ParamSpec = ParamSpec::new("launcher", Kind::Text, "auto")
    .word("auto")
    .doc(
        "Path of the launcher (mpiexec); own: Seatrial starts the ranks itself (MPICH and its relatives, by PMI-1); srun: \
         a step of the Slurm allocation, with the --mpi= that the library speaks to; auto: the one of the library's \
         installation, without one srun.",
    );

pub const THREAD_LEVEL: ParamSpec =
    ParamSpec::new("thread_level", Kind::Choice(ThreadLevel::WORDS), "single").doc(
        "What MPI_Init_thread asks for: single as MPI_Init and OSU's benchmarks do, funneled as programs with OpenMP; libraries \
         take locks from some level on.",
    );
