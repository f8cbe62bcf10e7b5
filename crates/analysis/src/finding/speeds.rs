//! Matrices of the speeds between nodes, and the slow nodes in them.

use super::matrix::{Matrix, SlowSide, matrices};
use seatrial_model::Dimension;
use seatrial_model::record::CaseRecord;

/// Smallest number of partners that a node was slow with: with one partner either node may be the slow one.
pub const FEWEST_PARTNERS: usize = 2;

pub fn is_of(case: &CaseRecord, matrix: &Matrix) -> bool {
    case.group == matrix.group && case.bench == matrix.bench && case.params == matrix.params
}

/// The matrices in which low numbers are slow. Packet size is not among them: `mtu-mismatch` covers it.
pub fn speeds(records: &[CaseRecord]) -> Vec<Matrix> {
    let mut all = matrices(records);
    all.retain(|matrix| matrix.unit.dimension() != Dimension::Size);
    all
}

/// Whether `slow-node` names the node for that side, or for a part of it.
pub fn is_named_slow(records: &[CaseRecord], group: &str, node: &str, side: SlowSide) -> bool {
    let mut asked = speeds(records).into_iter().filter(|matrix| matrix.group == group);
    asked.any(|matrix| {
        let slow = matrix.slow_nodes(FEWEST_PARTNERS);
        slow.iter().any(|slow| matrix.nodes[slow.nodes[0]] == node && slow.side.overlaps(side))
    })
}
