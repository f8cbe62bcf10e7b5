//! Every benchmark of every family, and the ones still to come.

mod planned;

use seatrial_bench::Registry;

pub use seatrial_mpi::{
    launch_main as mpi_launch_main, rank_main as mpi_rank_main, remote_shell_main as mpi_remote_shell_main,
};

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
