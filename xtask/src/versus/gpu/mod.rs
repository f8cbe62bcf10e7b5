//! `versus gpu`: the GPU benchmarks against nvbandwidth, nccl-tests, gpu-burn and PyTorch, in turn on the same GPUs.
//!
//! One turn of a program tells several figures, so that rows of the same turns stand together. Rows of one GPU use the first; those
//! of pairs and of collective operations need two. No clock, limit or mode of a GPU is touched. NVLink multicast is off on both
//! sides (`NCCL_NVLS_ENABLE=0`).

mod burn;
mod collective;
mod copies;
mod here;
mod peers;
mod product;

use anyhow::Result;

use super::{Area, Row, ours};

pub const GPU: Area = Area {
    name: "gpu",
    about: "GPU benchmarks against nvbandwidth, nccl-tests, gpu-burn and PyTorch: same GPUs, sizes, libraries and data",
    packages: &[],
    peers: &[&peers::NVBANDWIDTH, &peers::NCCL_TESTS, &peers::GPU_BURN],
    rows,
    prepare,
    alone: None,
    machine: here::machine,
};

/// What is asked for where both sides keep the same engine or link busy: the figures of both vary by less than 1 %.
const GOAL: f64 = 0.99;

fn prepare() -> Result<()> {
    ours::build()
}

fn rows() -> Vec<Row> {
    [copies::rows(), collective::rows(), vec![burn::row()], product::rows()].into_iter().flatten().collect()
}
