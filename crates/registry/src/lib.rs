//! Every benchmark of every family, and the ones still to come.

mod planned;

use seatrial_bench::Registry;

/// All shipped benchmarks, one line a family, in the order of lists.
pub const REGISTRY: Registry = Registry {
    families: &[
        seatrial_mem::BENCHMARKS,
        seatrial_cpu::BENCHMARKS,
        seatrial_net::BENCHMARKS,
        seatrial_rdma::BENCHMARKS,
        seatrial_storage::BENCHMARKS,
        seatrial_gpu::BENCHMARKS,
    ],
    planned: planned::PLANNED,
};
