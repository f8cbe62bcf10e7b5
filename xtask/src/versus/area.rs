//! The areas in which Seatrial is compared, one file each.

use anyhow::Result;
use seatrial_model::Unit;
use seatrial_stats::Better;

use crate::packages::Package;

/// Every area, one line each.
pub const AREAS: &[&Area] = &[
    &super::memory::MEMORY,
    &super::cobalt2::COBALT2,
    &super::latency::LATENCY,
    &super::cluster::CLUSTER,
    &super::network::NETWORK,
    &super::rdma::RDMA,
    &super::storage::STORAGE,
];

/// A comparison: what is compared, and with whom.
pub struct Area {
    /// The word behind `versus`.
    pub name: &'static str,
    /// What both sides do, in one sentence, for the head of the table.
    pub about: &'static str,
    /// The Debian packages of the peers.
    pub packages: &'static [Package],
    /// The rows, ready to be measured: everything has been built and found.
    pub rows: fn() -> Result<Vec<Row>>,
    /// What is measured besides and has no peer.
    pub alone: Option<Alone>,
}

/// A measurement that no peer makes.
#[derive(Clone, Copy)]
pub struct Alone {
    /// The work, which `--only` may name.
    pub name: &'static str,
    /// Measures, and returns the text that stands below the table.
    pub table: fn() -> Result<String>,
}

/// One work that both sides do.
pub struct Row {
    /// The work: `triad, AVX-512, 2 threads, 2 GiB`.
    pub name: String,
    /// The unit of what both sides return.
    pub unit: Unit,
    /// The good direction.
    pub better: Better,
    /// What our advantage should at least be: 1 for "no slower", 0.99 for "at most 1 % of cost".
    pub goal: f64,
    /// Does the work once with Seatrial, in a process of its own.
    pub ours: Work,
    /// Does the work once with the peer, in a process of its own.
    pub peer: Work,
}

/// Does the work once and says what came out, in the row's unit.
pub type Work = Box<dyn FnMut() -> Result<f64>>;
