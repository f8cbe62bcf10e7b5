//! Every benchmark of every family, and the ones still to come.

mod planned;

use seatrial_bench::Registry;
use seatrial_mpi_job::RankProgram;

/// What the ranks of MPI jobs run, by benchmark; one line a family.
pub const RANK_PROGRAMS: &[&[RankProgram]] = &[seatrial_mpi::PROGRAMS, seatrial_net::PROGRAMS];

/// All shipped benchmarks, one line a family, in the order of lists.
pub const REGISTRY: Registry = Registry {
    families: &[
        seatrial_mem::BENCHMARKS,
        seatrial_cpu::BENCHMARKS,
        seatrial_net::BENCHMARKS,
        seatrial_rdma::BENCHMARKS,
        seatrial_storage::BENCHMARKS,
        seatrial_transfer::BENCHMARKS,
        seatrial_gpu::BENCHMARKS,
        seatrial_mpi::BENCHMARKS,
    ],
    planned: planned::PLANNED,
    aliases: &[seatrial_net::ALIASES, seatrial_gpu::ALIASES],
};
